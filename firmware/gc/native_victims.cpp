#include "firmware/gc/native_victims.h"

namespace tlmssd::firmware {

bool NativeVictims::urgent() const {
  if (state_.native_wait() || features_.collects()) return true;
  const GcThresholds& thresholds = state_.thresholds;
  const auto coming = static_cast<std::uint32_t>(state_.gathering.emptying().size());
  const std::uint32_t free = state_.free() + coming;
  return (state_.background && !thresholds.put_off && free < state_.background_stop()) ||
         (thresholds.idle && free < thresholds.idle_target) || (core_.pslc && modes_.wants_growth());
}

Move NativeVictims::next() {
  if (!state_.gains()) return victim(k_no_block, {});
  const BlockNumber left = state_.take_unfinished(
      [this](BlockNumber block) { return core_.pool.mode(block) == BlockMode::native; });
  if (left != k_no_block) return victim(left, "left by an earlier collection");
  // A dynamic block that is to come back anyway, or is worth more than what little the native ones
  // would give. Without a program unit of invalid ones they give nothing: full blocks would be
  // moved for ever, to no one's gain.
  const BlockPool::ParallelUnit& g = core_.pool.pu(pu_);
  const bool dear = core_.pslc && (core_.pslc->too_many(pu_) || g.invalid < core_.layout.program_units ||
                                   (state_.native_wait() && 4 * g.invalid < g.valid));
  if (dear) {
    const Move move = folding_.next_dynamic();
    if (move.block != k_no_block) return move;
  }
  const BlockNumber block = take_by_policy();
  return block != k_no_block || dear || !core_.pslc ? victim(block, by_policy_) : folding_.next_dynamic();
}

BlockNumber NativeVictims::take_by_policy() {
  constexpr std::size_t k_ranked = 4;
  if (wanted(core_.hw, DecisionKind::gc)) core_.victims->rank(pu_, k_ranked, ranked_);
  const BlockNumber block = core_.pool.take_victim(pu_);
  if (block == k_no_block) return block;
  ++core_.stats.gc_victims;
  core_.stats.gc_victim_valid += core_.pool.info(block).valid;
  begin(block);
  return block;
}

// The policy's figures were asked for before it chose, so that the victim is among them.
void NativeVictims::tell_victim(const Move& move) {
  const std::vector<Candidate> ranked = std::exchange(ranked_, {});
  if (core_.hw.decisions == nullptr) return;
  std::optional<double> score;
  std::vector<Candidate> others;
  for (const Candidate& one : ranked) {
    if (one.block == move.block) {
      score = one.score;
    } else {
      others.push_back(one);
    }
  }
  note(core_.hw, {.kind = DecisionKind::gc,
                  .what = "victim",
                  .why = move.why,
                  .pu = pu_,
                  .block = move.block,
                  .valid = core_.pool.info(move.block).valid,
                  .score = score,
                  .others = others});
}

}  // namespace tlmssd::firmware
