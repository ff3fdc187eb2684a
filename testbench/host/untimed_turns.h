// Whose request comes next where several loads are carried out untimed.
//
// No time passes that would settle it. Loads of which each request has its time (open loop) keep to
// these among themselves; a made request comes at a random instant between the one before it and
// its own, because requests at even distances come in a pattern that repeats. Otherwise a load with
// twice the queue depth of another comes twice as often, as it would if all commands took the same
// time; those with times count as one outstanding each. It is drawn: turns in a fixed order would
// fall into step with those of the parallel units, and each load would fill some of them alone.
// Leaves out pauses (thinktime) and what makes commands of one load take longer than those of
// another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <vector>

#include "models/base/random.h"
#include "testbench/host/look_ahead.h"

namespace tlmssd {

/// A load while it is carried out untimed.
struct UntimedLoad {
  std::size_t number;  ///< of those given
  LookAhead requests;
  bool unflushed = false;  ///< it has written since its last flush
  // Of the request that comes next, where it has a time:
  std::uint64_t number_of_due = ~std::uint64_t{0};  ///< which of the load's
  Picoseconds due = 0;                              ///< since the load's start
  Picoseconds time = 0;                             ///< its own
};

class UntimedTurns {
 public:
  /// Both outlive it. Loads begin when all of the phase before theirs have ended.
  UntimedTurns(const std::vector<Load>& loads, const Scoreboard& scoreboard, std::uint64_t seed);

  /// The load whose turn it is; null when all have ended.
  UntimedLoad* next();
  /// The one that next() gave last has ended.
  void end();

 private:
  [[nodiscard]] static std::uint32_t weight(const Load& load);
  void begin_phase();
  [[nodiscard]] std::list<UntimedLoad>::iterator draw();
  [[nodiscard]] std::list<UntimedLoad>::iterator first_due();
  /// When the request that comes next of a load is due.
  [[nodiscard]] Picoseconds instant(UntimedLoad& one, const PlacedRequest& request);

  std::list<UntimedLoad> waiting_;  ///< of later phases, in the order of phases
  std::list<UntimedLoad> live_;
  std::list<UntimedLoad>::iterator turn_ = live_.end();
  std::uint64_t weights_ = 0;  ///< of those that are live
  RandomStream random_;
};

}  // namespace tlmssd
