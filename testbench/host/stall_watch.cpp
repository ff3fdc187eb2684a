#include "testbench/host/stall_watch.h"

#include <fmt/format.h>
#include <utility>

#include "models/base/quantity_text.h"
#include "testbench/host/host_driver.h"

namespace tlmssd {

void StallWatch::end() {
  if (std::exchange(watching_, false)) event_queue_.cancel(&StallWatch::due, this);
}

void StallWatch::check_time(const Load& load) {
  constexpr std::uint64_t k_most_checks = 1024;
  event_queue_.progress();
  if (std::exchange(checked_instant_, event_queue_.now()) != event_queue_.now()) checks_at_instant_ = 0;
  if (++checks_at_instant_ < k_most_checks || !load.endless()) return;
  throw TimeStandsStill(fmt::format("{} requests in a row took no time at all, so that time_based never ends",
                                    k_most_checks * HostDriver::k_progress_interval));
}

void StallWatch::look_after(Picoseconds when) {
  if (stall_after_ == 0) return;
  watching_ = true;
  event_queue_.at(when + stall_after_, &StallWatch::due, this);
}

void StallWatch::look() {
  watching_ = false;
  if (driver_.outstanding() == 0) return;  // the next command that is issued begins anew
  const Picoseconds waited = event_queue_.now() - waiting_since_;
  if (waited < stall_after_) {
    look_after(waiting_since_);
    return;
  }
  if (patient_ && !event_queue_.empty()) {
    if (std::exchange(completed_then_, driver_.completed()) != driver_.completed())
      executed_then_ = event_queue_.executed();
    if (event_queue_.executed() - executed_then_ < k_patience) {
      look_after(event_queue_.now());
      return;
    }
  }
  constexpr Picoseconds k_least_in_seconds = 1'000'000'000;
  const auto time = static_cast<double>(waited);
  throw Stalled(
      fmt::format("no command has completed for {} of simulated time; {}",
                  waited < k_least_in_seconds ? time_text(time) : fmt::format("{:.3f} s", time * 1e-12),
                  driver_.describe_outstanding()));
}

}  // namespace tlmssd
