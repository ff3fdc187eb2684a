// What the GC worker of a parallel unit and its sources of moves have in common: what is gathered
// and being read, what is left over, and the accounts that decisions rest on.
#pragma once

#include <algorithm>
#include <vector>

#include "firmware/core/core.h"
#include "firmware/gc/gathering.h"
#include "firmware/gc/space_lines.h"

namespace tlmssd::firmware {

/// Of all parallel units: thresholds in free blocks, as they came out.
struct GcThresholds {
  std::uint32_t background_start = 0;  ///< 0: no background cleaning
  std::uint32_t background_stop = 0;
  std::uint32_t idle_target = 0;
  std::uint32_t good = 0;      ///< blocks that a parallel unit had for native mode when these were made
  std::uint32_t may_fail = 0;  ///< of them, without which background_stop can still be kept free
  bool idle = false;           ///< the host is: the target counts
  bool put_off = false;        ///< what no one waits for is not done now
};

struct WorkerState {
  WorkerState(Core& of, std::uint32_t n, const GcThresholds& all)
      : core(of), pu(n), thresholds(all), lines(of.pool.handles()), gathering(of, n) {}

  /// Something is being moved for wear levelling or a feature, not for collection.
  [[nodiscard]] bool moving() const { return move.purpose != Purpose::gc; }
  /// On whose behalf flash works while the block is emptied and erased: what is collected out of a
  /// block in SLC mode is folded.
  [[nodiscard]] Purpose purpose_for(BlockNumber block) const {
    return !moving() && core.mode_of(block) == BlockMode::slc ? Purpose::migration : move.purpose;
  }
  /// All of the block is going to be moved, and then it is erased for the same purpose.
  void note_emptying(BlockNumber block) {
    end_emptying(block);
    emptied_for.push_back({block, purpose_for(block)});
  }
  /// The block is about to be erased: the purpose that it was emptied for.
  Purpose end_emptying(BlockNumber block) {
    const auto found = std::find_if(emptied_for.begin(), emptied_for.end(),
                                    [&](const EmptiedFor& one) { return one.block == block; });
    if (found == emptied_for.end()) return Purpose::gc;
    const Purpose purpose = found->purpose;
    *found = emptied_for.back();
    emptied_for.pop_back();
    return purpose;
  }
  [[nodiscard]] std::uint32_t free() const { return core.pool.pu(pu).free; }
  /// Free blocks at which background cleaning stops: fewer when failed blocks have taken the room.
  [[nodiscard]] std::uint32_t background_stop() const {
    const std::uint32_t failed = thresholds.good - core.pool.pu(pu).good;
    if (failed <= thresholds.may_fail) return thresholds.background_stop;
    const std::uint32_t less = failed - thresholds.may_fail;
    return thresholds.background_stop > less ? thresholds.background_stop - less : 0;
  }
  [[nodiscard]] bool reserve_whole() const { return free() >= core.pool.reserve(); }
  /// There is room to move a whole block, and the reserve stays whole.
  [[nodiscard]] bool may_move() const { return free() > core.pool.reserve(); }
  /// Something waits for a native block and cannot have it.
  [[nodiscard]] bool native_stuck() const {
    return lines.native_waits([this](WriteTarget target) { return !core.pool.can_claim(pu, target); });
  }
  /// The same, and no block is about to become free.
  [[nodiscard]] bool native_wait() const { return gathering.emptying().empty() && native_stuck(); }
  /// Takes the first unfinished block of which `f(block)` holds; k_no_block when there is none.
  template <class F>
  BlockNumber take_unfinished(F&& f) {
    const auto found = std::find_if(unfinished.begin(), unfinished.end(), f);
    if (found == unfinished.end()) return k_no_block;
    const BlockNumber block = *found;
    unfinished.erase(found);
    return block;
  }

  // ---- invalid units
  [[nodiscard]] std::uint64_t invalid(BlockNumber block) const {
    return core.pool.info(block).failed ? 0 : core.pool.gain(block);
  }
  /// Of the blocks yet to be read.
  [[nodiscard]] std::uint64_t collectable() const {
    std::uint64_t units = core.pool.pu(pu).invalid + (core.pslc ? core.pool.slc(pu).invalid : 0);
    for (const BlockNumber block : unfinished) units += invalid(block);
    return units;
  }
  /// Of those that are being read or are held back as well.
  [[nodiscard]] std::uint64_t reclaimable() const {
    std::uint64_t units = collectable();
    if (move.block != k_no_block && move.whole) units += invalid(move.block);
    gathering.for_each_scanned([&](BlockNumber block) { units += invalid(block); });
    return units;
  }
  /// Whether reading another block brings collection forward. Where little is left to find, it may
  /// be better to write what has been read with padding: else full blocks would be read for its
  /// last units, whose own last units would ask for the next, for ever. On the other hand padding
  /// must free more than it fills: what has been moved out of a victim is no gain, since it lies
  /// elsewhere now.
  [[nodiscard]] bool gains() const {
    const std::uint64_t whole = core.layout.program_units;
    const std::uint64_t more = collectable();
    if (more >= whole || more == 0) return more > 0;
    const Gathering::Rest held = gathering.rest();
    return held.found < held.padding + whole && held.found + more >= whole;
  }

  Core& core;
  const std::uint32_t pu;
  const GcThresholds& thresholds;
  SpaceLines lines;
  Gathering gathering;
  /// Being read: units from `first` on. Its purpose stays until all of it is on its way.
  Move move{.purpose = Purpose::gc};
  struct EmptiedFor {
    BlockNumber block;
    Purpose purpose;
  };
  std::vector<EmptiedFor> emptied_for;  ///< blocks that have not been erased since
  std::vector<BlockNumber> unfinished;  ///< read in part, or not moved; first victims from now on
  bool background = false;              ///< below the threshold: clean until background_stop
};

}  // namespace tlmssd::firmware
