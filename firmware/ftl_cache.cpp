// How the host's data get past or into the cache.
#include <algorithm>
#include <bit>

#include "firmware/ftl_parts.h"

namespace tlmssd::firmware {

// Units that the policy does not want go to the write buffer. What must survive a loss of power at
// once is safe in SCM; in DRAM it is written out straight away.
Task<bool> Ftl::Parts::store(Active& self, std::uint64_t lba, std::uint64_t blocks, const Stamp* data,
                             Durable* durable) {
  BufferAllocation allocation;
  if (!cache) co_return co_await accept(self, lba, blocks, data, durable, allocation);
  const std::uint64_t end = lba + blocks;
  MemorySpans where;
  for (std::uint64_t at = lba; at < end;) {
    const auto unit = static_cast<Lpn>(at / core.layout.sectors);
    const std::uint64_t next = std::min<std::uint64_t>(end, (std::uint64_t{unit} + 1) * core.layout.sectors);
    const Stamp* const piece = data == nullptr ? nullptr : data + (at - lba);
    const bool here = cache->takes(unit);
    if (here && !co_await store_unit(self, unit, at, next - at, piece, where)) co_return false;
    if (!here && !core.map_at_hand(unit, 1)) {
      self.waits_for = "the map";
      co_await core.map->fetch(unit, 1, &self.command.ledger);
    }
    if (!here && !co_await accept(self, at, next - at, piece, durable, allocation)) co_return false;
    if (here && durable != nullptr && !cache->non_volatile()) cache->write_out(unit, *durable);
    at = next;
  }
  if (!where.empty()) {
    self.waits_for = "the cache";
    HostCommand& command = self.command;
    MemoryAccess copy(hw, &command.ledger, Cause::memory);
    if (cache->medium() == MemoryKind::scm) {
      copy.add(MemoryKind::scm, where, true);
      if (data != nullptr) copy.add(MemoryKind::dram, command.buffer_address, where.bytes(), false);
    }
    co_await copy;
  }
  co_return true;
}

Task<bool> Ftl::Parts::store_unit(Active& self, Lpn unit, std::uint64_t lba, std::uint64_t blocks,
                                  const Stamp* data, MemorySpans& where) {
  std::array<Stamp, 64> stamps{};
  const std::uint64_t sectors = core.layout.sectors_of(unit, lba, lba + blocks);
  if (data != nullptr)
    std::copy_n(data, blocks, stamps.begin() + static_cast<std::ptrdiff_t>(lba % core.layout.sectors));
  if (cache->put(unit, sectors, stamps.data(), where)) co_return true;
  Cache::Reservation room(*cache, cache->grains_of(sectors));
  co_return co_await wait_for_space(self, room) && cache->put(unit, sectors, stamps.data(), where, &room);
}

// Before a read goes to flash: room for what it will copy in, if it is to wait for that.
Task<> Ftl::Parts::wait_to_copy(Active& self, std::optional<Cache::Reservation>& room) {
  const std::uint32_t grains = cache->grains_to_copy(self.command.lba, self.command.blocks);
  if (grains == 0) co_return;
  room.emplace(*cache, grains);
  co_await wait_for_space(self, *room);
}

Task<bool> Ftl::Parts::wait_for_space(Active& self, Cache::Reservation& room) {
  self.waits_for = "room in the cache";
  const bool granted = co_await room;
  charge_full_wait(self.command, room.collection_wait());
  co_return granted;
}

}  // namespace tlmssd::firmware
