// Which die of a stripe's dies may collect: one at a time, those that want to in turn (the rotating
// collection of TTFlash). A die has the turn from when its collection takes a victim until it wants
// another after it has erased one, or has nothing more to do; then the turn passes to the die that
// has waited longest, if any does.
//
// Why nothing can deadlock: collection that has the turn needs nothing of the dies that wait for
// it. It comes to an erase or to its end, and passes the turn on in both cases. Moves of features,
// wear levelling and erases of blocks that are empty need no turn.
#pragma once

#include <algorithm>
#include <deque>
#include <vector>

#include "firmware/core/core.h"
#include "firmware/gc/worker.h"

namespace tlmssd::firmware {

class Turns {
 public:
  Turns(const Core& core, GcWorker& gc) : core_(core), gc_(gc) {}
  /// Groups of `size` dies that follow one another in `dies`.
  void set_groups(const std::vector<std::uint32_t>& dies, std::uint32_t size) {
    group_of_.resize(dies.size());
    for (std::uint32_t n = 0; n < dies.size(); ++n) group_of_[dies[n]] = n / size;
    groups_.resize(dies.size() / size);
  }
  /// Collection of the parallel unit is to take a victim. False: its die has the turn. True: it has
  /// been put in the line.
  bool waits(std::uint32_t pu) {
    const std::uint32_t die = die_of(pu);
    Group& group = groups_[group_of_[die]];
    if (group.holder != die && !taken(group)) take(group, die);
    if (group.holder == die && (!group.erased || group.waiting.empty())) return false;
    if (std::find(group.waiting.begin(), group.waiting.end(), pu) == group.waiting.end())
      group.waiting.push_back(pu);
    if (group.holder == die && !busy(die)) pass_on(group);
    return true;
  }
  /// Collection of the parallel unit has erased a block: its die passes the turn on before it takes
  /// another victim.
  void erased(std::uint32_t pu) {
    Group& group = groups_[group_of_[die_of(pu)]];
    if (group.holder == die_of(pu)) group.erased = true;
  }
  /// Collection of the parallel unit has ended.
  void ended(std::uint32_t pu) {
    const std::uint32_t die = die_of(pu);
    Group& group = groups_[group_of_[die]];
    if (group.holder == die && !group.waiting.empty() && !busy(die)) pass_on(group);
  }
  /// None waits any more.
  void end() {
    for (Group& group : groups_) {
      for (const std::uint32_t pu : group.waiting) gc_.look_again(pu);
      group = {};
    }
  }

  /// Flash has operations of collection, or of moves, on the die.
  [[nodiscard]] bool busy(std::uint32_t die) const {
    return any_of(die, [this](std::uint32_t pu) { return gc_.busy(pu); });
  }

 private:
  static constexpr std::uint32_t k_none = 0xFFFFFFFFU;
  struct Group {
    std::uint32_t holder = k_none;  ///< die
    bool erased = false;            ///< it has erased a block since it has the turn
    Picoseconds since = 0;
    std::deque<std::uint32_t> waiting;  ///< parallel units
  };
  [[nodiscard]] std::uint32_t die_of(std::uint32_t pu) const { return index(core_.layout.die_of(pu, 0)); }
  void take(Group& group, std::uint32_t die) const {
    group.holder = die;
    group.erased = false;
    group.since = core_.hw.event_queue.now();
  }
  void pass_on(Group& group) {
    take(group, die_of(group.waiting.front()));
    const auto has_turn = [&](std::uint32_t pu) { return die_of(pu) == group.holder; };
    for (const std::uint32_t pu : group.waiting) {
      if (has_turn(pu)) gc_.look_again(pu);
    }
    std::erase_if(group.waiting, has_turn);
  }
  template <class F>
  [[nodiscard]] bool any_of(std::uint32_t die, F&& f) const {
    for (std::uint32_t n = 0; n < core_.layout.pus_per_die; ++n) {
      if (f(core_.layout.pu_at(static_cast<DieId>(die), n))) return true;
    }
    return false;
  }
  [[nodiscard]] bool collects(std::uint32_t die) const {
    return any_of(die, [this](std::uint32_t pu) { return gc_.running(pu); });
  }
  /// Some die has the turn. Where no time passes nothing is waited for: what collects there does so
  /// to its end, with this as a part of it.
  [[nodiscard]] bool taken(const Group& group) const {
    if (group.holder == k_none || !collects(group.holder)) return false;
    return group.since != core_.hw.event_queue.now() ||
           core_.hw.flash.pending(static_cast<DieId>(group.holder)) > 0;
  }

  const Core& core_;
  GcWorker& gc_;
  std::vector<std::uint32_t> group_of_;  ///< by die
  std::vector<Group> groups_;
};

}  // namespace tlmssd::firmware
