#include "models/common/kernel_time.h"

#include <algorithm>
#include <utility>

namespace tlmssd {

AgendaProcess::AgendaProcess(const sc_core::sc_module_name& name, Agenda& agenda)
    : sc_core::sc_module(name), agenda_(agenda), event_("due") {
  if (sc_core::sc_get_time_resolution() != sc_core::sc_time(1, sc_core::SC_PS)) {
    SC_REPORT_FATAL("tlmssd", "the SystemC time resolution must be 1 ps");
  }
  if (to_sc_time(1'234'567) != sc_core::sc_time::from_value(1'234'567)) {
    SC_REPORT_FATAL("tlmssd", "this SystemC keeps its time otherwise than to_sc_time() supposes");
  }
  SC_METHOD(run);
  sensitive << event_;
  dont_initialize();
  agenda_.set_waker(&AgendaProcess::wake, this);
  if (!agenda_.empty()) arm(agenda_.next());
}

void AgendaProcess::arm(Picoseconds when) {
  agenda_.set_armed(when);
  event_.notify(to_sc_time(std::max<Picoseconds>(when - to_picoseconds(sc_core::sc_time_stamp()), 0)));
}

void AgendaProcess::resume() {
  stopped_ = false;
  if (!agenda_.empty()) arm(agenda_.next());
}

void AgendaProcess::run() {
  // While items run nothing needs to wake us: whatever they add is seen by the loop or armed for below.
  agenda_.set_armed(std::numeric_limits<Picoseconds>::min());
  const Picoseconds kernel = to_picoseconds(sc_core::sc_time_stamp());
  agenda_.set_driver_time(kernel);
  try {
    agenda_.run_items(kernel + quantum_, stopped_);
  } catch (...) {
    error_ = std::current_exception();
    stopped_ = true;
  }
  agenda_.set_driver_time(k_never);
  agenda_.set_armed(k_never);
  if (!agenda_.empty() && !stopped_) arm(agenda_.next());
}

void AgendaProcess::rethrow() {
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

}  // namespace tlmssd
