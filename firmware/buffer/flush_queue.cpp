#include "firmware/buffer/flush_queue.h"

#include "firmware/buffer/flusher.h"

namespace tlmssd::firmware {

Flushed::Flushed(Flusher& flusher, bool from_host_only)
    : flusher_(flusher),
      from_host_only_(from_host_only),
      target_(from_host_only ? flusher.buffer().accepted_from_host() : flusher.buffer().accepted()) {}

bool Flushed::await_ready() {
  last_ = Ledger(flusher_.now());
  flusher_.wait(*this, target_);
  return ready_;
}

void FlushQueue::check_all(const Ledger* last) {
  while (!flushes_.empty()) {
    Flushed& flush = *flushes_.front();
    if (!flush.dispatched_ && !buffer_.any_urgent() &&
        (core_.read_only || buffer_.oldest() > flush.target_)) {
      flush.dispatched_ = true;
      flush.job_ = dispatched_;
    }
    if (!flush.dispatched_ || under_way(jobs_, flush.job_)) return;
    if (!flush.from_host_only_ && under_way(evictions_, flush.job_)) return;
    flush.ready_ = true;
    flush.failed_ = core_.read_only && buffer_.free() < buffer_.capacity();
    if (last != nullptr) flush.last_ = *last;
    flushes_.pop();
    if (flush.waiter_) core_.hw.event_queue.soon(flush.waiter_);
  }
}

}  // namespace tlmssd::firmware
