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
  granted_ = 0;
  if (core.read_only) return true;
  const Reservation* const front = part.queue_of(*this).front();
  const bool first = front == nullptr || front == this;
  if (first && (turn_ == Turn::at_once || part.at_once.empty()) && space_.free_in(part) > 0) {
    take(part);
    core.writes_wait = space_.awaited();
    return true;
  }
  before_ = space_.collection_;
  waiter_ = {};
  waits_ = true;
  if (next == nullptr) part.queue_of(*this).push(*this);
  core.writes_wait = true;
  ++core.stats.full_waits;
  space_.flusher_.pump();
  if (granted_ == 0) space_.flusher_.pump_within();
  return granted_ > 0 || core.read_only;
}

void BufferSpace::Reservation::take(Part& part) {
  const std::uint32_t more = std::min(wanted_ - granted_, space_.free_in(part));
  granted_ += more;
  part.reserved += more;
  if (granted_ == wanted_) {
    if (next != nullptr) part.queue_of(*this).pop();
  } else if (next == nullptr) {
    part.queue_of(*this).push(*this);
  }
}

void BufferSpace::Reservation::want(std::uint32_t entries, std::uint8_t line) {
  if (&space_.part_of(line) != &space_.part_of(line_)) end_turn();
  wanted_ = entries;
  line_ = line;
}

void BufferSpace::Reservation::end_turn() {
  if (next == nullptr) return;
  space_.part_of(line_).queue_of(*this).pop();
  space_.grant();
}

void BufferSpace::grant() {
  for (Part& part : parts_) {
    // Who is at work with a part of what it wants takes the rest itself, when it comes back for it.
    for (Reservation* room = part.next(); room != nullptr && room->waits_ && free_in(part) > 0;
         room = part.next()) {
      const bool resumes = room->granted_ > 0;
      room->take(part);
      if (room->waiter_ && !resumes) core_.hw.event_queue.soon(room->waiter_);
    }
  }
  core_.writes_wait = awaited();
}

void BufferSpace::now_read_only() {
  for (Part& part : parts_) {
    while (Reservation* const room = part.next()) {
      part.queue_of(*room).pop();
      if (room->waiter_ && room->granted_ == 0) core_.hw.event_queue.soon(room->waiter_);
    }
  }
  core_.writes_wait = false;
}

}  // namespace tlmssd::firmware
