// The two sides of a socket, with what the TLM-2.0 base protocol demands of each: a module says
// what it asks and answers; when it is allowed is settled here.
//
// Owned by the ports: one request between BEGIN_REQ and END_REQ, one response between BEGIN_RESP
// and END_RESP, and the order of those that wait meanwhile; responses that come early, with the
// return of a call or without END_REQ; no call of one path from within a call of the other path of
// the same socket; annotated times; the reference that a target holds on a payload. Source: IEEE
// Std 1666-2011, clauses 11.1 and 15.2. Left out: ignorable phases (see InitiatorSocket and
// TargetSocket), blocking calls of an initiator.
#pragma once

#include <algorithm>
#include <type_traits>
#include <utility>

#include "models/base/intrusive_queue.h"
#include "models/tlm/kernel_time.h"
#include "models/tlm/transport.h"

namespace tlmssd {

/// The payload of what waits at a port: a payload itself, or something that points at one.
template <class Item>
tlm::tlm_generic_payload& payload_of(Item& item) {
  if constexpr (std::is_base_of_v<tlm::tlm_generic_payload, Item>) {
    return item;
  } else {
    return *item.payload;
  }
}

/// Initiator socket number `index` of `Owner`, which has void responded(unsigned index,
///   tlm::tlm_generic_payload&, Picoseconds when) called once for each request that request() has
///   not answered; perhaps from within a call of the backward path, which must not lead to a call
///   of a forward path but through this port. It may have Picoseconds departure(Item&) called when
///   the request goes: the instant at which it is on the other side. Without it: now. It may have
///   void answered_wrongly(const tlm::tlm_generic_payload&, tlm::tlm_sync_enum, unsigned phase)
///   called for what no target may answer to BEGIN_REQ, and for phases that none may send (with
///   TLM_ACCEPTED); responded() is not called then. Without it nothing is looked at, and the target
///   must be sound. `Item`: see payload_of(), and IntrusiveQueue for its `next`; stays the owner's.
template <class Owner, class Item>
class RequestPort : public InitiatorSide<Owner> {
 public:
  RequestPort(const char* name, Owner& owner, EventQueue& event_queue, unsigned index = 0)
      : InitiatorSide<Owner>(name, owner, index), event_queue_(event_queue) {}

  /// The request goes out, behind those that wait. Returns the instant of the response when that
  /// has come with the call; k_never: responded() will be called.
  [[nodiscard]] Picoseconds request(Item& item) {
    if (waiting_.empty() && may_request()) return issue(item);
    waiting_.push(item);
    arm();
    return k_never;
  }
  /// As request(), but responded() is called in any case.
  void send(Item& item) {
    const Picoseconds when = request(item);
    if (when != k_never) owner_.responded(index_, payload_of(item), when);
  }

 private:
  [[nodiscard]] bool may_request() const {
    return requesting_ == nullptr && !in_backward_ && event_queue_.now() >= request_end_;
  }
  [[nodiscard]] sc_core::sc_time departure(Item& item) {
    if constexpr (requires { owner_.departure(item); }) {
      const Picoseconds when = owner_.departure(item);
      return to_sc_time(when - kernel_now(event_queue_));
    } else {
      return annotation(event_queue_);
    }
  }
  Picoseconds issue(Item& item) {
    tlm::tlm_generic_payload& payload = payload_of(item);
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay = departure(item);
    requesting_ = &payload;
    const tlm::tlm_sync_enum status = this->peer().nb_transport_fw(payload, phase, delay);
    if (status == tlm::TLM_ACCEPTED) return k_never;
    requesting_ = nullptr;
    const Picoseconds when = kernel_now(event_queue_) + to_picoseconds(delay);
    if (status == tlm::TLM_COMPLETED) return when;
    if (told_of_wrong_answers(
            status != tlm::TLM_UPDATED || (phase != tlm::END_REQ && phase != tlm::BEGIN_RESP), payload,
            status, phase)) {
      return k_never;
    }
    if (phase == tlm::END_REQ) {
      request_end_ = when;
      return k_never;
    }
    phase = tlm::END_RESP;  // BEGIN_RESP came with the return
    this->peer().nb_transport_fw(payload, phase, delay);
    return when;
  }
  /// False: the answer is sound, or the owner does not want to know.
  bool told_of_wrong_answers(bool wrong, const tlm::tlm_generic_payload& payload, tlm::tlm_sync_enum status,
                             unsigned phase) {
    if constexpr (requires { owner_.answered_wrongly(payload, status, phase); }) {
      if (wrong) owner_.answered_wrongly(payload, status, phase);
      return wrong;
    } else {
      return false;
    }
  }
  /// What waits is sent from the event queue, when the request before it has ended.
  void arm() {
    if (waiting_.empty() || armed_ || requesting_ != nullptr) return;
    armed_ = true;
    event_queue_.at(
        request_end_, [](void* self) { static_cast<RequestPort*>(self)->send_waiting(); }, this);
  }
  void send_waiting() {
    armed_ = false;
    while (!waiting_.empty() && may_request()) {
      Item& item = waiting_.pop();
      const Picoseconds when = issue(item);
      if (when != k_never) owner_.responded(index_, payload_of(item), when);
    }
    arm();
  }

  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override {
    if (phase != tlm::END_REQ && phase != tlm::BEGIN_RESP) {
      told_of_wrong_answers(phase <= tlm::END_RESP, payload, tlm::TLM_ACCEPTED, phase);
      return tlm::TLM_ACCEPTED;
    }
    const Picoseconds when = arrival(event_queue_, delay);
    if (requesting_ == &payload) {  // END_REQ, or BEGIN_RESP that implies it
      requesting_ = nullptr;
      request_end_ = when;
      arm();
    }
    if (phase == tlm::END_REQ) return tlm::TLM_ACCEPTED;
    in_backward_ = true;
    owner_.responded(index_, payload, when);
    in_backward_ = false;
    return tlm::TLM_COMPLETED;
  }
  using InitiatorSide<Owner>::owner_;
  using InitiatorSide<Owner>::index_;
  EventQueue& event_queue_;
  bool in_backward_ = false;                              // a call of the target is running
  bool armed_ = false;                                    // send_waiting() is on the event queue
  const tlm::tlm_generic_payload* requesting_ = nullptr;  // BEGIN_REQ sent, END_REQ outstanding
  Picoseconds request_end_ = 0;                           // of the last request
  IntrusiveQueue<Item> waiting_;
};

/// What a target makes of a request.
struct Reply {
  enum class Kind : std::uint8_t { accepted, held, completed };
  Kind kind;
  Picoseconds when = 0;
  /// It will be answered by respond(); others may come.
  static Reply accepted() { return {Kind::accepted}; }
  /// Nothing else may come until accept(), or respond() for it.
  static Reply held() { return {Kind::held}; }
  /// The response status is there and holds at `when`: there is nothing else to come.
  static Reply completed(Picoseconds when) { return {Kind::completed, when}; }
};

/// Target socket number `index` of `Owner`, which has
///   Reply request(unsigned index, tlm::tlm_generic_payload&, Picoseconds when)
///   Picoseconds responding(Item&)   called when the response goes: what is to be said of it last, and
///                                   the instant at which it is on the other side
///   void consumed(Item&)            the initiator has taken it (END_RESP)
/// and for the other calls blocking() and debug() as TargetSide wants them. The port holds the
/// payload from the request until it is consumed.
template <class Owner, class Item>
class ResponsePort : public TargetSide<Owner> {
 public:
  ResponsePort(const char* name, Owner& owner, EventQueue& event_queue, unsigned index = 0)
      : TargetSide<Owner>(name, owner, index), event_queue_(event_queue) {}

  /// Ends a request that was held. Not from within a call of the initiator.
  void accept(Item& item) {
    tlm::tlm_phase phase = tlm::END_REQ;
    sc_core::sc_time delay = annotation(event_queue_);
    this->peer().nb_transport_bw(payload_of(item), phase, delay);
  }
  /// The response goes out, behind those that wait.
  void respond(Item& item) {
    if (waiting_.empty() && may_respond()) {
      issue(item);
    } else {
      waiting_.push(item);
      arm();
    }
  }

 private:
  [[nodiscard]] bool may_respond() const { return responding_ == nullptr && in_forward_ == 0; }
  void issue(Item& item) {
    tlm::tlm_generic_payload& payload = payload_of(item);
    const Picoseconds when = owner_.responding(item);
    tlm::tlm_phase phase = tlm::BEGIN_RESP;
    sc_core::sc_time delay = to_sc_time(when - kernel_now(event_queue_));
    responding_ = &item;
    if (this->peer().nb_transport_bw(payload, phase, delay) != tlm::TLM_ACCEPTED) end();
  }
  void end() {
    Item& item = *std::exchange(responding_, nullptr);
    tlm::tlm_generic_payload& payload = payload_of(item);
    owner_.consumed(item);
    payload.release();
  }
  void arm() {
    if (waiting_.empty() || armed_ || responding_ != nullptr) return;
    armed_ = true;
    event_queue_.soon([](void* self) { static_cast<ResponsePort*>(self)->send_waiting(); }, this);
  }
  void send_waiting() {
    armed_ = false;
    while (!waiting_.empty() && may_respond()) issue(waiting_.pop());
  }

  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override {
    if (phase != tlm::BEGIN_REQ && phase != tlm::END_RESP) return tlm::TLM_ACCEPTED;
    const Picoseconds when = arrival(event_queue_, delay);
    if (phase == tlm::END_RESP) {
      if (ending_ || responding_ == nullptr || &payload_of(*responding_) != &payload)
        return tlm::TLM_COMPLETED;  // the initiator's fault
      ending_ = true;
      // The next response must not be given from within this call.
      event_queue_.at(
          when,
          [](void* self) {
            auto& port = *static_cast<ResponsePort*>(self);
            port.ending_ = false;
            port.end();
            port.send_waiting();
          },
          this);
      return tlm::TLM_COMPLETED;
    }
    ++in_forward_;
    const Reply reply = owner_.request(index_, payload, when);
    --in_forward_;
    if (reply.kind == Reply::Kind::completed) {
      delay = to_sc_time(reply.when - kernel_now(event_queue_));
      return tlm::TLM_COMPLETED;
    }
    payload.acquire();
    if (reply.kind == Reply::Kind::held) return tlm::TLM_ACCEPTED;
    phase = tlm::END_REQ;
    return tlm::TLM_UPDATED;
  }

  using TargetSide<Owner>::owner_;
  using TargetSide<Owner>::index_;
  EventQueue& event_queue_;
  unsigned in_forward_ = 0;     // calls of the initiator that are running
  bool armed_ = false;          // send_waiting() is on the event queue
  Item* responding_ = nullptr;  // BEGIN_RESP sent, the response has not ended
  bool ending_ = false;         // END_RESP has come for it
  IntrusiveQueue<Item> waiting_;
};

}  // namespace tlmssd
