#include "firmware/gc/pu_worker.h"

namespace tlmssd::firmware {

// ----------------------------------------------------------------------------------------------------------------- the worker

void PuWorker::kick() {
  if (running_ || core_.read_only) return;
  if (!wants_more()) {
    if (state_.lines.slc_waits()) wake();
    return;
  }
  running_ = true;
  ++workers_running_;
  tasks_.start(run());
}

// Each round does the first thing for which it is time, and looks at everything anew after a wait.
Task<> PuWorker::run() {
  Gathering& gathering = state_.gathering;
  for (bool more = true; more;) {
    if (const BlockNumber empty = gathering.take_empty(); empty != k_no_block) {
      co_await erase(empty);
      continue;
    }
    // A program was given up for want of space: what it carried is still where it was.
    if (programs_ == 0) gathering.leave_unfinished(state_.unfinished);
    if (core_.read_only) {
      more = co_await program_end();
      continue;
    }
    if (programs_ == 0) begin_moves();
    if (state_.background && state_.free() >= state_.background_stop()) state_.background = false;
    folding_.update();
    if (const std::optional<BlockMode> mode = modes_.due()) {
      co_await change_mode(*mode);
      continue;
    }
    if (frees_nothing() && !core_.pool.can_fold(pu_, gathering.target())) {
      // The reserve has become short meanwhile: native blocks first.
      if (!co_await program_end()) put_back();
      continue;
    }
    if (!gathering.full()) {
      if (gathering.has_pages()) {
        gathering.fill(!state_.moving());
        continue;
      }
      if (!wants_more() || programs_ >= core_.config.gc.parallel_copies) {
        more = co_await program_end();
        continue;
      }
      if (state_.move.block != k_no_block) {
        if (copies_next()) {
          co_await copy();
        } else {
          co_await read();
        }
        continue;
      }
      // A choice waits for all programs, so that it does not depend on how long they take.
      if (co_await program_end()) continue;
      if (!state_.moving() && !core_.hooks.holds_collection.empty() && held()) {
        held_ = true;
        static_cast<void>(co_await Sleep{sleeper_});
        continue;
      }
      if (!state_.moving() && pick()) continue;
      // Nothing more is found to be read: what is held back may be worth its padding.
      const bool worth = worth_padding();
      if (!worth || !gathering.holds_some()) {
        if (worth && gathering.resume_parked()) continue;
        more = state_.moving();  // which end here
        state_.move.purpose = Purpose::gc;
        continue;
      }
    }
    if (!may_launch()) {
      more = co_await program_end();
      continue;
    }
    co_await RunStage(core_.hw, Stage::flash, nullptr);
    if (may_launch()) launch();
  }
  ended();
}

void PuWorker::ended() {
  put_back();
  running_ = false;
  --workers_running_;
  // A block whose last programs are under way may yet have something to give: flusher::end() kicks
  // again.
  const bool still = core_.pool.pu(pu_).in_flight == 0;
  if (still && state_.native_stuck()) {
    exhausted_ = true;
    exhausted_at_ = state_.reclaimable();
  }
  if (still && state_.lines.slc_waits() && !core_.pslc->claimable(pu_)) {
    slc_exhausted_ = true;
    slc_exhausted_state_ = slc_state();
  }
  wake();
  for (Feature* const feature : core_.hooks.collected) feature->on_collected(pu_);
  core_.events.work_ended();
}

// ------------------------------------------------------------------------------------------------------------- what is to be done

/// Something is to be done for blocks in SLC mode that was not before.
bool PuWorker::pslc_due() {
  if (!core_.pslc || running_) return false;
  folding_.update();
  return folding_.urgent() || modes_.wants_growth() || modes_.due();
}

bool PuWorker::wants_more() const {
  const BlockNumber reading = state_.move.block;
  return state_.moving() || failed_.urgent() || failed_.gathered() || features_.urgent() ||
         (reading != k_no_block && core_.pool.info(reading).failed) || victims_.urgent() ||
         folding_.urgent() || modes_.due();
}

// Wear levelling and features come before collection, which is put back for them.
void PuWorker::begin_moves() {
  if (wear_.urgent()) {
    if (const Move move = wear_.next(); take_over(move)) return wear_.begun(move);
  }
  while (!state_.moving() && features_.urgent()) {
    if (const Move move = features_.next(); take_over(move)) return features_.begun(move);
  }
}

// False: there is nothing in the block that could be moved.
bool PuWorker::take_over(const Move& move) {
  if (move.block == k_no_block) return false;
  put_back();
  if (move.whole && core_.pool.info(move.block).state == BlockState::closed) {
    core_.pool.take_closed(move.block);
  } else if (move.whole) {
    const auto same = [&](BlockNumber block) { return block == move.block; };
    if (state_.take_unfinished(same) == k_no_block) return false;
  }
  start(move);
  return true;
}

void PuWorker::start(const Move& move) {
  state_.gathering.gather_for(move.block);
  state_.move = move;
  if (!move.whole) return;
  state_.note_emptying(move.block);
  state_.move.first = 0;
  state_.move.end = core_.layout.block_units;
}

// A feature wants collection to wait before it takes another victim.
bool PuWorker::held() const {
  const Hooks::List& hooks = core_.hooks.holds_collection;
  return std::any_of(hooks.begin(), hooks.end(), [this](Feature* f) { return f->holds_collection(pu_); });
}

// Takes up the next victim.
bool PuWorker::pick() {
  const Move move = next_victim();
  if (move.block == k_no_block) return false;
  victims_.tell_victim(move);
  start(move);
  state_.gathering.count(state_.invalid(move.block));
  return true;
}

// Failed blocks first; then those in SLC mode for who waits there, native ones (or dynamic ones)
// for everyone else.
Move PuWorker::next_victim() {
  if (const Move failed = failed_.next(); failed.block != k_no_block) return failed;
  if (!core_.pslc) return victims_.next();
  const bool fold = folding_.urgent();
  bool native_first = state_.native_wait();
  if (native_first && folding_.slc_wait()) native_first = std::exchange(native_turn_, !native_turn_);
  if (fold && !native_first) {
    if (const Move slc = folding_.next(); slc.block != k_no_block) return slc;
  }
  return fold || failed_.urgent() || victims_.urgent() ? victims_.next() : Move{};
}

// Nothing more is found to be read: whether what is held back is to be programmed with padding.
bool PuWorker::worth_padding() const {
  return state_.moving() || failed_.gathered() || state_.reclaimable() >= core_.layout.program_units ||
         (core_.pslc && folding_.gathered() && folding_.urgent());
}

// Leaves everything that is not on its way where it was; the next run begins with it.
void PuWorker::put_back() {
  state_.gathering.put_back(state_.unfinished);
  Move& move = state_.move;
  if (move.block != k_no_block && move.whole) state_.unfinished.push_back(move.block);
  move.block = k_no_block;
  move.purpose = Purpose::gc;
}

// --------------------------------------------------------------------------------------------------------------------- waiting

void PuWorker::wake() {
  state_.lines.wake(
      core_.hw.event_queue,
      [this] { return core_.read_only || core_.pslc->claimable(pu_) || slc_exhausted(); },
      [this](WriteTarget target) {
        return core_.read_only || exhausted_ || core_.pool.can_claim(pu_, target);
      });
}

bool PuWorker::slc_exhausted() const {
  if (core_.pslc->claimable(pu_)) return false;
  if (slc_exhausted_ && slc_exhausted_state_ == slc_state()) return true;
  return !running_ && core_.pool.pu(pu_).in_flight == 0 && !wants_more();
}

void PuWorker::archive(Archive& a) {
  a(state_.background);
  folding_.archive(a);
  a(native_turn_);
  wear_.archive(a);
  a(exhausted_);
  a(slc_exhausted_);
  a(exhausted_at_);
  a(slc_exhausted_state_);
  a(state_.unfinished);
  state_.lines.archive(a);
}

}  // namespace tlmssd::firmware
