// Which block in SLC mode is emptied next: the one that was written longest ago, or the one with the fewest valid units. A block of
// which nothing is valid any more costs nothing and goes first in either order.
//
// Fixed and borrowed blocks are kept apart, because only emptying a borrowed one gives a block back to native mode. O(1) for everything.
#pragma once

#include <algorithm>
#include <cstdint>

#include "firmware/blocks/block_pool.h"
#include "firmware/gc/block_lists.h"

namespace tlmssd::firmware {

class SlcVictims {
 public:
  /// `context.block_units`: of a block in SLC mode.
  SlcVictims(const VictimContext& context, bool emptiest)
      : emptiest_(emptiest), kinds_{ValidBuckets(context), ValidBuckets(context)} {}

  void insert(std::uint32_t group, BlockNumber block, std::uint32_t valid, bool fixed) {
    kinds_[fixed ? 1 : 0].push(group, block, key(valid));
  }
  /// A unit has become invalid; `valid` are left.
  void invalidated(std::uint32_t group, BlockNumber block, std::uint32_t valid, bool fixed) {
    if (key(valid) == key(valid + 1)) return;
    kinds_[fixed ? 1 : 0].remove(group, block, key(valid + 1));
    kinds_[fixed ? 1 : 0].push(group, block, key(valid));
  }
  void remove(std::uint32_t group, BlockNumber block, std::uint32_t valid, bool fixed) {
    kinds_[fixed ? 1 : 0].remove(group, block, key(valid));
  }
  /// Chooses a block and forgets it; `borrowed`: of these only. k_no_block when there is none.
  BlockNumber select(std::uint32_t group, bool borrowed, const BlockPool& pool) {
    std::uint32_t from = 0;
    std::uint32_t lowest = kinds_[0].lowest(group);
    BlockNumber block = lowest == ValidBuckets::k_none ? k_no_block : kinds_[0].oldest(group, lowest);
    const std::uint32_t other = borrowed ? ValidBuckets::k_none : kinds_[1].lowest(group);
    if (other != ValidBuckets::k_none) {
      const BlockNumber fixed = kinds_[1].oldest(group, other);
      const bool older = block != k_no_block && pool.info(fixed).written <= pool.info(block).written;
      if (block == k_no_block || other < lowest || (other == lowest && older)) {
        from = 1;
        lowest = other;
        block = fixed;
      }
    }
    if (block != k_no_block) kinds_[from].remove(group, block, lowest);
    return block;
  }
  void archive(Archive& a) {
    for (ValidBuckets& kind : kinds_) a(kind);
  }

 private:
  [[nodiscard]] std::uint32_t key(std::uint32_t valid) const {
    return emptiest_ ? valid : std::min(valid, 1U);
  }
  bool emptiest_;
  ValidBuckets kinds_[2];  ///< borrowed, fixed
};

}  // namespace tlmssd::firmware
