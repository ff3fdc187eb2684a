// Between the event queue's clock and the SystemC kernel's.
//
// All modules of one drive share an event queue. Its process (EventQueueProcess) may run items
// ahead of the kernel by up to a quantum (TLM-2.0 temporal decoupling); every transport call then
// carries the difference as its timing annotation, as the standard asks. With quantum 0 (the
// default) the two clocks agree whenever an item runs.
#pragma once

#include <systemc>

#include <cstring>
#include <exception>
#include <functional>
#include <utility>

#include "models/base/event_queue.h"

namespace tlmssd {

inline Picoseconds to_picoseconds(const sc_core::sc_time& time) {
  return static_cast<Picoseconds>(
      time.value());  // the kernel's resolution is 1 ps, checked by EventQueueProcess
}
/// The kernel keeps its time as a count of its resolution; its own conversion asks for that
/// resolution at each call, and there are dozens of conversions per command. EventQueueProcess
/// checks that this comes to the same.
inline sc_core::sc_time to_sc_time(Picoseconds time) {
  static_assert(sizeof(sc_core::sc_time) == sizeof(time));
  sc_core::sc_time result;
  std::memcpy(static_cast<void*>(&result), &time, sizeof result);
  return result;
}
/// The kernel's time.
inline Picoseconds kernel_now(const EventQueue& event_queue) {
  return event_queue.driver_time() != k_never ? event_queue.driver_time()
                                              : to_picoseconds(sc_core::sc_time_stamp());
}
/// Timing annotation for a transport call made at the event queue's present instant.
inline sc_core::sc_time annotation(const EventQueue& event_queue) {
  return to_sc_time(event_queue.now() - kernel_now(event_queue));
}
/// The instant that a transport call with annotation `delay` speaks of. Brings an idle event queue
/// up to the kernel's time first.
inline Picoseconds arrival(EventQueue& event_queue, const sc_core::sc_time& delay) {
  const Picoseconds kernel = kernel_now(event_queue);
  event_queue.advance(kernel);
  // An endless delay comes to an instant before this one, as unsigned numbers do.
  return static_cast<Picoseconds>(static_cast<sc_dt::uint64>(kernel) + delay.value());
}

/// The kernel process behind an event queue: one SC_METHOD, one event.
class EventQueueProcess : public sc_core::sc_module {
 public:
  SC_HAS_PROCESS(EventQueueProcess);
  EventQueueProcess(const sc_core::sc_module_name& name, EventQueue& event_queue);

  /// How far items may run ahead of the kernel. Only for a simulation whose every process lives on
  /// this event queue: a foreign process would see events earlier than the kernel's time suggests.
  /// 0: never.
  void set_quantum(Picoseconds quantum) { quantum_ = in_step_ ? 0 : quantum; }
  [[nodiscard]] Picoseconds quantum() const { return quantum_; }
  /// There are processes that do not live on this event queue: the quantum stays 0.
  void keep_in_step() {
    in_step_ = true;
    quantum_ = 0;
  }
  /// Some of these may go on for ever (a clock). So that sc_start() returns all the same, the
  /// kernel is paused by stop(), and when no item is left and none is `awaited()` from them.
  void pause_at_end(std::function<bool()> awaited) { awaited_ = std::move(awaited); }
  /// To be called when the kernel has been paused by another before simulate() had come to its end.
  void on_foreign_pause(std::function<void()> paused) { paused_ = std::move(paused); }
  /// Ends the run of items after the present one; sc_start() then returns when nothing else is
  /// pending.
  void stop() { stopped_ = true; }
  /// Lets the kernel run until stop(), or until nothing is pending. Throws what an item threw, with
  /// its type (the kernel would have turned it into a report).
  void simulate();
  /// What simulate() does before and after sc_start(), for those who call that themselves.
  void resume();
  void rethrow();
  /// What an item throws is kept until rethrow(), as resume() has it, too. Otherwise it leaves
  /// sc_start() as what SystemC makes of exceptions: an sc_report with its text.
  void keep_errors() { keeps_errors_ = true; }

 private:
  void run();
  void arm(Picoseconds when);
  static void wake(void* self, Picoseconds when) { static_cast<EventQueueProcess*>(self)->arm(when); }

  EventQueue& event_queue_;
  sc_core::sc_event event_;
  Picoseconds quantum_ = 0;
  bool stopped_ = false;
  bool in_step_ = false;
  bool keeps_errors_ = false;      // for rethrow()
  std::function<bool()> awaited_;  // empty: the kernel comes to its end by itself
  std::function<void()> paused_;
  std::exception_ptr error_;
};

}  // namespace tlmssd
