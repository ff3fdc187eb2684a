// The GC worker's part in blocks of SLC mode: when to fold, what to empty for whom, free blocks
// that change their mode, copies on the die.
#include <algorithm>
#include <stdexcept>

#include "firmware/gc/worker.h"

namespace tlmssd::firmware {

// ------------------------------------------------------------------------------------------------------------- what is to be done

bool GcWorker::has_slc(const std::vector<BlockNumber>& blocks) const {
  return std::any_of(blocks.begin(), blocks.end(),
                     [this](BlockNumber block) { return core_.pool.mode(block) == BlockMode::slc; });
}

bool GcWorker::slc_wait(std::uint32_t pu, const Work& work) const {
  return work.lines.slc_waits() && work.emptying.empty() && !core_.pslc->claimable(pu) &&
         !core_.pslc->preparable(pu);
}

/// Share of the parallel unit's pSLC that is free or about to be.
double GcWorker::slc_free_share(std::uint32_t pu, const Work& work) const {
  const auto coming = std::count_if(work.emptying.begin(), work.emptying.end(), [this](BlockNumber block) {
    return core_.pool.mode(block) == BlockMode::slc;
  });
  return core_.pslc->free_share(pu, static_cast<std::uint32_t>(coming));
}

bool GcWorker::wants_fold(std::uint32_t pu, const Work& work) const {
  const bool any = core_.pool.slc(pu).closed() > 0 || has_slc(work.unfinished) || has_slc(work.scanned) ||
                   (work.current != k_no_block && core_.pool.mode(work.current) == BlockMode::slc);
  if (!any) return false;
  const double idle_target = core_.pslc->path().keeps() ? 0 : core_.pslc->config().idle_target;
  return work.folding || slc_wait(pu, work) ||
         (idle_ && idle_target > 0 && slc_free_share(pu, work) < idle_target);
}

void GcWorker::update_folding(std::uint32_t pu, Work& work) {
  const double free = slc_free_share(pu, work);
  const PslcConfig& config = core_.pslc->config();
  const bool ahead = !core_.pslc->path().keeps();
  if ((ahead && free < config.fold_below) || free < 0) {
    work.folding = true;
  } else if (!ahead || free >= config.fold_until) {
    work.folding = false;
  }
}

// Collecting native blocks so that more can be dynamic pays as long as little of what they hold is
// valid; beyond that, folding does.
bool GcWorker::wants_growth(std::uint32_t pu) const {
  const BlockPool::ParallelUnit& g = core_.pool.pu(pu);
  const BlockPool::SlcOfPu& slc = core_.pool.slc(pu);
  const bool used = slc.open != k_no_block || work_[pu].lines.slc_waits();
  return used && slc.ready() == 0 && core_.pslc->wants_dynamic(pu) && !core_.pslc->preparable(pu) &&
         4 * g.stale >= g.valid && g.stale >= 2 * std::uint64_t{core_.layout.block_units};
}

GcWorker::Step GcWorker::prepare_step(std::uint32_t pu, const Work& work) const {
  const BlockPool::SlcOfPu& slc = core_.pool.slc(pu);
  const bool short_of_native = native_wait(pu, work);
  if (core_.pslc->preparable(pu)) {
    const bool waiting = work.lines.slc_waits() && !core_.pslc->claimable(pu);
    const bool ahead = slc.open != k_no_block && slc.ready() == 0 && !short_of_native;
    if (waiting || ahead) return Step::prepare;
  }
  if (slc.dynamic().ready == 0) return Step::stop;
  if (core_.pslc->surplus(pu) && (short_of_native || work.background)) return Step::give_back;
  return short_of_native && !gains(pu) ? Step::give_back : Step::stop;
}

bool GcWorker::pslc_due(std::uint32_t pu) {
  Work& work = work_[pu];
  if (work.running) return false;
  update_folding(pu, work);
  return wants_fold(pu, work) || wants_growth(pu) || prepare_step(pu, work) != Step::stop;
}

bool GcWorker::slc_exhausted(std::uint32_t pu) const {
  const Work& work = work_[pu];
  if (core_.pslc->claimable(pu)) return false;
  if (work.slc_exhausted && work.slc_exhausted_state == slc_state(pu)) return true;
  return !work.running && core_.pool.pu(pu).in_flight == 0 && !wants_more(pu, work);
}

// --------------------------------------------------------------------------------------------------------------------- choosing

/// The next block to be emptied: in SLC mode for who waits there, native ones (or dynamic ones) for
/// everyone else.
BlockNumber GcWorker::choose_by_need(std::uint32_t pu, Work& work) {
  bool held_up = false;
  const BlockNumber failed = take_failed(pu, work, held_up);
  if (failed != k_no_block) return failed;
  const bool fold = wants_fold(pu, work);
  bool native_first = native_wait(pu, work);
  if (native_first && slc_wait(pu, work)) {
    native_first = work.native_turn;
    work.native_turn = !work.native_turn;
  }
  if (fold && !native_first) {
    const bool fixed_too = core_.pool.can_fold(pu);
    BlockNumber block = k_no_block;
    if (!fixed_too || core_.pslc->too_many(pu)) block = take_slc(pu, work, true);
    if (block == k_no_block && fixed_too) block = take_slc(pu, work, false);
    if (block != k_no_block) return block;
  }
  return fold || held_up || wants_native(pu, work) ? take_native(pu, work) : k_no_block;
}

/// A block that has failed. `held_up`: there is one, but it is static and the reserve has to be
/// made up before it can be emptied.
BlockNumber GcWorker::take_failed(std::uint32_t pu, Work& work, bool& held_up) {
  const auto may = [&](BlockNumber block) {
    const bool now = !core_.pool.is_static(block) || core_.pool.can_fold(pu);
    held_up = held_up || !now;
    return now;
  };
  if (core_.pool.grown_bad_waiting(pu) && may(core_.pool.next_grown_bad(pu)))
    return core_.pool.take_grown_bad(pu);
  const auto left = std::find_if(work.unfinished.begin(), work.unfinished.end(), [&](BlockNumber block) {
    return core_.pool.info(block).failed && may(block);
  });
  if (left == work.unfinished.end()) return k_no_block;
  const BlockNumber block = *left;
  work.unfinished.erase(left);
  return block;
}

BlockNumber GcWorker::take_slc(std::uint32_t pu, Work& work, bool dynamic) {
  const auto left = std::find_if(work.unfinished.begin(), work.unfinished.end(), [&](BlockNumber block) {
    return core_.pool.mode(block) == BlockMode::slc && !core_.pool.info(block).failed &&
           !(dynamic && core_.pool.is_static(block));
  });
  if (left != work.unfinished.end()) {
    const BlockNumber block = *left;
    work.unfinished.erase(left);
    return block;
  }
  const BlockNumber block = core_.pool.take_slc_victim(pu, dynamic);
  if (block == k_no_block) return block;
  const std::uint32_t valid = core_.pool.info(block).valid;
  ++core_.stats.folds;
  if (idle_) ++core_.stats.idle_folds;
  core_.stats.fold_valid += valid;
  core_.pslc->path().collected(valid, core_.layout.slc_units());
  return block;
}

BlockNumber GcWorker::take_native(std::uint32_t pu, Work& work) {
  if (!gains(pu)) return k_no_block;
  const auto left = std::find_if(work.unfinished.begin(), work.unfinished.end(), [this](BlockNumber block) {
    return core_.pool.mode(block) == BlockMode::native;
  });
  if (left != work.unfinished.end()) {
    const BlockNumber block = *left;
    work.unfinished.erase(left);
    return block;
  }
  // A dynamic block that is to come back anyway, or is worth more than what little the native ones
  // would give. Without a program unit of stale ones they give nothing: full blocks would be moved
  // for ever, to no one's gain.
  const BlockPool::ParallelUnit& g = core_.pool.pu(pu);
  const bool dear = core_.pslc->too_many(pu) || g.stale < core_.layout.program_units ||
                    (native_wait(pu, work) && 4 * g.stale < g.valid);
  if (dear) {
    const BlockNumber block = take_slc(pu, work, true);
    if (block != k_no_block) return block;
  }
  const BlockNumber block = take_victim(pu);
  return block != k_no_block || dear ? block : take_slc(pu, work, true);
}

// ------------------------------------------------------------------------------------------------------------------------- modes

/// The mode that an emptied block is erased into.
BlockMode GcWorker::mode_after(std::uint32_t pu, BlockNumber block) const {
  if (!core_.pslc) return BlockMode::native;
  if (core_.pool.is_static(block)) return BlockMode::slc;
  const BlockPool::SlcOfPu& slc = core_.pool.slc(pu);
  const bool was_slc = core_.pool.mode(block) == BlockMode::slc;
  const std::uint32_t others = slc.dynamic().used - (was_slc ? 1 : 0) + slc.dynamic().ready;
  if (core_.pool.pu(pu).free < core_.pslc->leaves_free() || others >= core_.pslc->dynamic_limit(pu))
    return BlockMode::native;
  // Others come from native mode one ahead of what is needed.
  return was_slc || (slc.ready() == 0 && slc.used() > 0) ? BlockMode::slc : BlockMode::native;
}

Task<> GcWorker::change_mode(std::uint32_t pu, BlockMode mode) {
  BlockNumber block = k_no_block;
  if (mode == BlockMode::slc) {
    block = core_.pool.take_to_prepare(pu);
    ++core_.stats.slc_prepared;
  } else {
    block = core_.pool.take_to_return(pu);
    ++core_.stats.slc_returned;
  }
  co_await core_.erase(block, mode);
  work_[pu].exhausted = work_[pu].slc_exhausted = false;
  wake(pu);
}

// ---------------------------------------------------------------------------------------------------------------- copies on the die

/// Whether the pages of the current victim that come next are a whole program unit of valid units.
/// Copies take no part in filling program units with what is left of several victims, so the
/// reserve is not theirs.
bool GcWorker::copies_next(std::uint32_t pu, const Work& work) const {
  if (!core_.pslc || !core_.pslc->folds_on_die() || work.moving != Purpose::gc) return false;
  if (!core_.pool.can_fold(pu)) return false;
  const Layout& layout = core_.layout;
  if (core_.pool.mode(work.current) != BlockMode::slc || core_.pool.info(work.current).failed) return false;
  if (work.cursor % layout.mp_page_units != 0 || work.cursor + layout.program_units > layout.slc_units())
    return false;
  const std::uint64_t* const words = core_.pool.words(work.current);
  for (std::uint32_t at = work.cursor; at < work.cursor + layout.program_units; ++at) {
    if ((words[at / 64] >> (at % 64) & 1U) == 0) return false;
  }
  return true;
}

/// Whether some of what the program unit being filled holds comes from `block`.
bool GcWorker::holds_of(const ProgramJob& filling, BlockNumber block) const {
  return std::any_of(filling.source.get(), filling.source.get() + filling.live,
                     [&](std::uint32_t unit) { return core_.layout.block_of(Ppn(unit)) == block; });
}

// The source is pinned: it may not be erased before the copy has ended, even if the host overwrites
// all of it meanwhile.
void GcWorker::launch_copy(std::uint32_t pu, Work& work) {
  const Layout& layout = core_.layout;
  ProgramJob& job = core_.jobs.take();
  const Ppn first = layout.first_unit(work.current) + work.cursor;
  job.pu = pu;
  job.live = job.folded = layout.program_units;
  job.from_fixed = core_.pool.is_static(work.current);
  for (std::uint32_t n = 0; n < job.live; ++n) job.source[n] = (first + n).number();
  job.parts[0].copy_from = first;
  job.pinned = work.current;
  core_.pool.pin(job.pinned);
  work.cursor += layout.program_units;
  if (work.cursor == layout.slc_units()) read_to_end(work, false);
  core_.claim(job, WriteTarget::gc, Purpose::migration, core_.map->dram_bytes());
  ++work.jobs;
  tasks_.start(program(pu, job, Purpose::gc));
}

}  // namespace tlmssd::firmware
