// Which block in SLC mode is emptied next: the one that was written longest ago, or the one with
// the fewest valid units. A block of which nothing is valid any more costs nothing and goes first
// in either order.
//
// Static and dynamic blocks are kept apart, because only emptying a dynamic one gives a block back
// to native mode. O(1) for everything.
#pragma once

#include <algorithm>
#include <cstdint>

#include "firmware/blocks/block_pool.h"
#include "firmware/victims/block_lists.h"

namespace tlmssd::firmware {

class SlcVictims {
 public:
  /// `context.block_units`: of a block in SLC mode.
  SlcVictims(const VictimContext& context, bool emptiest)
      : emptiest_(emptiest), kinds_{ValidBuckets(context), ValidBuckets(context)} {}

  void insert(std::uint32_t pu, BlockNumber block, std::uint32_t valid, bool statics) {
    kinds_[statics ? 1 : 0].push(pu, block, key(valid));
  }
  /// A unit has become invalid; `valid` are left.
  void invalidated(std::uint32_t pu, BlockNumber block, std::uint32_t valid, bool statics) {
    if (key(valid) == key(valid + 1)) return;
    kinds_[statics ? 1 : 0].remove(pu, block, key(valid + 1));
    kinds_[statics ? 1 : 0].push(pu, block, key(valid));
  }
  void remove(std::uint32_t pu, BlockNumber block, std::uint32_t valid, bool statics) {
    kinds_[statics ? 1 : 0].remove(pu, block, key(valid));
  }
  /// Chooses a block and forgets it; `dynamic`: of these only. k_no_block when there is none.
  BlockNumber select(std::uint32_t pu, bool dynamic, const BlockPool& pool) {
    std::uint32_t from = 0;
    std::uint32_t lowest = kinds_[0].lowest(pu);
    BlockNumber block = lowest == ValidBuckets::k_none ? k_no_block : kinds_[0].oldest(pu, lowest);
    const std::uint32_t other = dynamic ? ValidBuckets::k_none : kinds_[1].lowest(pu);
    if (other != ValidBuckets::k_none) {
      const BlockNumber statics = kinds_[1].oldest(pu, other);
      const bool older = block != k_no_block && pool.info(statics).written <= pool.info(block).written;
      if (block == k_no_block || other < lowest || (other == lowest && older)) {
        from = 1;
        lowest = other;
        block = statics;
      }
    }
    if (block != k_no_block) kinds_[from].remove(pu, block, lowest);
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
  ValidBuckets kinds_[2];  ///< dynamic, static
};

}  // namespace tlmssd::firmware
