// How the host's data get past or into the cache.
#include <algorithm>

#include "firmware/cache/cache.h"

namespace tlmssd::firmware {

// Units that the policy does not want go to the write buffer. What must survive a loss of power at
// once is safe in SCM; in DRAM it is written out straight away.
Task<bool> Cache::write(HeldCommand& held, WriteAcceptor& below, std::uint64_t lba, std::uint64_t blocks,
                        const Stamp* data, Durable* durable) {
  const std::uint64_t end = lba + blocks;
  MemorySpans where;
  for (std::uint64_t at = lba; at < end;) {
    const auto unit = static_cast<Lpn>(at / core_.layout.sectors);
    const std::uint64_t next = std::min<std::uint64_t>(end, (std::uint64_t{unit} + 1) * core_.layout.sectors);
    const Stamp* const piece = data + (at - lba);
    if (!takes(unit)) {
      if (!co_await write_past(held, below, unit, at, next - at, piece, durable)) co_return false;
    } else {
      if (!co_await write_unit(held, unit, at, next - at, piece, where)) co_return false;
      if (durable != nullptr && !non_volatile()) write_out(unit, *durable);
    }
    at = next;
  }
  if (!where.empty()) {
    held.waits_for = name();
    HostCommand& command = held.command;
    MemoryAccess copy(core_.hw, &command.ledger, Cause::memory);
    if (medium_ == MemoryKind::scm) {
      copy.add(MemoryKind::scm, where, true);
      copy.add(MemoryKind::dram, command.buffer_address, where.bytes(), false);
    }
    co_await copy;
  }
  co_return true;
}

// While the write waits, a read that came before it may copy in what the unit held until now: such
// a line goes as soon as the write buffer has the new data.
Task<bool> Cache::write_past(HeldCommand& held, WriteAcceptor& below, Lpn unit, std::uint64_t lba,
                             std::uint64_t blocks, const Stamp* data, Durable* durable) {
  if (!core_.map_at_hand(unit, 1)) {
    held.waits_for = "the map";
    co_await core_.map->fetch(unit, 1, &held.command.ledger);
  }
  const bool accepted = co_await below.accept(held, lba, blocks, data, durable);
  const Index i = store_.find(unit);
  if (accepted && i != LineStore::k_none) drop(i, "old, because a write went past the cache");
  co_return accepted;
}

Task<bool> Cache::write_unit(HeldCommand& held, Lpn unit, std::uint64_t lba, std::uint64_t blocks,
                             const Stamp* data, MemorySpans& where) {
  std::array<Stamp, 64> stamps{};
  const std::uint64_t sectors = core_.layout.sectors_of(unit, lba, lba + blocks);
  std::copy_n(data, blocks, stamps.begin() + static_cast<std::ptrdiff_t>(lba % core_.layout.sectors));
  const std::uint32_t command = held.command.blocks;
  if (put(unit, sectors, stamps.data(), command, where)) co_return true;
  Reservation room(*this, grains_of(sectors));
  co_return co_await wait_for_room(held, room) && put(unit, sectors, stamps.data(), command, where, &room);
}

Task<> Cache::prepare_read(HeldCommand& held, std::unique_ptr<Hold>& hold) {
  const std::uint32_t grains = grains_to_copy(held.command.lba, held.command.blocks);
  if (grains == 0) co_return;
  auto room = std::make_unique<Reservation>(*this, grains);
  Reservation& wanted = *room;
  hold = std::move(room);
  co_await wait_for_room(held, wanted);
}

Task<bool> Cache::wait_for_room(HeldCommand& held, Reservation& room) {
  held.waits_for = "room in the cache";
  const bool granted = co_await room;
  charge_full_wait(held.command.ledger, Cause::cache_wait, room.collection_wait(),
                   core_.hw.event_queue.now());
  co_return granted;
}

}  // namespace tlmssd::firmware
