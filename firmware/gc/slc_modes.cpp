#include "firmware/gc/slc_modes.h"

namespace tlmssd::firmware {

std::optional<BlockMode> SlcModes::change_due() const {
  const BlockPool::SlcOfPu& slc = core_.pool.slc(pu_);
  const bool short_of_native = state_.native_wait();
  if (core_.pslc->preparable(pu_)) {
    const bool waiting = state_.lines.slc_waits() && !core_.pslc->claimable(pu_);
    const bool ahead = slc.open != k_no_block && slc.ready() == 0 && !short_of_native;
    if (waiting || ahead) return BlockMode::slc;
  }
  if (slc.dynamic().ready == 0) return {};
  const bool unused = core_.pslc->surplus(pu_) && (short_of_native || state_.background);
  if (unused || (short_of_native && !state_.gains())) return BlockMode::native;
  return {};
}

BlockMode SlcModes::after(BlockNumber block) const {
  if (!core_.pslc) return BlockMode::native;
  if (core_.pool.is_static(block)) return BlockMode::slc;
  const BlockPool::SlcOfPu& slc = core_.pool.slc(pu_);
  const bool was_slc = core_.pool.mode(block) == BlockMode::slc;
  const std::uint32_t others = slc.dynamic().used - (was_slc ? 1 : 0) + slc.dynamic().ready;
  if (state_.free() < core_.pslc->leaves_free() || others >= core_.pslc->dynamic_limit(pu_))
    return BlockMode::native;
  // Others come from native mode one ahead of what is needed.
  return was_slc || (slc.ready() == 0 && slc.used() > 0) ? BlockMode::slc : BlockMode::native;
}

BlockNumber SlcModes::take(BlockMode mode) const {
  const bool slc = mode == BlockMode::slc;
  ++(slc ? core_.stats.slc_prepared : core_.stats.slc_returned);
  return slc ? core_.pool.take_to_prepare(pu_) : core_.pool.take_to_return(pu_);
}

// It does as long as little of what they hold is valid; beyond that, folding does.
bool SlcModes::wants_growth() const {
  const BlockPool::ParallelUnit& g = core_.pool.pu(pu_);
  const BlockPool::SlcOfPu& slc = core_.pool.slc(pu_);
  const bool used = slc.open != k_no_block || state_.lines.slc_waits();
  return used && slc.ready() == 0 && core_.pslc->wants_dynamic(pu_) && !core_.pslc->preparable(pu_) &&
         4 * g.invalid >= g.valid && g.invalid >= 2 * std::uint64_t{core_.layout.block_units};
}

}  // namespace tlmssd::firmware
