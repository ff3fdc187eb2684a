// In which order a channel's operations start: the interface of scheduling policies.
//
// Every die has two queues, served first come first served each. A policy says which queue an
// operation joins and which queue goes next; it only chooses: it must not change state, and its
// answers depend on its arguments alone. The channel sees to what is possible at all (die free,
// registers free, suspend limits) and to the bus: among dies that are ready, commands without data
// go first (they are short and keep arrays busy), then transfers, each kind in the order of
// becoming ready.
#pragma once

#include <memory>

#include "models/base/flash_op.h"
#include "models/base/parameters.h"

namespace tlmssd {

class Scheduler {
 public:
  virtual ~Scheduler() = default;
  /// The queue that `op` joins. Any operation may be urgent; but only a read is done within a
  /// suspended program or erase, so that an urgent one of another kind suspends nothing and waits
  /// for the die.
  [[nodiscard]] virtual DieQueue queue(const FlashOp& op) const = 0;
  /// Which queue of a die goes next; both have someone, waiting since these instants.
  [[nodiscard]] virtual DieQueue next(Picoseconds urgent_since, Picoseconds normal_since,
                                      Picoseconds now) const = 0;
  /// True when an operation that arrived at `since` must no longer be overtaken or suspended.
  [[nodiscard]] virtual bool overdue(Picoseconds since, Picoseconds now) const = 0;
  /// True when a program or erase that is running may be suspended for an urgent read at all.
  [[nodiscard]] virtual bool suspends(const FlashOp& /*running*/) const { return true; }
  /// True when operations of a channel start in the order of their arrival, whatever their dies.
  [[nodiscard]] virtual bool channel_order() const { return false; }
  /// True when the urgent queue is used, so that suspending makes sense.
  [[nodiscard]] virtual bool overtakes() const { return false; }
};

/// All scheduling policies by name (scenario: ssd.flash.scheduling.policy); schedulers.cpp is the
/// one file that lists them.
PolicyFamily<Scheduler>& schedulers();

/// The policy called `name`; InputError when there is none.
std::unique_ptr<Scheduler> make_scheduler(std::string_view name, const ParameterValues& values = NoValues{});

}  // namespace tlmssd
