// Looks after a host driver's progress: commands that never complete, and loads that only time ends
// and whose requests take none.
//
// While commands are outstanding one item of the event queue comes back after the time without a
// completion that counts as a stall. Nothing is done for a command but to note the time.
#pragma once

#include <cstdint>
#include <stdexcept>

#include "models/base/event_queue.h"
#include "models/base/stalled.h"
#include "testbench/loads/load.h"

namespace tlmssd {

class HostDriver;

/// The requests of a load that only time ends take no time.
struct TimeStandsStill : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class StallWatch {
 public:
  /// As HostDriverConfig has `stall_after` and `patient`.
  StallWatch(EventQueue& event_queue, const HostDriver& driver, Picoseconds stall_after, bool patient)
      : event_queue_(event_queue), driver_(driver), stall_after_(stall_after), patient_(patient) {}

  /// Events without a completion after which it is a stall for the patient, too: seconds of the
  /// host's time, and far more than emptying a block in every group takes.
  static constexpr std::uint64_t k_patience = 100'000'000;

  /// A command is submitted, and no other is outstanding.
  void begin() {
    waiting_since_ = event_queue_.now();
    if (!watching_) look_after(waiting_since_);
  }
  /// A command has completed.
  void completed() { waiting_since_ = event_queue_.now(); }
  /// The run is over. What goes on without commands, such as a drain, is not to last until the next
  /// look.
  void end();
  /// After every HostDriver::k_progress_interval completions, the last of them of `load`. Commands
  /// that take no time are all right, even many; but time alone ends some loads. Throws
  /// TimeStandsStill.
  void check_time(const Load& load);

 private:
  static void due(void* self) { static_cast<StallWatch*>(self)->look(); }
  void look_after(Picoseconds when);
  void look();

  EventQueue& event_queue_;
  const HostDriver& driver_;
  Picoseconds stall_after_;
  bool patient_;
  bool watching_ = false;
  /// Last completion, or submission of the oldest command when that is later.
  Picoseconds waiting_since_ = 0;
  std::uint64_t completed_then_ = 0;
  std::uint64_t executed_then_ = 0;   ///< events, when `completed_then_` was first found to be overdue
  Picoseconds checked_instant_ = -1;  ///< of check_time()
  std::uint64_t checks_at_instant_ = 0;
};

}  // namespace tlmssd
