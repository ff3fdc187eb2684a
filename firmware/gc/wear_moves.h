// Static wear levelling: whole blocks that lie still while others wear. The policy is asked when a
// block has been erased, as soon as the reserve is whole: where the host and collection share an
// open block, there is hardly ever more than that.
//
// Nothing can deadlock: a move takes one block of a whole reserve at most and gives one back, as a
// victim does; nothing is held back meanwhile, and what the host has to find free is unchanged.
#pragma once

#include "firmware/gc/move_source.h"

namespace tlmssd::firmware {

class WearMoves final : public MoveSource {
 public:
  explicit WearMoves(WorkerState& state) : MoveSource(state) {}
  void erased() { check_ = true; }
  /// The policy has to be asked. No reason for the worker to start: one that erases runs.
  [[nodiscard]] bool urgent() const override { return check_; }
  Move next() override {
    // Not after the erase that a move ends with: what that has freed is to wear first.
    if (state_.moving()) check_ = false;
    if (!check_ || !state_.reserve_whole()) return {};
    check_ = false;
    return {.purpose = Purpose::wear, .block = core_.pool.due_for_wear(pu_), .why = core_.config.wear.policy};
  }
  void begun(const Move& move) {
    ++core_.stats.wear_moves;
    tell(DecisionKind::wear, "moved as a whole", move);
  }
  void archive(Archive& a) { a(check_); }

 private:
  bool check_ = false;
};

}  // namespace tlmssd::firmware
