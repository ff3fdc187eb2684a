// Garbage collection, folding, wear levelling and the moves that features ask for: one worker
// coroutine per parallel unit, running only while there is work.
//
// A worker reads the valid units of victims a multi-plane page at a time (several multi-plane pages
// under way), collects them into whole program units and programs those into the same parallel
// unit, so that no slot is wasted at the end of a victim; a victim is erased once nothing in it is
// valid. It cleans when host data wait for space (foreground), in the background while free blocks
// are few (background), and when the host is idle (idle). Failed blocks are emptied and retired;
// blocks that wear levelling or a feature names are moved.
//
// Why it cannot deadlock: the host leaves `low_water` free blocks; collection alone takes them.
// Between two blocks that it opens it writes a block's worth of units, which empties at least one
// victim, which is erased before the next is opened. Moves of features may take them too while no
// host data wait: a block that is moved whole opens one block at most and gives one back. A part of
// a block that is moved gives nothing back, so it only is, and only goes on, while the reserve is
// whole. When it is not, collection makes it whole as long as two blocks' worth of stale units are
// left; when they are not, the part's block is moved whole.
//
// With blocks in SLC mode (firmware.pslc) the same worker folds: their valid units go into native
// blocks like those of other victims, and whatever is erased gets the mode that is needed. Host
// programs wait in a line for each mode. Still it cannot deadlock:
//  - Data count against what native blocks can keep wherever they are, so there is native room for
//    all of them, free or to be collected: blocks that are dynamic hold less than they occupy and
//    are themselves worth collecting.
//  - Folding a dynamic block writes less than a block and gives one back, so it may use the reserve
//    as collection does, and what it gives back goes into native mode as long as the reserve is
//    short.
//  - Folding a static block gives nothing back to native mode. It is only begun, and its units only
//    get a place, while the reserve is whole (BlockPool::can_fold()); otherwise what was read of it
//    is put back, and native blocks, or dynamic ones, are collected first.
//  - Copies on the die overtake the program unit that is being filled with what is left of several
//    victims, which keeps these from being erased. They too are only made while the reserve is
//    whole; after that everything is read and packed, and the reserve has room for it.
//  - Who waits for native room while the other mode has a block open, or the other way round, finds
//    that block counted as overhead.
//  - Where a line for SLC mode waits and nothing can be done for it (its blocks have failed, or may
//    not be dynamic any more), its programs are sent to native blocks.
//
// With placement handles (BlockPool::Options::handles) host programs wait in a line for each,
// because each needs room in its handle's open block. What is free in the others is set aside.
// Where data of a handle stay apart, victims are gathered into a program unit and an open block for
// each handle:
//  - Of each handle the argument above holds by itself: between two blocks that collection opens
//    for it, one of its victims is erased. Until then it may have opened one for every handle, so
//    the reserve has as many blocks more.
//  - What is gathered keeps its victims from being erased. When no more is to be found, the program
//    units of all handles are padded, for which there is room set aside, if that frees more than
//    the padding fills (gains()).
#pragma once

#include <string>
#include <vector>

#include "firmware/core/core.h"
#include "firmware/core/gc_engine.h"
#include "firmware/gc/space_lines.h"

namespace tlmssd::firmware {

class GcWorker final : public GcEngine {
 public:
  explicit GcWorker(Core& core);

  /// Starts the parallel unit's worker if there is work for it.
  void kick(std::uint32_t pu) override;
  /// The same, after the pool may have shrunk: starts background cleaning when it is below its
  /// threshold.
  void kick_if_low(std::uint32_t pu) {
    const auto& g = core_.pool.pu(pu);
    if (g.free < background_start_ || core_.pool.grown_bad_waiting(pu) || move_waits(pu) ||
        (core_.pslc && pslc_due(pu)))
      low(pu);
  }
  /// Host idle: clean all parallel units up to the idle target, until false is said.
  void set_idle(bool idle) override;
  [[nodiscard]] bool idle_mode() const override { return idle_; }

  /// Host program units that wait for space in a parallel unit.
  [[nodiscard]] SpaceLines& lines(std::uint32_t pu) { return work_[pu].lines; }
  /// A waiter has taken its place or gone away; the next one's turn.
  void claimed(const ProgramJob& job) {
    if (!lines(job.pu).must_queue(job)) return;
    wake(job.pu);
    kick(job.pu);
  }
  /// Collection of the parallel unit cannot free anything: too many blocks have failed.
  [[nodiscard]] bool exhausted(std::uint32_t pu) const {
    return work_[pu].exhausted && work_[pu].exhausted_stale == reclaimable(pu);
  }

  /// Nothing can be done for programs that wait for room in SLC mode.
  [[nodiscard]] bool slc_exhausted(std::uint32_t pu) const;

  void unpinned(std::uint32_t pu, BlockNumber block) override;
  void now_read_only() override;
  [[nodiscard]] bool idle() const override { return running_ == 0; }
  [[nodiscard]] bool running(std::uint32_t pu) const override { return work_[pu].running; }
  [[nodiscard]] std::uint32_t waiting(std::uint32_t pu) const override { return work_[pu].lines.waiting(); }
  /// Thresholds in blocks, as they came out.
  [[nodiscard]] std::uint32_t background_start() const { return background_start_; }
  [[nodiscard]] std::uint32_t background_stop() const { return background_stop_; }
  /// A victim whose valid units have been moved in part; the next collection begins with it.
  void leave_unfinished(std::uint32_t pu, BlockNumber block) { work_[pu].unfinished.push_back(block); }
  void archive(Archive& archive) override;

 private:
  /// What is being gathered into a program unit, and the victims that it comes from.
  struct Gathering {
    ProgramJob* filling = nullptr;
    std::uint32_t found = 0;
    std::vector<BlockNumber> scanned;
  };
  struct Work {
    explicit Work(std::uint32_t handles) : lines(handles) {}
    SpaceLines lines;
    bool running = false;
    bool background = false;  ///< below the threshold: clean until background_stop
    bool folding = false;     ///< below the threshold: fold until fold_until
    bool check_wear = false;  ///< a block was erased since the wear policy was asked
    bool exhausted = false;
    bool slc_exhausted = false;
    bool native_turn = false;      ///< of two lines that wait, the native one is served next
    Purpose moving = Purpose::gc;  ///< otherwise the current block is being moved for that
    std::uint8_t handle = 0;       ///< whose data are being gathered, if they stay apart
    std::uint32_t jobs = 0;        ///< programs under way
    std::uint64_t exhausted_stale = 0;
    std::uint64_t slc_exhausted_state = 0;
    BlockNumber current = k_no_block;  ///< victim being read
    std::uint32_t cursor = 0;          ///< its next unit to look at
    std::uint32_t end = 0;             ///< behind the last of them
    bool part = false;                 ///< no victim: a closed block that stays so, of which a part is moved
    BlockNumber empty = k_no_block;    ///< victim to be erased next
    std::uint32_t found = 0;           ///< units that were stale in the victims of what is held back
    ProgramJob* filling = nullptr;
    ReadList mp_pages;                    ///< read, not yet taken over
    std::vector<BlockNumber> scanned;     ///< read to the end; some units are not yet on their way
    std::vector<Gathering> parked;        ///< by handle: of those whose turn it is not
    std::vector<BlockNumber> emptying;    ///< everything on its way; erased when nothing in it is valid
    std::vector<BlockNumber> unfinished;  ///< left over from an earlier run; first victims of the next
    std::coroutine_handle<> worker{};     ///< when it waits for a program or a pin
    BlockNumber pinned = k_no_block;      ///< block whose last pin the worker waits for
  };
  /// Sleeps until woken by a program that ended or a read that let go.
  struct Sleep {
    Work& work;
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> handle) const noexcept { work.worker = handle; }
    void await_resume() const noexcept {}
  };
  enum class Step : std::uint8_t { stop, erase, read, launch, wait, prepare, give_back, copy };

  Task<> clean(std::uint32_t pu);
  Task<> erase(std::uint32_t pu, BlockNumber block);
  Task<> program(std::uint32_t pu, ProgramJob& job, Purpose purpose);
  Step next_step(std::uint32_t pu, Work& work);
  Step when_claimable(std::uint32_t pu, const Work& work) const;
  /// Some native line waits, and cannot have what it waits for.
  [[nodiscard]] bool native_stuck(std::uint32_t pu, const Work& work) const {
    return work.lines.native_waits([&](WriteTarget target) { return !core_.pool.can_claim(pu, target); });
  }
  /// Where collection puts what it gathers now.
  [[nodiscard]] WriteTarget moved_to(const Work& work) const {
    return core_.pool.apart() ? moved_target(work.handle) : WriteTarget::gc;
  }
  /// What is gathered from now on is a handle's.
  void gather_for(std::uint8_t handle, Work& work) const;
  /// Takes up what has been gathered of another handle. False: nothing has.
  bool take_up_parked(Work& work) const;
  /// The units being gathered may go into a native block now.
  [[nodiscard]] bool may_launch(std::uint32_t pu, const Work& work) const {
    const WriteTarget target = moved_to(work);
    return frees_nothing(work) ? core_.pool.can_fold(pu, target) : core_.pool.can_claim(pu, target);
  }
  /// What is being gathered comes out of blocks that native mode gets nothing back from.
  [[nodiscard]] static bool frees_nothing(const Work& work) {
    return work.filling->from_fixed || (work.part && work.moving != Purpose::gc);
  }
  /// What waits for a native block cannot have one.
  [[nodiscard]] bool native_wait(std::uint32_t pu, const Work& work) const {
    return work.emptying.empty() && native_stuck(pu, work);
  }
  [[nodiscard]] bool wants_native(std::uint32_t pu, const Work& work) const;
  // ---- blocks in SLC mode (folding.cpp)
  /// Something is to be done for blocks in SLC mode that was not before.
  bool pslc_due(std::uint32_t pu);
  /// Room in SLC mode is waited for, and neither ready nor to be had without folding.
  [[nodiscard]] bool slc_wait(std::uint32_t pu, const Work& work) const;
  [[nodiscard]] bool wants_fold(std::uint32_t pu, const Work& work) const;
  [[nodiscard]] bool has_slc(const std::vector<BlockNumber>& blocks) const;
  [[nodiscard]] Step prepare_step(std::uint32_t pu, const Work& work) const;
  Task<> change_mode(std::uint32_t pu, BlockMode mode);
  BlockNumber choose_by_need(std::uint32_t pu, Work& work);
  BlockNumber take_failed(std::uint32_t pu, Work& work, bool& held_up);
  BlockNumber take_native(std::uint32_t pu, Work& work);
  BlockNumber take_slc(std::uint32_t pu, Work& work, bool dynamic);
  [[nodiscard]] bool copies_next(std::uint32_t pu, const Work& work) const;
  [[nodiscard]] bool holds_of(const ProgramJob& filling, BlockNumber block) const;
  /// Changes with whatever may give folding something to do.
  [[nodiscard]] std::uint64_t slc_state(std::uint32_t pu) const {
    return reclaimable(pu) + (core_.pool.pu(pu).valid << 32U);
  }
  void launch_copy(std::uint32_t pu, Work& work);
  [[nodiscard]] BlockMode mode_after(std::uint32_t pu, BlockNumber block) const;
  [[nodiscard]] double slc_free_share(std::uint32_t pu, const Work& work) const;
  void update_folding(std::uint32_t pu, Work& work);
  [[nodiscard]] bool wants_growth(std::uint32_t pu) const;
  /// The parallel unit can spare the room to move a whole block.
  [[nodiscard]] bool may_move(std::uint32_t pu) const {
    return core_.pool.pu(pu).free > core_.pool.reserve();
  }
  [[nodiscard]] bool move_waits(std::uint32_t pu) const {
    if (core_.hooks.next_move.empty() || !core_.hooks.move_waits(pu) || collects_for_move(pu)) return false;
    // A block that never leaves SLC mode gives nothing back.
    return may_move(pu) || (!core_.pslc && core_.pool.pu(pu).free > 0 && !work_[pu].lines.native_waits());
  }
  /// Collection comes first, because it can make the room that moving a part takes.
  [[nodiscard]] bool collects_for_move(std::uint32_t pu) const {
    return !core_.hooks.next_move.empty() && core_.hooks.moves_parts() && core_.hooks.move_waits(pu) &&
           !may_move(pu) && collectable(pu) >= 2 * std::uint64_t{core_.layout.block_units};
  }
  [[nodiscard]] bool wants_more(std::uint32_t pu, const Work& work) const;
  bool choose(std::uint32_t pu, Work& work);
  BlockNumber choose_victim(std::uint32_t pu, Work& work);
  BlockNumber take_victim(std::uint32_t pu);
  void describe_choice(std::uint32_t pu) const;
  void tell_victim(std::uint32_t pu, BlockNumber block);
  void tell_move(DecisionKind kind, std::string_view what, std::string_view why, BlockNumber block) const;
  bool start_move(std::uint32_t pu, Work& work);
  bool take_over(BlockNumber block, Work& work);
  void start_block(BlockNumber block, Work& work) const;
  [[nodiscard]] bool start_feature_move(std::uint32_t pu, Work& work);
  std::uint32_t make_reads(Work& work, ReadList& reads);
  void read_to_end(Work& work, bool coming);
  void prefetch(const ReadList& reads) const;
  void consume_mp_page(Work& work, std::uint32_t pu);
  void take_over_slot(ProgramJob& job, const ReadOp& read, std::uint32_t at);
  void launch(std::uint32_t pu, Work& work);
  void commit(ProgramJob& job, Purpose purpose);
  void commit_block(const ProgramJob& job);
  void stop(std::uint32_t pu, Work& work);
  bool find_empty(Work& work);
  [[nodiscard]] bool has_failed(const std::vector<BlockNumber>& blocks) const;
  [[nodiscard]] bool gathered_failed(const Work& work) const;
  [[nodiscard]] std::uint64_t stale(BlockNumber block) const;
  [[nodiscard]] std::uint64_t collectable(std::uint32_t pu) const;
  [[nodiscard]] std::uint64_t reclaimable(std::uint32_t pu) const;
  [[nodiscard]] bool gains(std::uint32_t pu) const;
  void low(std::uint32_t pu);
  void wake(std::uint32_t pu);
  void wake_worker(Work& work);

  Core& core_;
  std::uint32_t background_start_ = 0;  ///< free blocks; 0: no background cleaning
  std::uint32_t background_stop_ = 0;
  std::uint32_t idle_target_ = 0;
  bool idle_ = false;
  std::uint32_t running_ = 0;
  std::vector<Work> work_;
  // For the log of decisions:
  std::vector<Candidate> ranked_;  ///< what the victim policy said before it chose
  bool by_policy_ = false;         ///< the last block chosen is the policy's choice
  TaskSet tasks_;
};

}  // namespace tlmssd::firmware
