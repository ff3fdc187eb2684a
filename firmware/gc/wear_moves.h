// Static wear levelling: whole blocks that lie still while others wear. The policy is asked
// whenever a block has been erased.
//
// Nothing can deadlock: a block is only moved while one is free beyond the reserve; it opens one at
// most and gives one back.
#pragma once

#include <utility>

#include "firmware/gc/move_source.h"

namespace tlmssd::firmware {

class WearMoves final : public MoveSource {
 public:
  explicit WearMoves(WorkerState& state) : MoveSource(state) {}
  void erased() { check_ = true; }
  /// The policy has to be asked. No reason for the worker to start: one that erases runs.
  [[nodiscard]] bool urgent() const override { return check_; }
  Move next() override {
    if (!std::exchange(check_, false) || state_.moving() || !state_.may_move()) return {};
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
