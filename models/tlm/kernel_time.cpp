#include "models/tlm/kernel_time.h"

#include <algorithm>
#include <utility>

namespace tlmssd {

EventQueueProcess::EventQueueProcess(const sc_core::sc_module_name& name, EventQueue& event_queue)
    : sc_core::sc_module(name), event_queue_(event_queue), event_("due") {
  if (sc_core::sc_get_time_resolution() != sc_core::sc_time(1, sc_core::SC_PS)) {
    SC_REPORT_FATAL("tlmssd", "the SystemC time resolution must be 1 ps");
  }
  if (to_sc_time(1'234'567) != sc_core::sc_time::from_value(1'234'567)) {
    SC_REPORT_FATAL("tlmssd", "this SystemC keeps its time otherwise than to_sc_time() supposes");
  }
  SC_METHOD(run);
  sensitive << event_;
  dont_initialize();
  event_queue_.set_waker(&EventQueueProcess::wake, this);
  if (!event_queue_.empty()) arm(event_queue_.next());
}

void EventQueueProcess::arm(Picoseconds when) {
  event_queue_.set_armed(when);
  event_.notify(to_sc_time(std::max<Picoseconds>(when - to_picoseconds(sc_core::sc_time_stamp()), 0)));
}

void EventQueueProcess::simulate() {
  resume();
  sc_core::sc_start();
  rethrow();
  const bool done = stopped_ || (event_queue_.empty() && (!awaited_ || !awaited_()));
  if (!done && paused_ && sc_core::sc_get_status() == sc_core::SC_PAUSED) paused_();
}

void EventQueueProcess::resume() {
  stopped_ = false;
  keep_errors();
  // With nothing to do, too: the kernel warns of a start in which nothing happens.
  arm(event_queue_.empty() ? to_picoseconds(sc_core::sc_time_stamp()) : event_queue_.next());
}

void EventQueueProcess::run() {
  // While items run nothing needs to wake us: whatever they add is seen by the loop or armed for
  // below.
  event_queue_.set_armed(std::numeric_limits<Picoseconds>::min());
  const Picoseconds kernel = to_picoseconds(sc_core::sc_time_stamp());
  event_queue_.set_driver_time(kernel);
  try {
    event_queue_.run_events(kernel + quantum_, stopped_);
  } catch (...) {
    error_ = std::current_exception();
    stopped_ = true;
  }
  event_queue_.set_driver_time(k_never);
  event_queue_.set_armed(k_never);
  if (!event_queue_.empty() && !stopped_) {
    arm(event_queue_.next());
  } else if (awaited_ && (stopped_ || !awaited_())) {
    sc_core::sc_pause();
  }
  if (error_ && !keeps_errors_) std::rethrow_exception(error_);
}

void EventQueueProcess::rethrow() {
  keeps_errors_ = false;
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

}  // namespace tlmssd
