// Garbage collection, wear levelling and refresh: one worker coroutine per allocation group, running only while there is work.
//
// A worker reads the valid units of victims a row at a time (several rows under way), collects them into whole program units and
// programs those into the same group, so that no slot is wasted at the end of a victim; a victim is erased once nothing in it is
// valid. It cleans when host data wait for space (foreground), beside the host while free blocks are few (background), and
// when the host is silent (idle). Failed blocks are emptied and retired; blocks that wear levelling or refresh names
// are moved.
//
// Why it cannot deadlock: the host leaves `low_water` free blocks; collection alone takes them. Between two blocks that it
// opens it writes a block's worth of units, which empties at least one victim, which is erased before the next is opened.
// Refresh may take them too while no host data wait: a block that is moved whole opens one block at most and gives one back.
#pragma once

#include <string>
#include <vector>

#include "firmware/core.h"
#include "firmware/gc/reclaimer.h"

namespace tlmssd::firmware {

class Collector final : public Reclaimer {
 public:
  explicit Collector(Core& core);

  /// Starts the group's worker if there is work for it.
  void kick(std::uint32_t group) override;
  /// The same, after the pool may have shrunk: starts background cleaning when it is below its threshold.
  void kick_if_low(std::uint32_t group) {
    const auto& g = core_.pool.group(group);
    if (g.free < background_start_ || core_.pool.doomed_waiting(group) || refresh_waits(group)) low(group);
  }
  /// Host silent: clean all groups up to the idle target, until false is said.
  void set_idle(bool idle) override;
  [[nodiscard]] bool idle_mode() const override { return idle_; }

  // ---- host program units that wait for space in a group, first come first served
  [[nodiscard]] bool must_queue(std::uint32_t group) const { return work_[group].waiting > 0; }
  void wait_begins(std::uint32_t group) { ++work_[group].waiting; }
  void wait_ends(std::uint32_t group) { --work_[group].waiting; }
  [[nodiscard]] WaitQueue& space(std::uint32_t group) { return work_[group].space; }
  void resumed(std::uint32_t group) { work_[group].waking = false; }
  /// A waiter has taken its place or gone away; the next one's turn.
  void claimed(std::uint32_t group) {
    if (work_[group].waiting == 0) return;
    wake(group);
    kick(group);
  }
  /// Collection of the group cannot free anything: too many blocks have failed.
  [[nodiscard]] bool exhausted(std::uint32_t group) const {
    return work_[group].exhausted && work_[group].exhausted_stale == reclaimable(group);
  }

  void unpinned(std::uint32_t group, BlockNumber block) override;
  void now_read_only() override;
  [[nodiscard]] bool idle() const override { return running_ == 0; }
  [[nodiscard]] bool running(std::uint32_t group) const override { return work_[group].running; }
  [[nodiscard]] std::uint32_t waiting(std::uint32_t group) const override { return work_[group].waiting; }
  /// Thresholds in blocks, as they came out.
  [[nodiscard]] std::uint32_t background_start() const { return background_start_; }
  [[nodiscard]] std::uint32_t background_stop() const { return background_stop_; }
  void archive(Archive& archive) override;

 private:
  struct Work {
    bool running = false;
    bool background = false;  ///< below the threshold: clean until background_stop
    bool check_wear = false;  ///< a block was erased since the wear policy was asked
    bool waking = false;      ///< the oldest waiter for space is about to resume
    bool exhausted = false;
    Purpose moving = Purpose::gc;  ///< wear or refresh: the current block is being moved for that
    std::uint32_t waiting = 0;
    std::uint32_t jobs = 0;  ///< programs under way
    std::uint64_t exhausted_stale = 0;
    BlockNumber current = k_no_block;  ///< victim being read
    std::uint32_t cursor = 0;          ///< its next unit to look at
    BlockNumber empty = k_no_block;    ///< victim to be erased next
    ProgramJob* filling = nullptr;
    ReadList rows;                        ///< read, not yet taken over
    std::vector<BlockNumber> scanned;     ///< read to the end; some units are not yet on their way
    std::vector<BlockNumber> emptying;    ///< everything on its way; erased when nothing in it is valid
    std::vector<BlockNumber> unfinished;  ///< left over from an earlier run; first victims of the next
    std::coroutine_handle<> worker{};     ///< when it waits for a program or a pin
    BlockNumber pinned = k_no_block;      ///< block whose last pin the worker waits for
    WaitQueue space;
  };
  /// Sleeps until woken by a program that ended or a read that let go.
  struct Sleep {
    Work& work;
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> handle) const noexcept { work.worker = handle; }
    void await_resume() const noexcept {}
  };
  enum class Step : std::uint8_t { stop, erase, read, launch, wait };

  Task<> clean(std::uint32_t group);
  Task<> erase(std::uint32_t group, BlockNumber block);
  Task<> program(std::uint32_t group, ProgramJob& job, Purpose purpose);
  Step next_step(std::uint32_t group, Work& work);
  Step when_claimable(std::uint32_t group, const Work& work) const;
  /// The group can spare the room to move a whole block.
  [[nodiscard]] bool may_move(std::uint32_t group) const {
    return core_.pool.group(group).free > core_.pool.reserve();
  }
  [[nodiscard]] bool refresh_waits(std::uint32_t group) const {
    if (!core_.refresh || !core_.refresh->waiting(group)) return false;
    return may_move(group) || (core_.pool.group(group).free > 0 && work_[group].waiting == 0);
  }
  [[nodiscard]] bool wants_more(std::uint32_t group, const Work& work) const;
  bool choose(std::uint32_t group, Work& work);
  bool start_move(std::uint32_t group, Work& work);
  bool take_up(BlockNumber block, Work& work);
  std::uint32_t make_reads(std::uint32_t group, Work& work, ReadList& reads);
  void foresee(const ReadList& reads) const;
  void consume_row(Work& work, std::uint32_t group);
  void take_over_slot(ProgramJob& job, const ReadOp& read, std::uint32_t at);
  void launch(std::uint32_t group, Work& work);
  void commit(ProgramJob& job, Purpose purpose);
  void commit_block(const ProgramJob& job);
  void stop(std::uint32_t group, Work& work);
  bool find_empty(Work& work);
  [[nodiscard]] bool has_failed(const std::vector<BlockNumber>& blocks) const;
  [[nodiscard]] std::uint64_t stale(BlockNumber block) const;
  [[nodiscard]] std::uint64_t collectable(std::uint32_t group) const;
  [[nodiscard]] std::uint64_t reclaimable(std::uint32_t group) const;
  [[nodiscard]] bool gains(std::uint32_t group) const;
  void low(std::uint32_t group);
  void wake(std::uint32_t group);
  void wake_worker(Work& work);

  Core& core_;
  std::uint32_t background_start_ = 0;  ///< free blocks; 0: no background cleaning
  std::uint32_t background_stop_ = 0;
  std::uint32_t idle_target_ = 0;
  bool idle_ = false;
  std::uint32_t running_ = 0;
  std::vector<Work> work_;
  TaskSet tasks_;
};

}  // namespace tlmssd::firmware
