// What the GC worker of a parallel unit has read and not yet erased: multi-plane pages just read,
// the program unit that their valid units fill, and the blocks that these come from.
//
// A block that has been read to the end is `scanned` while some of its units are not yet on their
// way, then `emptying` until nothing in it is valid any more. Where data of placement handles stay
// apart (BlockPool::apart()), each handle has a program unit of its own; those whose turn it is not
// are parked.
//
// Its part in why nothing can deadlock (worker.h): what is held back keeps its victims from being
// erased, so it is counted (rest()), can be programmed with padding, and can be put back.
#pragma once

#include <algorithm>
#include <vector>

#include "firmware/core/core.h"

namespace tlmssd::firmware {

class Gathering {
 public:
  Gathering(Core& core, std::uint32_t pu) : core_(core), pu_(pu) {
    if (core.pool.apart()) parked_.resize(core.pool.handles());
  }

  // ---- reading
  /// What is read from now on goes into the program unit of the block's handle.
  void gather_for(BlockNumber block) { turn_to(core_.pool.handle(block)); }
  /// What is read now is a victim that gives so many invalid units.
  void count(std::uint64_t invalid);
  /// Has read some multi-plane pages.
  void add(ReadList&& pages) { pages_ = std::move(pages); }
  [[nodiscard]] bool has_pages() const { return !pages_.empty(); }
  /// Takes units of the oldest multi-plane page over into the program unit, as many as fit.
  /// `collects`: for collection, not for a move.
  void fill(bool collects);
  /// Nothing more is to be read of `block` but what is `coming`.
  void read_to_end(BlockNumber block, bool coming);

  // ---- the program unit
  [[nodiscard]] bool holds_some() const { return holds_some(now_); }
  [[nodiscard]] bool full() const {
    return now_.job != nullptr && now_.job->live == core_.layout.program_units;
  }
  /// Where it goes to.
  [[nodiscard]] WriteTarget target() const {
    return core_.pool.apart() ? moved_target(handle_) : WriteTarget::gc;
  }
  [[nodiscard]] bool begun() const { return now_.job != nullptr; }
  /// Some of it comes from a block that never leaves SLC mode.
  [[nodiscard]] bool from_static() const { return now_.job->from_static; }
  /// Hands it out, to be programmed. `reading`: the block of which more is to be read.
  ProgramJob& take(BlockNumber reading);
  /// Goes on with a handle of which something is held back. False: there is none.
  bool resume_parked();

  // ---- blocks
  /// A block in which nothing is valid any more, to be erased; k_no_block when there is none.
  BlockNumber take_empty();
  [[nodiscard]] const std::vector<BlockNumber>& emptying() const { return emptying_; }
  [[nodiscard]] const std::vector<BlockNumber>& scanned() const { return now_.scanned; }
  /// Calls `f(block)` for the scanned blocks of all handles.
  template <class F>
  void for_each_scanned(F&& f) const {
    std::for_each(now_.scanned.begin(), now_.scanned.end(), f);
    for (const Unit& other : parked_) std::for_each(other.scanned.begin(), other.scanned.end(), f);
  }
  /// Of all handles: units that were invalid in the victims of what is held back, and padding that
  /// programming it would take.
  struct Rest {
    std::uint64_t found = 0;
    std::uint64_t padding = 0;
  };
  [[nodiscard]] Rest rest() const;
  /// What was being emptied goes to `unfinished`: a program of it was given up.
  void leave_unfinished(std::vector<BlockNumber>& unfinished) {
    if (emptying_.empty()) return;
    unfinished.insert(unfinished.end(), emptying_.begin(), emptying_.end());
    emptying_.clear();
  }
  /// Leaves everything that is not on its way where it was, and its blocks to `unfinished`.
  void put_back(std::vector<BlockNumber>& unfinished);

 private:
  /// A program unit being filled, and the victims that it comes from.
  struct Unit {
    ProgramJob* job = nullptr;
    std::uint32_t found = 0;
    std::vector<BlockNumber> scanned;
  };
  [[nodiscard]] static bool holds_some(const Unit& unit) { return unit.job != nullptr && unit.job->live > 0; }
  [[nodiscard]] bool holds_of(BlockNumber block) const;
  void turn_to(std::uint8_t handle);
  void count_in_vain(Lpn unit);
  void take_over_slot(ProgramJob& job, const ReadOp& read, std::uint32_t at);

  Core& core_;
  std::uint32_t pu_;
  std::uint8_t handle_ = 0;  ///< whose data are being gathered, if they stay apart
  Unit now_;
  std::vector<Unit> parked_;  ///< by handle
  ReadList pages_;            ///< read, not yet taken over
  std::vector<BlockNumber> emptying_;
};

}  // namespace tlmssd::firmware
