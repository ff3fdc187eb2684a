#include "firmware/gc/folding.h"

namespace tlmssd::firmware {

bool Folding::any_slc(const std::vector<BlockNumber>& blocks) const {
  return std::any_of(blocks.begin(), blocks.end(),
                     [this](BlockNumber block) { return core_.pool.mode(block) == BlockMode::slc; });
}

bool Folding::slc_wait() const {
  return state_.lines.slc_waits() && state_.gathering.emptying().empty() && !core_.pslc->claimable(pu_) &&
         !core_.pslc->preparable(pu_);
}

/// Share of the parallel unit's pSLC that is free or about to be.
double Folding::free_share() const {
  const std::vector<BlockNumber>& emptying = state_.gathering.emptying();
  const auto coming = std::count_if(emptying.begin(), emptying.end(), [this](BlockNumber block) {
    return core_.pool.mode(block) == BlockMode::slc;
  });
  return core_.pslc->free_share(pu_, static_cast<std::uint32_t>(coming));
}

bool Folding::wants_fold() const {
  const BlockNumber reading = state_.move.block;
  const bool any = core_.pool.slc(pu_).closed() > 0 || any_slc(state_.unfinished) || gathered() ||
                   (reading != k_no_block && core_.pool.mode(reading) == BlockMode::slc);
  if (!any) return false;
  const double idle_target = core_.pslc->path().keeps() ? 0 : core_.pslc->config().idle_target;
  return (ahead_ && !state_.thresholds.put_off) || slc_wait() ||
         (state_.thresholds.idle && idle_target > 0 && free_share() < idle_target);
}

void Folding::update_ahead() {
  const double free = free_share();
  const PslcConfig& config = core_.pslc->config();
  const bool ahead = !core_.pslc->path().keeps();
  if ((ahead && free < config.fold_below) || free < 0) {
    ahead_ = true;
  } else if (!ahead || free >= config.fold_until) {
    ahead_ = false;
  }
}

Move Folding::next() {
  const bool statics_too = core_.pool.can_fold(pu_);
  Move move = victim(k_no_block, {});
  if (!statics_too || core_.pslc->too_many(pu_)) move = take(true);
  return move.block == k_no_block && statics_too ? take(false) : move;
}

Move Folding::take(bool dynamic) {
  constexpr std::string_view k_why = "in SLC mode, to be folded";
  const BlockNumber left = state_.take_unfinished([&](BlockNumber block) {
    return core_.pool.mode(block) == BlockMode::slc && !core_.pool.info(block).failed &&
           !(dynamic && core_.pool.is_static(block));
  });
  if (left != k_no_block) return victim(left, k_why);
  const BlockNumber block = core_.pool.take_slc_victim(pu_, dynamic);
  if (block == k_no_block) return victim(k_no_block, {});
  const std::uint32_t valid = core_.pool.info(block).valid;
  ++core_.stats.folds;
  if (state_.thresholds.idle) {
    ++core_.stats.idle_folds;
  } else if (valid > 0) {
    core_.pslc->folds(core_.stats.host_blocks_written, core_.hw.event_queue.now());
  }
  core_.stats.fold_valid += valid;
  core_.pslc->path().collected(valid, core_.layout.slc_units());
  return victim(block, k_why);
}

}  // namespace tlmssd::firmware
