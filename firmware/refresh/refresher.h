// Which blocks wait to be refreshed: keeps the history of every block that is read, patrols all of them from time to time, and asks the
// policy. The Collector moves their data.
//
// A patrol rides on the host's commands (firmware wakes up for them) or is called for when time passes without the simulation seeing
// it. Data in a block that is still being written age too: a patrol ends such a block early, so that it can be moved. Memory: 16
// bytes per block read.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "firmware/blocks/block_pool.h"
#include "firmware/refresh/refresh_policy.h"
#include "models/common/archive.h"
#include "models/common/sparse_array.h"

namespace tlmssd::firmware {

class Refresher {
 public:
  Refresher(BlockPool& pool, std::unique_ptr<RefreshPolicy> policy);

  /// A page of `block` has been read at `now` (nanoseconds on firmware's clock). True: the block is due, as it was not before.
  bool read(BlockNumber block, std::uint32_t worst_errors, std::int64_t now);
  [[nodiscard]] bool patrol_due(std::int64_t now) const { return interval_ > 0 && now >= next_patrol_; }
  /// Every page that holds data has been read so many times, without the simulation seeing it.
  void disturb(std::uint32_t reads);
  /// Looks at every block; afterwards waiting() tells of each group whether there is something to do.
  void patrol(std::int64_t now);
  /// Seconds between patrols; 0: none.
  [[nodiscard]] double interval() const { return policy_->patrol(); }

  [[nodiscard]] bool waiting(std::uint32_t group) const { return !waiting_[group].empty(); }
  /// A block of the group whose data are to be moved now, closed or a victim; k_no_block when there is none.
  BlockNumber take(std::uint32_t group);
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
  };
  History& history(BlockNumber block);
  template <class Visit>
  void each_used(Visit visit);
  /// Its data can be moved.
  [[nodiscard]] bool movable(const BlockInfo& info) const;
  bool judge(BlockNumber block, History& history, std::int64_t now);

  BlockPool& pool_;
  std::unique_ptr<RefreshPolicy> policy_;
  std::int64_t interval_;  // nanoseconds
  std::int64_t next_patrol_ = 0;
  ZeroPages<History> history_;
  std::vector<std::vector<Entry>> waiting_;  // by group
};

}  // namespace tlmssd::firmware
