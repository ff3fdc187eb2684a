// Garbage collection proper: closed native blocks by the victim policy, because host data wait for
// space, free blocks are few, or the host is idle. With a pSLC also dynamic blocks in SLC mode,
// where they are worth more.
//
// Nothing can deadlock: the argument of worker.h is this source's. It rests on gains(): without
// invalid units to win, nothing is read.
#pragma once

#include <string>

#include "firmware/gc/feature_moves.h"
#include "firmware/gc/folding.h"
#include "firmware/gc/slc_modes.h"

namespace tlmssd::firmware {

class NativeVictims final : public MoveSource {
 public:
  NativeVictims(WorkerState& state, const FeatureMoves& features, const SlcModes& modes, Folding& folding)
      : MoveSource(state), features_(features), modes_(modes), folding_(folding) {}
  [[nodiscard]] bool urgent() const override;
  Move next() override;
  /// Tells the log of decisions of any victim.
  void tell_victim(const Move& move);

 private:
  [[nodiscard]] BlockNumber take_by_policy();

  const FeatureMoves& features_;
  const SlcModes& modes_;
  Folding& folding_;
  const std::string by_policy_ = core_.config.gc.policy + " chose it";
  std::vector<Candidate> ranked_;  ///< for the log of decisions: what the policy said before it chose
};

}  // namespace tlmssd::firmware
