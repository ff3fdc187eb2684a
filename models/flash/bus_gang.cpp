#include "models/flash/bus_gang.h"

#include "models/flash/flash_channel.h"

namespace tlmssd {

void BusGang::add(FlashChannel& member) {
  members_.push_back(&member);
  member.gang_ = this;
}

void BusGang::arbitrate() {
  for (;;) {
    FlashChannel* next = first();
    if (next == nullptr || busy()) return;
    if (must_wait(*next)) {
      if (!deferred_) event_queue_.soon(&BusGang::deferred_due, this);
      deferred_ = true;
      return;
    }
    next->grant(*next->gang_request());
  }
}

/// Whose phase is next; null when none waits whose own lines are free.
FlashChannel* BusGang::first() {
  FlashChannel* best = nullptr;
  const FlashChannel::BusRequest* earliest = nullptr;
  for (FlashChannel* member : members_) {
    const FlashChannel::BusRequest* request = member->gang_request();
    if (request == nullptr) continue;
    if (shares_ == Shares::control && request != &member->late_program_ && member->bus_busy()) continue;
    if (earliest == nullptr || request->queue < earliest->queue ||
        (request->queue == earliest->queue && request->ticket < earliest->ticket)) {
      best = member;
      earliest = request;
    }
  }
  return best;
}

/// Whether what is shared is held; if so, arbitrates again when it is free.
bool BusGang::busy() {
  // The end of a phase on a shared bus is its member's own affair, which comes before the next
  // grant.
  if (shares_ == Shares::bus) return holder_ != nullptr && holder_->bus_busy();
  if (armed_) return true;
  if (event_queue_.now() >= until_) return false;
  armed_ = true;
  event_queue_.at(until_, &BusGang::free_due, this);
  return true;
}

/// A transfer calls the controller, which must not happen within a call from it, whichever member
/// it has called.
bool BusGang::must_wait(FlashChannel& next) const {
  const FlashChannel::BusRequest& request = *next.gang_request();
  if (&request == &next.late_program_) return false;
  if (next.must_wait(request)) return true;
  if (request.queue == 0) return false;
  for (const FlashChannel* member : members_) {
    if (member->in_forward_) return true;
  }
  return false;
}

void BusGang::free() {
  armed_ = false;
  arbitrate();
}

void BusGang::deferred() {
  deferred_ = false;
  arbitrate();
}

void BusGang::hold(FlashChannel& member, Picoseconds control, Picoseconds until) {
  holder_ = &member;
  until_ = shares_ == Shares::bus ? until : control;
  held_ += until_ - event_queue_.now();
  ++phases_;
}

Picoseconds BusGang::held() const {
  return busy_within(event_queue_.now() - measured_from_, held_, ahead());
}

void BusGang::report(StatisticsSink& sink) const {
  const Picoseconds span = event_queue_.now() - measured_from_;
  const bool bus = shares_ == Shares::bus;
  sink.value("utilisation", share_within(span, held(), 0), "",
             bus ? "share of the time in which the common bus was held"
                 : "share of the time in which the common control lines were held");
  sink.value("phases", phases_, "", "how often it was held");
}

void BusGang::reset_statistics() {
  held_ = ahead();
  phases_ = 0;
  measured_from_ = event_queue_.now();
}

}  // namespace tlmssd
