#include "firmware/buffer/completions.h"

#include <utility>

namespace tlmssd::firmware {

void Completions::tell(WriteBuffer::Index i, const Ledger* program, bool failed) {
  EventQueue& event_queue = core_.hw.event_queue;
  buffer_.take_waiters(i, [&](Durable& durable) {
    durable.failed = durable.failed || failed;
    if (--durable.pending > 0) return;
    if (program != nullptr) charge_branch(durable.ledger, *program, Cause::buffer_wait);
    if (durable.waiter) event_queue.soon(durable.waiter);
  });
  const std::uint64_t eviction = std::exchange(buffer_.entry(i).eviction, 0);
  if (eviction == 0) return;
  evictions_->committed(buffer_.entry(i).unit, eviction, failed);
}

void Completions::abort(WriteBuffer::Index i) {
  complete(i, nullptr, true);
  const WriteBuffer::Entry& entry = buffer_.entry(i);
  // Map pages are not read for what they hold (the map is rebuilt), and what is relocated is in
  // flash already.
  const bool expendable = entry.relocated || core_.layout.is_map(entry.unit);
  if (entry.state == WriteBuffer::State::superseded || expendable) {
    buffer_.release(i);
  } else {
    buffer_.strand(i);
  }
}

}  // namespace tlmssd::firmware
