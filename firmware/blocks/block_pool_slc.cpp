// The BlockPool's blocks in SLC mode: which are ready, written and emptied, and how they come from and go back to native mode.
#include <algorithm>

#include "firmware/blocks/block_pool.h"
#include "firmware/pslc/slc_victims.h"

namespace tlmssd::firmware {

BlockNumber BlockPool::take_ready(std::uint32_t n) {
  auto& heap = ready_[n];
  if (heap.empty()) broken("no block ready in SLC mode in group", n);
  std::pop_heap(heap.begin(), heap.end());
  const BlockNumber block = heap.back().block;
  heap.pop_back();
  Kind& of = kind(n, block);
  --of.ready;
  ++of.used;
  return block;
}

PhysicalUnit BlockPool::claim_slc(std::uint32_t n, std::int64_t now) {
  SlcGroup& group = slc_[n];
  if (group.open == k_no_block) {
    group.open = take_ready(n);
    group.next = 0;
    info_[group.open].state = BlockState::open;
    info_[group.open].full = false;
    info_[group.open].written = now;
  }
  BlockInfo& info = info_[group.open];
  const PhysicalUnit unit = layout_.first_unit(group.open) + group.next * layout_.row_units;
  ++info.in_flight;
  ++groups_[n].in_flight;
  if (++group.next == layout_.slc_rows) {
    info.full = true;
    group.open = k_no_block;
  }
  return unit;
}

BlockNumber BlockPool::take_to_prepare(std::uint32_t n) {
  SlcGroup& group = slc_[n];
  const BlockNumber block =
      group.raw > 0 ? n * layout_.blocks + options_.fixed - group.raw-- : take_free(n, false);
  info_[block].state = BlockState::victim;
  return block;
}

BlockNumber BlockPool::take_to_return(std::uint32_t n) {
  auto& heap = ready_[n];
  const auto found =
      std::find_if(heap.begin(), heap.end(), [this](const Free& f) { return !is_fixed(f.block); });
  if (found == heap.end()) broken("no borrowed block ready in group", n);
  const BlockNumber block = found->block;
  *found = heap.back();
  heap.pop_back();
  std::make_heap(heap.begin(), heap.end());
  Kind& of = kind(n, block);
  --of.ready;
  ++of.used;
  info_[block].state = BlockState::victim;
  return block;
}

BlockNumber BlockPool::take_slc_victim(std::uint32_t n, bool borrowed) {
  const BlockNumber block = slc_victims_->select(n, borrowed, *this);
  if (block == k_no_block) return block;
  --kind(n, block).closed;
  info_[block].state = BlockState::victim;
  slc_[n].stale -= gain(block);
  return block;
}

void BlockPool::invalidated_in_slc(std::uint32_t n, BlockNumber block) {
  const bool fixed = is_fixed(block);
  if (!fixed) ++slc_[n].stale;
  slc_victims_->invalidated(n, block, info_[block].valid, fixed);
}

BlockPool::SlcCounts BlockPool::slc_counts() const {
  SlcCounts counts;
  for (std::uint32_t n = 0; n < slc_.size(); ++n) {
    for (BlockNumber b = n * layout_.blocks; b < n * layout_.blocks + groups_[n].pristine; ++b) {
      counts.erases += slc_erases_[b];
      if (info_[b].mode == BlockMode::slc) counts.valid += info_[b].valid;
    }
  }
  return counts;
}

}  // namespace tlmssd::firmware
