#include "firmware/gc/worker.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tlmssd::firmware {

GcWorker::GcWorker(Core& core) : core_(core) {
  work_.reserve(core.layout.pus);
  for (std::uint32_t pu = 0; pu < core.layout.pus; ++pu) {
    Work& work = work_.emplace_back(core.pool.handles());
    if (core.pool.apart()) work.parked.resize(core.pool.handles());
  }
  const GcConfig& config = core.config.gc;
  const Layout& layout = core.layout;
  // Free blocks that a parallel unit has when it holds its share of the logical capacity, neatly
  // packed.
  const std::uint64_t share = (layout.kept_units() + layout.pus - 1) / layout.pus;
  const auto packed = static_cast<std::uint32_t>((share + layout.block_units - 1) / layout.block_units);
  const std::uint32_t native = core.pool.pu(0).good;
  const std::uint32_t spare = native > packed ? native - packed : 0;
  const std::uint32_t reserve = core.pool.reserve();
  // More than about half of the spare cannot be kept free at a bearable price.
  const std::uint32_t most = std::max(reserve, spare / 2);
  const auto blocks = [&](double part) { return static_cast<std::uint32_t>(std::ceil(part * spare)); };
  if (config.background_start > 0 && most >= reserve + 2) {
    background_start_ = std::clamp(blocks(config.background_start), reserve + 1, most - 1);
    background_stop_ = std::clamp(blocks(config.background_stop), background_start_ + 1, most);
  }
  idle_target_ = std::clamp(blocks(config.idle_target), reserve, most);
  if (core.pslc) core.pslc->leave_free(std::max(background_stop_, reserve + 1));
}

// ------------------------------------------------------------------------------------------------------------- what is to be done

std::uint64_t GcWorker::stale(BlockNumber block) const {
  const BlockInfo& info = core_.pool.info(block);
  return info.failed ? 0 : core_.pool.gain(block);
}

// Units that the blocks yet to be read would give.
std::uint64_t GcWorker::collectable(std::uint32_t pu) const {
  std::uint64_t units = core_.pool.pu(pu).stale + (core_.pslc ? core_.pool.slc(pu).stale : 0);
  for (const BlockNumber block : work_[pu].unfinished) units += stale(block);
  return units;
}

std::uint64_t GcWorker::reclaimable(std::uint32_t pu) const {
  const Work& work = work_[pu];
  std::uint64_t units = collectable(pu);
  if (work.current != k_no_block && !work.part) units += stale(work.current);
  for (const BlockNumber block : work.scanned) units += stale(block);
  for (const Gathering& other : work.parked) {
    for (const BlockNumber block : other.scanned) units += stale(block);
  }
  return units;
}

// Whether reading another block brings collection forward. Where little is left to find, it may be
// better to write what has been read with padding: else full blocks would be read for its last
// units, whose own last units would ask for the next, for ever. On the other hand padding must free
// more than it fills: what has been moved out of a victim is no gain, since it lies elsewhere now.
bool GcWorker::gains(std::uint32_t pu) const {
  const Work& work = work_[pu];
  const std::uint64_t whole = core_.layout.program_units;
  const std::uint64_t more = collectable(pu);
  if (more >= whole || more == 0) return more > 0;
  std::uint64_t held = 0;
  std::uint64_t padding = 0;
  bool any = false;
  const auto add = [&](const ProgramJob* filling, std::uint32_t found) {
    if (filling == nullptr || filling->live == 0) return;
    any = true;
    held += found;
    padding += whole - filling->live;
  };
  add(work.filling, work.found);
  for (const Gathering& other : work.parked) add(other.filling, other.found);
  if (any && held >= padding + whole) return false;
  return held + more >= whole;
}

bool GcWorker::has_failed(const std::vector<BlockNumber>& blocks) const {
  return std::any_of(blocks.begin(), blocks.end(),
                     [this](BlockNumber block) { return core_.pool.info(block).failed; });
}

bool GcWorker::gathered_failed(const Work& work) const {
  return has_failed(work.scanned) ||
         std::any_of(work.parked.begin(), work.parked.end(),
                     [this](const Gathering& other) { return has_failed(other.scanned); });
}

bool GcWorker::wants_more(std::uint32_t pu, const Work& work) const {
  if (work.moving != Purpose::gc || core_.pool.grown_bad_waiting(pu) || has_failed(work.unfinished) ||
      gathered_failed(work) || move_waits(pu))
    return true;
  if (work.current != k_no_block && core_.pool.info(work.current).failed) return true;
  return wants_native(pu, work) || (core_.pslc && wants_fold(pu, work)) ||
         (core_.pslc && prepare_step(pu, work) != Step::stop);
}

bool GcWorker::wants_native(std::uint32_t pu, const Work& work) const {
  if (native_wait(pu, work) || collects_for_move(pu)) return true;
  const auto coming = static_cast<std::uint32_t>(work.emptying.size());
  const std::uint32_t free = core_.pool.pu(pu).free + coming;
  return (work.background && free < background_stop_) || (idle_ && free < idle_target_) ||
         (core_.pslc && wants_growth(pu));
}

bool GcWorker::find_empty(Work& work) {
  for (BlockNumber& block : work.emptying) {
    if (core_.pool.info(block).valid > 0) continue;
    work.empty = block;
    work.emptying.erase(work.emptying.begin() + (&block - work.emptying.data()));
    return true;
  }
  return false;
}

GcWorker::Step GcWorker::when_claimable(std::uint32_t pu, const Work& work) const {
  if (may_launch(pu, work)) return Step::launch;
  return work.jobs > 0 ? Step::wait : Step::stop;
}

GcWorker::Step GcWorker::next_step(std::uint32_t pu, Work& work) {
  const std::uint32_t whole = core_.layout.program_units;
  for (;;) {
    if (find_empty(work)) return Step::erase;
    if (work.jobs == 0 && !work.emptying.empty()) {
      // A program was given up for want of space: what it carried is still where it was.
      work.unfinished.insert(work.unfinished.end(), work.emptying.begin(), work.emptying.end());
      work.emptying.clear();
    }
    if (core_.read_only) return work.jobs > 0 ? Step::wait : Step::stop;
    if ((work.check_wear || move_waits(pu)) && work.jobs == 0) start_move(pu, work);
    if (work.background && core_.pool.pu(pu).free >= background_stop_) work.background = false;
    if (core_.pslc) {
      update_folding(pu, work);
      const Step prepare = prepare_step(pu, work);
      if (prepare != Step::stop) return prepare;
    }
    if (work.filling != nullptr && frees_nothing(work) && !core_.pool.can_fold(pu, moved_to(work))) {
      // The reserve has become short meanwhile: native blocks first.
      if (work.jobs > 0) return Step::wait;
      stop(pu, work);
      continue;
    }
    if (work.filling != nullptr && work.filling->live == whole) return when_claimable(pu, work);
    if (!work.mp_pages.empty()) {
      consume_mp_page(work, pu);
      continue;
    }
    if (!wants_more(pu, work)) return work.jobs > 0 ? Step::wait : Step::stop;
    if (work.jobs >= core_.config.gc.parallel_copies) return Step::wait;
    if (work.current == k_no_block) {
      // A choice waits for all programs, so that it does not depend on how long they take.
      if (work.jobs > 0) return Step::wait;
      const bool moving = work.moving != Purpose::gc;
      if (moving || !choose(pu, work)) {
        const bool worth = moving || gathered_failed(work) || reclaimable(pu) >= whole ||
                           (core_.pslc && has_slc(work.scanned) && wants_fold(pu, work));
        if (work.filling != nullptr && work.filling->live > 0 && worth) return when_claimable(pu, work);
        if (worth && take_up_parked(work)) continue;
        if (!moving) return Step::stop;
        work.moving = Purpose::gc;
      }
      continue;
    }
    return copies_next(pu, work) ? Step::copy : Step::read;
  }
}

bool GcWorker::choose(std::uint32_t pu, Work& work) {
  ranked_.clear();
  by_policy_ = false;
  const BlockNumber block = core_.pslc ? choose_by_need(pu, work) : choose_victim(pu, work);
  if (block == k_no_block) return false;
  if (core_.hw.decisions != nullptr) tell_victim(pu, block);
  gather_for(core_.pool.handle(block), work);
  if (work.filling == nullptr || work.filling->live == 0) work.found = 0;
  work.found += static_cast<std::uint32_t>(stale(block));
  start_block(block, work);
  return true;
}

void GcWorker::start_block(BlockNumber block, Work& work) const {
  gather_for(core_.pool.handle(block), work);
  work.current = block;
  work.cursor = 0;
  work.end = core_.layout.block_units;
  work.part = false;
}

void GcWorker::gather_for(std::uint8_t handle, Work& work) const {
  if (!core_.pool.apart() || handle == work.handle) return;
  const auto swap = [&](std::uint8_t with) {
    std::swap(work.filling, work.parked[with].filling);
    std::swap(work.scanned, work.parked[with].scanned);
    std::swap(work.found, work.parked[with].found);
  };
  swap(work.handle);
  swap(work.handle = handle);
}

bool GcWorker::take_up_parked(Work& work) const {
  for (std::size_t handle = 0; handle < work.parked.size(); ++handle) {
    const ProgramJob* const filling = work.parked[handle].filling;
    if (filling == nullptr || filling->live == 0) continue;
    gather_for(static_cast<std::uint8_t>(handle), work);
    return true;
  }
  return false;
}

BlockNumber GcWorker::choose_victim(std::uint32_t pu, Work& work) {
  const BlockNumber grown_bad = core_.pool.take_grown_bad(pu);
  if (grown_bad != k_no_block) return grown_bad;
  const auto failed = std::find_if(work.unfinished.begin(), work.unfinished.end(),
                                   [this](BlockNumber b) { return core_.pool.info(b).failed; });
  const bool gain = gains(pu);
  if (failed != work.unfinished.end() || (gain && !work.unfinished.empty())) {
    const auto it = failed != work.unfinished.end() ? failed : work.unfinished.begin();
    const BlockNumber block = *it;
    work.unfinished.erase(it);
    return block;
  }
  return gain ? take_victim(pu) : k_no_block;
}

/// The policy's figures were asked for before it chose, so that the victim is among them.
void GcWorker::tell_victim(std::uint32_t pu, BlockNumber block) {
  const BlockInfo& info = core_.pool.info(block);
  std::optional<double> score;
  std::vector<Candidate> others;
  for (const Candidate& one : ranked_) {
    if (one.block == block) {
      score = one.score;
    } else {
      others.push_back(one);
    }
  }
  const std::string by_policy = core_.config.gc.policy + " chose it";
  const std::string_view why = info.failed                      ? "a program of it has failed"
                               : info.mode == BlockMode::slc    ? "in SLC mode, to be folded"
                               : ranked_.empty() && !by_policy_ ? "left by an earlier collection"
                                                                : std::string_view(by_policy);
  note(core_.hw, {.kind = DecisionKind::gc,
                  .what = "victim",
                  .why = why,
                  .pu = pu,
                  .block = block,
                  .valid = info.valid,
                  .score = score,
                  .others = others});
}

BlockNumber GcWorker::take_victim(std::uint32_t pu) {
  constexpr std::size_t k_ranked = 4;
  by_policy_ = true;
  if (wanted(core_.hw, DecisionKind::gc)) core_.victims->rank(pu, k_ranked, ranked_);
  const BlockNumber block = core_.pool.take_victim(pu);
  if (block == k_no_block) return block;
  ++core_.stats.gc_victims;
  core_.stats.gc_victim_valid += core_.pool.info(block).valid;
  for (Feature* const feature : core_.hooks.victim) feature->on_victim(pu, block);
  return block;
}

// Takes up a whole block that wear levelling or a feature wants moved.
bool GcWorker::start_move(std::uint32_t pu, Work& work) {
  const bool check_wear = std::exchange(work.check_wear, false);
  if (work.moving != Purpose::gc) return false;
  if (check_wear && may_move(pu)) {
    const BlockNumber block = core_.wear->due(pu, core_.pool);
    if (block != k_no_block) {
      stop(pu, work);
      take_over(block, work);
      work.moving = Purpose::wear;
      ++core_.stats.wear_moves;
      tell_move(DecisionKind::wear, "moved as a whole", core_.config.wear.policy, block);
      return true;
    }
  }
  while (move_waits(pu)) {
    if (start_feature_move(pu, work)) return true;
  }
  return false;
}

void GcWorker::tell_move(DecisionKind kind, std::string_view what, std::string_view why,
                         BlockNumber block) const {
  if (!wanted(core_.hw, kind)) return;
  note(core_.hw, {.kind = kind,
                  .what = what,
                  .why = why,
                  .pu = core_.layout.pu_of(block),
                  .block = block,
                  .valid = core_.pool.info(block).valid,
                  .score = core_.pool.worn(block)});
}

// False: what was next is no longer there.
bool GcWorker::start_feature_move(std::uint32_t pu, Work& work) {
  const Move move = core_.hooks.take_move(pu, may_move(pu));
  if (move.block == k_no_block) return false;
  stop(pu, work);
  if (move.whole) {
    if (!take_over(move.block, work)) return false;
    ++core_.stats.moves[static_cast<std::size_t>(move.purpose)];
    tell_move(DecisionKind::move, "block written anew", move.why, move.block);
  } else {
    start_block(move.block, work);
    work.cursor = move.first;
    work.end = move.end;
    work.part = true;
    ++core_.stats.part_moves[static_cast<std::size_t>(move.purpose)];
    tell_move(DecisionKind::move, "part of a block written anew", move.why, move.block);
    if (core_.pool.pu(pu).free < background_start_) work.background = true;
  }
  work.moving = move.purpose;
  return true;
}

// False: the block has nothing left that could be moved.
bool GcWorker::take_over(BlockNumber block, Work& work) {
  if (core_.pool.info(block).state == BlockState::closed) {
    core_.pool.take_closed(block);
  } else {
    const auto left = std::find(work.unfinished.begin(), work.unfinished.end(), block);
    if (left == work.unfinished.end()) return false;
    work.unfinished.erase(left);
  }
  start_block(block, work);
  return true;
}

// ----------------------------------------------------------------------------------------------------------------- the worker

void GcWorker::kick(std::uint32_t pu) {
  Work& work = work_[pu];
  if (work.running || core_.read_only) return;
  if (!wants_more(pu, work)) {
    if (work.lines.slc_waits()) wake(pu);
    return;
  }
  work.running = true;
  ++running_;
  tasks_.start(clean(pu));
}

/// What a victim has been chosen from, for cores whose cycles depend on it.
void GcWorker::describe_choice(std::uint32_t pu) const {
  std::uint32_t closed = 1;  // the victim
  for (std::uint32_t n = 0; n < core_.layout.blocks; ++n) {
    const BlockNumber block(pu * core_.layout.blocks + n);
    if (core_.pool.used(block) && core_.pool.info(block).state == BlockState::closed) ++closed;
  }
  core_.hw.cpu.describe(Stage::gc, {.candidates = closed});
}

Task<> GcWorker::clean(std::uint32_t pu) {
  Work& work = work_[pu];
  for (;;) {
    const Step step = next_step(pu, work);
    if (step == Step::stop) break;
    if (step == Step::wait) {
      co_await Sleep{work};
    } else if (step == Step::erase) {
      co_await erase(pu, work.empty);
    } else if (step == Step::launch) {
      co_await RunStage(core_.hw, Stage::flash, nullptr);
      if (may_launch(pu, work)) launch(pu, work);
    } else if (step == Step::prepare || step == Step::give_back) {
      co_await change_mode(pu, step == Step::prepare ? BlockMode::slc : BlockMode::native);
    } else if (step == Step::copy) {
      if (work.cursor == 0 && core_.hw.cpu.by_work()) describe_choice(pu);
      co_await RunStage(core_.hw, Stage::gc, nullptr,
                        core_.layout.program_units + (work.cursor == 0 ? 1 : 0));
      co_await RunStage(core_.hw, Stage::flash, nullptr);
      if (core_.pool.can_fold(pu)) launch_copy(pu, work);
    } else {
      ReadList reads;
      const std::uint32_t first = work.cursor == 0 ? 1 : 0;
      const std::uint32_t units = make_reads(work, reads);
      if (first > 0 && core_.hw.cpu.by_work()) describe_choice(pu);
      co_await RunStage(core_.hw, Stage::gc, nullptr, std::max(1U, units + first));
      if (reads.empty()) continue;
      core_.resolve(reads);
      co_await RunStage(core_.hw, Stage::flash, nullptr, reads.size());
      Latch latch;
      const bool folding =
          core_.pslc && work.moving == Purpose::gc && core_.pool.mode(reads.front()->block) == BlockMode::slc;
      const Purpose purpose = folding ? Purpose::migration : work.moving;
      for (ReadOp& read : reads) {
        read.op.buffer_address = core_.map->dram_bytes();
        core_.start_read(read, latch, purpose, nullptr, false);
      }
      co_await latch;
      prefetch(reads);
      work.mp_pages = std::move(reads);
    }
  }
  stop(pu, work);
  work.running = false;
  --running_;
  // A block whose last programs are under way may yet have something to give: flusher::end() kicks
  // again.
  const bool still = core_.pool.pu(pu).in_flight == 0;
  if (still && native_stuck(pu, work)) {
    work.exhausted = true;
    work.exhausted_stale = reclaimable(pu);
  }
  if (still && work.lines.slc_waits() && !core_.pslc->claimable(pu)) {
    work.slc_exhausted = true;
    work.slc_exhausted_state = slc_state(pu);
  }
  wake(pu);
  for (Feature* const feature : core_.hooks.collected) feature->on_collected(pu);
  core_.events.settled();
}

// Leaves everything that is not on its way where it was; the next run begins with it.
void GcWorker::stop(std::uint32_t /*pu*/, Work& work) {
  while (!work.mp_pages.empty()) core_.end_read(work.mp_pages.pop());
  const auto drop = [&](ProgramJob*& filling, std::vector<BlockNumber>& scanned) {
    if (filling != nullptr) core_.jobs.give(*filling);
    filling = nullptr;
    work.unfinished.insert(work.unfinished.end(), scanned.begin(), scanned.end());
    scanned.clear();
  };
  drop(work.filling, work.scanned);
  for (Gathering& other : work.parked) drop(other.filling, other.scanned);
  if (work.current != k_no_block && !work.part) work.unfinished.push_back(work.current);
  work.current = k_no_block;
  work.moving = Purpose::gc;
}

// --------------------------------------------------------------------------------------------------------------------- waiting

void GcWorker::wake(std::uint32_t pu) {
  Work& work = work_[pu];
  work.lines.wake(
      core_.hw.event_queue,
      [&] { return core_.read_only || core_.pslc->claimable(pu) || slc_exhausted(pu); },
      [&](WriteTarget target) {
        return core_.read_only || work.exhausted || core_.pool.can_claim(pu, target);
      });
}

void GcWorker::wake_worker(Work& work) {
  if (work.worker) core_.hw.event_queue.soon(std::exchange(work.worker, nullptr));
}

void GcWorker::unpinned(std::uint32_t pu, BlockNumber block) {
  if (work_[pu].pinned == block) wake_worker(work_[pu]);
}

void GcWorker::low(std::uint32_t pu) {
  Work& work = work_[pu];
  if (core_.pool.pu(pu).free < background_start_) work.background = true;
  kick(pu);
}

void GcWorker::set_idle(bool idle) {
  idle_ = idle;
  if (!idle) return;
  for (std::uint32_t pu = 0; pu < work_.size(); ++pu) kick(pu);
}

void GcWorker::now_read_only() {
  for (std::uint32_t pu = 0; pu < work_.size(); ++pu) wake(pu);
}

void GcWorker::archive(Archive& a) {
  for (Work& work : work_) {
    a(work.background);
    a(work.folding);
    a(work.native_turn);
    a(work.check_wear);
    a(work.exhausted);
    a(work.slc_exhausted);
    a(work.exhausted_stale);
    a(work.slc_exhausted_state);
    a(work.unfinished);
  }
}

}  // namespace tlmssd::firmware
