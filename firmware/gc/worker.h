// Garbage collection, folding, wear levelling and the moves that features ask for: one worker
// coroutine per parallel unit (PuWorker), running only while there is work.
//
// A worker asks its sources of moves (MoveSource) what to read: wear levelling and features, for
// which collection is put back, then failed blocks, blocks in SLC mode and native victims. It reads
// their valid units a multi-plane page at a time (several multi-plane pages under way), collects
// them into whole program units and programs those into the same parallel unit, so that no slot is
// wasted at the end of a victim; a victim is erased once nothing in it is valid. It cleans when
// host data wait for space (foreground), in the background while free blocks are few (background),
// and when the host is idle (idle).
//
// Why it cannot deadlock: the host leaves `low_water` free blocks, the reserve; only what is moved
// takes them. Collection does: between two blocks that it opens it writes a block's worth of units,
// which empties at least one victim, which is erased before the next is opened. Of the other
// sources, failed blocks do, dynamic blocks in SLC mode and, while no host data wait, whole blocks
// of features; wear levelling, parts of blocks and static blocks in SLC mode have to find the
// reserve whole. What they give back, and what makes it whole again, is said in their headers
// (failed_blocks.h, folding.h, feature_moves.h, wear_moves.h).
//
// With blocks in SLC mode (firmware.pslc) valid units of theirs go into native blocks like those of
// other victims, and whatever is erased gets the mode that is needed (slc_modes.h). Host programs
// wait in a line for each mode. Still it cannot deadlock:
//  - Data count against what native blocks can keep wherever they are, so there is native room for
//    all of them, free or to be collected: dynamic blocks hold less than they occupy and
//    are themselves worth collecting.
//  - Copies on the die overtake the program unit that is being filled with what is left of several
//    victims, which keeps these from being erased. They are only made while the reserve is whole;
//    after that everything is read and packed, and the reserve has room for it.
//  - Who waits for native room while the other mode has a block open, or the other way round, finds
//    that block counted as overhead.
//  - Where a line for SLC mode waits and nothing can be done for it (its blocks have failed, or may
//    not be dynamic any more), its programs are sent to native blocks.
//
// A feature may hold collection before it takes another victim (Feature::holds_collection). What is
// held back then waits with it, which no other parallel unit's collection needs; that the feature
// lets each go on in the end is its part.
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
//    the padding fills (WorkerState::gains()).
#pragma once

#include <memory>
#include <vector>

#include "firmware/core/gc_engine.h"
#include "firmware/gc/pu_worker.h"

namespace tlmssd::firmware {

class GcWorker final : public GcEngine {
 public:
  explicit GcWorker(Core& core);

  /// Starts the parallel unit's worker if there is work for it.
  void kick(std::uint32_t pu) override { workers_[pu]->kick(); }
  void program_ended(std::uint32_t pu) override {
    workers_[pu]->kick_if_low();
    if (waiting(pu) > 0) kick(pu);
  }
  /// Host idle: clean all parallel units up to the idle target, until false is said.
  void set_idle(bool idle) override;
  [[nodiscard]] bool idle_mode() const override { return thresholds_.idle; }
  void put_off() override { thresholds_.put_off = true; }
  void go_on(bool timed) override;

  /// Host program units that wait for space in a parallel unit.
  [[nodiscard]] SpaceLines& lines(std::uint32_t pu) { return workers_[pu]->lines(); }
  /// A waiter has taken its place or gone away; the next one's turn.
  void claimed(const ProgramJob& job) {
    PuWorker& worker = *workers_[job.pu];
    if (!worker.lines().must_queue(job)) return;
    worker.wake();
    worker.kick();
  }
  /// Collection of the parallel unit cannot free anything: too many blocks have failed.
  [[nodiscard]] bool exhausted(std::uint32_t pu) const { return workers_[pu]->exhausted(); }
  /// Nothing can be done for programs that wait for room in SLC mode.
  [[nodiscard]] bool slc_exhausted(std::uint32_t pu) const { return workers_[pu]->slc_exhausted(); }

  void unpinned(std::uint32_t pu, BlockNumber block) override { workers_[pu]->unpinned(block); }
  void now_read_only() override {
    for (const auto& worker : workers_) worker->wake();
  }
  [[nodiscard]] bool native_waits(std::uint32_t pu) const override {
    return workers_[pu]->lines().native_waits();
  }
  [[nodiscard]] bool idle() const override { return running_ == 0; }
  [[nodiscard]] bool running(std::uint32_t pu) const override { return workers_[pu]->running(); }
  [[nodiscard]] std::uint32_t waiting(std::uint32_t pu) const override {
    return workers_[pu]->lines().waiting();
  }
  /// Collection of the parallel unit asks the feature that holds it (Feature::holds_collection)
  /// again.
  void look_again(std::uint32_t pu) { workers_[pu]->look_again(); }
  /// Flash has operations of collection, or of moves, in the parallel unit.
  [[nodiscard]] bool busy(std::uint32_t pu) const { return workers_[pu]->busy(); }
  /// Thresholds in blocks, as they came out.
  [[nodiscard]] std::uint32_t background_start() const { return thresholds_.background_start; }
  [[nodiscard]] std::uint32_t background_stop() const { return thresholds_.background_stop; }
  /// A victim whose valid units have been moved in part; the next collection begins with it.
  void leave_unfinished(std::uint32_t pu, BlockNumber block) { workers_[pu]->leave_unfinished(block); }
  void archive(Archive& archive) override {
    for (const auto& worker : workers_) worker->archive(archive);
    archive(thresholds_.put_off);
  }

 private:
  void kick_all();
  void go_on_all();
  EventQueue& event_queue_;
  GcThresholds thresholds_;
  std::uint32_t running_ = 0;
  std::vector<std::unique_ptr<PuWorker>> workers_;  ///< of the parallel units
};

}  // namespace tlmssd::firmware
