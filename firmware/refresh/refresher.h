// Which blocks wait to be refreshed: keeps the history of every block that is read, patrols all of
// them from time to time, and asks the policy. The GC worker moves their data.
//
// A patrol rides on the host's commands (firmware wakes up for them) or is called for when time
// passes without the simulation seeing it. Data in a block that is still being written age too: a
// patrol ends such a block early, so that it can be moved. Memory: 16 bytes per block read, and 4
// for each region of it where the policy divides blocks.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "firmware/blocks/block_pool.h"
#include "firmware/refresh/refresh_policy.h"
#include "models/base/archive.h"
#include "models/base/sparse_array.h"

namespace tlmssd::firmware {

class Refresher {
 public:
  /// What is to be moved: units [first, end) of a block, or all that there are in it.
  struct Move {
    BlockNumber block = k_no_block;
    std::uint32_t first = 0;
    std::uint32_t end = 0;
    bool whole = true;
  };
  Refresher(BlockPool& pool, std::unique_ptr<RefreshPolicy> policy);

  /// A page of `block`, in this multi-plane page of it, has been read at `now` (nanoseconds on
  /// firmware's clock). True: the block, or a region of it, is due, as it was not before.
  bool read(BlockNumber block, std::uint32_t mp_page, std::uint32_t worst_errors, std::int64_t now);
  [[nodiscard]] bool patrol_due(std::int64_t now) const { return interval_ > 0 && now >= next_patrol_; }
  /// Every page that holds data has been read so many times, without the simulation seeing it.
  void disturb(std::uint32_t reads);
  /// Looks at every block; afterwards waiting() tells of each parallel unit whether there is
  /// something to do.
  void patrol(std::int64_t now);
  /// Seconds until a patrol finds the first block that is due, if nothing is read or written
  /// meanwhile; blocks that are already due and could not be moved do not count. Infinity: there
  /// will be none.
  [[nodiscard]] double next_due(std::int64_t now);
  /// Seconds between patrols; 0: none.
  [[nodiscard]] double interval() const { return policy_->patrol(); }

  /// Parts of a block whose reads are counted apart; 0: they are counted by block only.
  [[nodiscard]] std::uint32_t regions() const { return regions_; }
  [[nodiscard]] bool waiting(std::uint32_t pu) const { return !waiting_[pu].empty(); }
  /// What is to be moved next in the parallel unit, of a block that is closed or a victim; none
  /// (k_no_block) when there is nothing. A part of a block only where `parts` says that there is
  /// room for it: moving it frees nothing.
  Move take(std::uint32_t pu, bool parts = false);
  void archive(Archive& archive);

 private:
  struct History {
    std::uint32_t erases;  ///< of the block when this was counted: after the next erase it is no longer true
    std::uint32_t reads;
    std::uint32_t worst_errors;
    std::uint32_t queued;
  };
  struct Entry {
    BlockNumber block;
    std::uint32_t erases;
    std::uint32_t region;  ///< or k_whole
  };
  static constexpr std::uint32_t k_whole = ~std::uint32_t{0};
  static constexpr std::uint32_t k_queued =
      ~std::uint32_t{0};  ///< in place of a region's reads: it waits to be moved
  History& history(BlockNumber block);
  template <class Visit>
  void each_used(Visit visit);
  /// Its data can be moved.
  [[nodiscard]] bool movable(const BlockInfo& info) const;
  bool judge(BlockNumber block, History& history, std::int64_t now);
  bool count_region(BlockNumber block, std::uint32_t mp_page);
  bool take_region(const Entry& entry, bool parts);
  [[nodiscard]] std::uint32_t& region_reads(BlockNumber block, std::uint32_t region) {
    return region_reads_[std::size_t{block} * regions_ + region];
  }

  BlockPool& pool_;
  std::unique_ptr<RefreshPolicy> policy_;
  std::int64_t interval_;  // nanoseconds
  std::int64_t next_patrol_ = 0;
  std::uint32_t region_units_;
  std::uint32_t regions_;  // of a block; 0: reads are counted by block only
  ZeroPages<History> history_;
  ZeroPages<std::uint32_t> region_reads_;    // since the block was written or the region was moved
  std::vector<std::vector<Entry>> waiting_;  // by parallel unit
};

}  // namespace tlmssd::firmware
