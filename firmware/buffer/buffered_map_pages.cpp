#include "firmware/buffer/buffered_map_pages.h"

#include "firmware/flash/read_batch.h"

namespace tlmssd::firmware {

bool BufferedMapPages::in_flash(Lpn page) const {
  return flusher_.buffer().find(page) == WriteBuffer::k_none && core_.lookup(page) != k_nowhere;
}

bool BufferedMapPages::stored(Lpn page) const {
  return flusher_.buffer().find(page) != WriteBuffer::k_none || core_.lookup(page) != k_nowhere;
}

Task<> BufferedMapPages::read(Lpn page) {
  const WriteBuffer::Index i = flusher_.buffer().find(page);
  if (i != WriteBuffer::k_none) {
    MemoryAccess copy(core_.hw, MemoryKind::dram, flusher_.buffer().address_of(i), core_.layout.unit_bytes,
                      false, nullptr, Cause::map_fetch);
    co_await copy;
    co_return;
  }
  const Ppn where = core_.lookup(page);
  if (where == k_nowhere) co_return;
  ReadBatch reads(core_, Purpose::map, core_.map->dram_bytes());
  reads.add(where, page);
  co_await reads;
  reads.drain([this](const ReadOp& read, std::uint32_t at) { check_read(core_, read, at); });
}

Task<bool> BufferedMapPages::write(Lpn page) {
  WriteBuffer& buffer = flusher_.buffer();
  if (core_.read_only) co_return false;
  WriteBuffer::Index i = buffer.find(page);
  if (!buffer.merges(i)) {
    using Turn = BufferSpace::Reservation::Turn;
    BufferSpace::Reservation room(flusher_.space(), 1, 0, Turn::at_once);
    co_await room;
    if (core_.read_only || room.granted() == 0) {
      flusher_.space().give_back(room.granted());
      co_return false;
    }
    i = buffer.find(page);
    if (buffer.merges(i)) {  // another command has inserted it meanwhile
      flusher_.space().give_back(1);
    } else {
      flusher_.space().unreserve(1);
      i = buffer.add(page, i);
    }
  }
  buffer.merge(i, 0, core_.layout.sectors, nothing_.data());
  core_.hw.memory.access(MemoryKind::dram, flusher_.buffer().address_of(i), core_.layout.unit_bytes, true,
                         posted_);
  co_return true;
}

void BufferedMapPages::drop(Lpn page) {
  flusher_.discard(page, std::uint64_t{page} + 1);
  const Ppn where = core_.lookup(page);
  if (where == k_nowhere) return;
  core_.map_nowhere(page, where, "the map page is void");
}

}  // namespace tlmssd::firmware
