// How long a die will have nothing to do: predicted from its idle times so far.
//
// A moving average of each die's idle times, the newest one with weight `weight`: idle times
// x1, x2, ... give a_n = a_(n-1) + weight * (x_n - a_(n-1)), a_0 = 0. An idle time that has lasted
// for t is predicted to go on for a - t while t < a; one that has outlasted the average, for as
// long again as it has lasted. That He et al. (blocked_reads.h) predict idle times is published;
// how, was not at hand: average and doubling are assumptions (A). Dies are told apart, kinds of
// work are not.
#pragma once

#include <cstdint>
#include <numeric>
#include <vector>

#include "models/base/archive.h"
#include "models/base/die_watcher.h"
#include "models/base/event_queue.h"

namespace tlmssd::firmware {

class IdleTime final : public DieWatcher {
 public:
  /// All dies are idle, from now on.
  IdleTime(const EventQueue& event_queue, std::uint32_t dies, double weight)
      : event_queue_(event_queue), weight_(weight), since_(dies, event_queue.now()), averages_(dies, 0) {}

  /// For how long the die is predicted to stay idle; 0 while it works.
  [[nodiscard]] Picoseconds rest(DieId die) const {
    if (since_[index(die)] == k_never) return 0;
    const Picoseconds lasted = event_queue_.now() - since_[index(die)];
    return lasted < average(die) ? average(die) - lasted : lasted;
  }
  /// Of the die's idle times that have ended.
  [[nodiscard]] Picoseconds average(DieId die) const { return averages_[index(die)]; }

  /// The mean over all dies.
  [[nodiscard]] Picoseconds average() const {
    return std::accumulate(averages_.begin(), averages_.end(), Picoseconds{0}) /
           static_cast<Picoseconds>(averages_.size());
  }

  void die_busy(DieId die) override {
    Picoseconds& average = averages_[index(die)];
    const Picoseconds lasted = event_queue_.now() - since_[index(die)];
    average += static_cast<Picoseconds>(weight_ * static_cast<double>(lasted - average));
    since_[index(die)] = k_never;
  }
  void die_idle(DieId die) override { since_[index(die)] = event_queue_.now(); }

  /// All dies must be idle.
  void archive(Archive& a) {
    for (Picoseconds& since : since_) {
      Picoseconds lasted = event_queue_.now() - since;
      a(lasted);
      since = event_queue_.now() - lasted;
    }
    a(averages_);
  }

 private:
  const EventQueue& event_queue_;
  double weight_;
  std::vector<Picoseconds> since_;     ///< by die: when it became idle; k_never: it works
  std::vector<Picoseconds> averages_;  ///< by die
};

}  // namespace tlmssd::firmware
