#include "firmware/buffer/buffer_space.h"

#include <algorithm>
#include <cmath>

#include "firmware/buffer/flusher.h"

namespace tlmssd::firmware {

BufferSpace::BufferSpace(Core& core, const WriteBuffer& buffer, Flusher& flusher)
    : core_(core), buffer_(buffer), flusher_(flusher) {
  const std::uint32_t all = buffer.capacity();
  const std::uint32_t least = core.layout.program_units;
  parts_[0].most = all;
  const double share = core.pslc && core.pslc->path().splits() ? core.config.pslc.bypass_buffer : 0;
  if (share == 0 || all < 3 * least) return;
  shared_out_ = true;
  parts_[1].most = std::clamp(static_cast<std::uint32_t>(std::lround(share * all)), least, all - 2 * least);
  parts_[0].most -= parts_[1].most;
}

bool BufferSpace::Reservation::await_ready() {
  Core& core = space_.core_;
  Part& part = space_.part_of(line_);
  if (core.read_only) return true;
  if (!space_.room(line_)) {
    before_ = space_.collection_;
    part.waiting.push(*this);
    core.writes_wait = true;
    ++core.stats.full_waits;
    space_.flusher_.pump();
    if (granted_ == 0) space_.flusher_.pump_within();
    return granted_ > 0 || core.read_only;
  }
  granted_ = std::min(wanted_, space_.free_in(part));
  part.reserved += granted_;
  return true;
}

void BufferSpace::grant() {
  for (Part& part : parts_) {
    while (!part.waiting.empty() && free_in(part) > 0) {
      Reservation& room = part.waiting.pop();
      room.granted_ = std::min(room.wanted_, free_in(part));
      part.reserved += room.granted_;
      if (room.waiter_) core_.hw.event_queue.soon(room.waiter_);
    }
  }
  core_.writes_wait = awaited();
}

void BufferSpace::now_read_only() {
  for (Part& part : parts_) {
    while (!part.waiting.empty()) {
      const Reservation& room = part.waiting.pop();
      if (room.waiter_) core_.hw.event_queue.soon(room.waiter_);
    }
  }
  core_.writes_wait = false;
}

}  // namespace tlmssd::firmware
