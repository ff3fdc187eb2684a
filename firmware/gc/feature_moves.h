// What features want written anew (Feature::next_move): whole blocks, or parts of closed ones.
//
// Nothing can deadlock: without a pSLC, moves may take from the reserve too while no host data
// wait, since a block that is moved whole opens one block at most and gives one back. A part of a
// block gives nothing back, so it is only moved, and only goes on, while the reserve is whole. When
// it is not, collection makes it whole as long as two blocks' worth of invalid units are left; when
// they are not, the part's block is moved whole.
#pragma once

#include "firmware/gc/move_source.h"

namespace tlmssd::firmware {

class FeatureMoves final : public MoveSource {
 public:
  explicit FeatureMoves(WorkerState& state) : MoveSource(state) {}
  [[nodiscard]] bool urgent() const override {
    if (core_.hooks.next_move.empty() || !core_.hooks.move_waits(pu_) || collects()) return false;
    // A block that never leaves SLC mode gives nothing back.
    return state_.may_move() || (!core_.pslc && state_.free() > 0 && !state_.lines.native_waits());
  }
  /// Collection comes first, because it can make the room that moving a part takes.
  [[nodiscard]] bool collects() const {
    return !core_.hooks.next_move.empty() && core_.hooks.moves_parts() && core_.hooks.move_waits(pu_) &&
           !state_.may_move() && state_.collectable() >= 2 * std::uint64_t{core_.layout.block_units};
  }
  Move next() override { return core_.hooks.take_move(pu_, state_.may_move()); }
  void begun(const Move& move) {
    ++(move.whole ? core_.stats.moves : core_.stats.part_moves)[static_cast<std::size_t>(move.purpose)];
    tell(DecisionKind::move, move.whole ? "block written anew" : "part of a block written anew", move);
    if (!move.whole && state_.free() < state_.thresholds.background_start) state_.background = true;
  }
};

}  // namespace tlmssd::firmware
