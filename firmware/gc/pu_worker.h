// The GC worker of one parallel unit: a coroutine that runs while there is work (run()). worker.h
// says what it does and why it cannot deadlock.
#pragma once

#include "firmware/gc/failed_blocks.h"
#include "firmware/gc/feature_moves.h"
#include "firmware/gc/folding.h"
#include "firmware/gc/native_victims.h"
#include "firmware/gc/slc_modes.h"
#include "firmware/gc/wear_moves.h"

namespace tlmssd::firmware {

class PuWorker {
 public:
  /// `running` counts the workers that do.
  PuWorker(Core& core, std::uint32_t pu, const GcThresholds& thresholds, std::uint32_t& running)
      : core_(core), pu_(pu), workers_running_(running), state_(core, pu, thresholds) {}
  PuWorker(const PuWorker&) = delete;

  /// Starts if there is work.
  void kick();
  /// The same; background cleaning starts when free blocks are below its threshold.
  void kick_if_low() {
    if (below_start() || core_.pool.grown_bad_waiting(pu_) || features_.urgent() || pslc_due()) {
      if (below_start()) state_.background = true;
      kick();
    }
  }
  /// The same, in any case: it had been put off.
  void go_on() {
    if (below_start()) state_.background = true;
    kick();
  }
  /// Resumes host programs for which there is room now.
  void wake();
  [[nodiscard]] SpaceLines& lines() { return state_.lines; }
  [[nodiscard]] const SpaceLines& lines() const { return state_.lines; }
  [[nodiscard]] bool running() const { return running_; }
  /// Flash has operations of it.
  [[nodiscard]] bool busy() const { return programs_ > 0 || reading_ || erasing_; }
  [[nodiscard]] bool exhausted() const { return exhausted_ && exhausted_at_ == state_.reclaimable(); }
  [[nodiscard]] bool slc_exhausted() const;
  /// Collection that a feature holds asks it again.
  void look_again() {
    if (std::exchange(held_, false)) wake_worker();
  }
  void unpinned(BlockNumber block) {
    if (pinned_ == block) wake_worker();
  }
  void leave_unfinished(BlockNumber block) { state_.unfinished.push_back(block); }
  void archive(Archive& a);

 private:
  /// `co_await`: sleeps until a program has ended or a block is unpinned. False: there was nothing
  /// to wait for.
  struct Sleep {
    std::coroutine_handle<>& sleeper;
    bool nothing = false;
    [[nodiscard]] bool await_ready() const noexcept { return nothing; }
    void await_suspend(std::coroutine_handle<> handle) const noexcept { sleeper = handle; }
    [[nodiscard]] bool await_resume() const noexcept { return !nothing; }
  };
  [[nodiscard]] Sleep program_end() { return {sleeper_, programs_ == 0}; }
  void wake_worker() {
    if (sleeper_) core_.hw.event_queue.soon(std::exchange(sleeper_, nullptr));
  }

  Task<> run();
  void ended();
  // ---- what is to be done
  [[nodiscard]] bool below_start() const { return state_.free() < state_.thresholds.background_start; }
  [[nodiscard]] bool pslc_due();
  [[nodiscard]] bool wants_more() const;
  void begin_moves();
  bool take_over(const Move& move);
  void start(const Move& move);
  [[nodiscard]] bool held() const;
  bool pick();
  [[nodiscard]] Move next_victim();
  [[nodiscard]] bool worth_padding() const;
  void put_back();
  // ---- reading, programming, erasing (moving.cpp)
  Task<> read();
  [[nodiscard]] std::uint32_t make_reads(ReadBatch& reads);
  void read_to_end(bool coming);
  void prefetch(const ReadList& reads) const;
  [[nodiscard]] bool frees_nothing() const;
  [[nodiscard]] WriteTarget target() const;
  [[nodiscard]] bool may_launch() const;
  void launch();
  Task<> program(ProgramJob& job, Purpose purpose, WriteTarget target);
  void commit(ProgramJob& job, Purpose purpose);
  void commit_block(const ProgramJob& job);
  [[nodiscard]] bool copies_next() const;
  Task<> copy();
  void launch_copy();
  Task<> erase(BlockNumber block);
  Task<> change_mode(BlockMode mode);
  [[nodiscard]] bool begins() const;
  /// Changes with whatever may give folding something to do.
  [[nodiscard]] std::uint64_t slc_state() const {
    return state_.reclaimable() + (core_.pool.pu(pu_).valid << 32U);
  }

  Core& core_;
  const std::uint32_t pu_;
  std::uint32_t& workers_running_;
  WorkerState state_;
  FailedBlocks failed_{state_};
  WearMoves wear_{state_};
  FeatureMoves features_{state_};
  Folding folding_{state_};
  SlcModes modes_{state_};
  NativeVictims victims_{state_, features_, modes_, folding_};
  bool running_ = false;
  bool native_turn_ = false;    ///< of two lines that wait, the native one is served next
  bool exhausted_ = false;      ///< nothing could be done for host programs that wait
  bool slc_exhausted_ = false;  ///< the same in SLC mode
  std::uint64_t exhausted_at_ = 0;
  std::uint64_t slc_exhausted_state_ = 0;
  std::uint32_t programs_ = 0;         ///< under way
  bool reading_ = false;               ///< it waits for reads of what it moves
  bool held_ = false;                  ///< it sleeps because a feature holds collection
  bool erasing_ = false;               ///< it waits for an erase
  BlockNumber pinned_ = k_no_block;    ///< block whose last pin the worker waits for
  std::coroutine_handle<> sleeper_{};  ///< the worker, when it waits for a program or a pin
  TaskSet tasks_;
};

}  // namespace tlmssd::firmware
