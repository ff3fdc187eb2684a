// The BlockPool's blocks in SLC mode: which are ready, written and emptied, and how they come from
// and go back to native mode.
#include <algorithm>

#include "firmware/blocks/block_pool.h"
#include "firmware/blocks/slc_victims.h"

namespace tlmssd::firmware {

BlockNumber BlockPool::take_ready(std::uint32_t n) {
  auto& heap = ready_[n];
  if (heap.empty()) broken("no block ready in SLC mode in parallel unit", n);
  std::pop_heap(heap.begin(), heap.end());
  const BlockNumber block = heap.back().block;
  heap.pop_back();
  Kind& of = kind(n, block);
  --of.ready;
  ++of.used;
  return block;
}

Ppn BlockPool::claim_slc(std::uint32_t n, std::int64_t now) {
  SlcOfPu& pu = slc_[n];
  if (pu.open == k_no_block) {
    pu.open = take_ready(n);
    pu.next = 0;
    info_[pu.open].state = BlockState::open;
    info_[pu.open].full = false;
    info_[pu.open].written = now;
  }
  BlockInfo& info = info_[pu.open];
  const Ppn unit = layout_.first_unit(pu.open) + pu.next * layout_.mp_page_units;
  ++info.programs;
  ++info.in_flight;
  ++pus_[n].in_flight;
  if (++pu.next == layout_.slc_mp_pages) {
    info.full = true;
    pu.open = k_no_block;
  }
  return unit;
}

BlockNumber BlockPool::take_to_prepare(std::uint32_t n) {
  SlcOfPu& pu = slc_[n];
  const BlockNumber block =
      pu.raw > 0 ? BlockNumber(n * layout_.blocks + options_.statics - pu.raw--) : take_free(n, false);
  info_[block].state = BlockState::victim;
  return block;
}

BlockNumber BlockPool::take_to_return(std::uint32_t n) {
  auto& heap = ready_[n];
  const auto found =
      std::find_if(heap.begin(), heap.end(), [this](const Free& f) { return !is_static(f.block); });
  if (found == heap.end()) broken("no dynamic block ready in parallel unit", n);
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

BlockNumber BlockPool::take_slc_victim(std::uint32_t n, bool dynamic) {
  const BlockNumber block = slc_victims_->select(n, dynamic, *this);
  if (block == k_no_block) return block;
  --kind(n, block).closed;
  info_[block].state = BlockState::victim;
  slc_[n].invalid -= gain(block);
  return block;
}

void BlockPool::invalidated_in_slc(std::uint32_t n, BlockNumber block) {
  const bool statics = is_static(block);
  if (!statics) ++slc_[n].invalid;
  slc_victims_->invalidated(n, block, info_[block].valid, statics);
}

BlockPool::Cycles BlockPool::cycles() const {
  Cycles cycles;
  double sum = 0;
  for (std::uint32_t n = 0; n < layout_.pus; ++n) {
    for (std::uint32_t b = 0; b < pus_[n].never_used; ++b) {
      const BlockNumber block(n * layout_.blocks + b);
      const double slc = options_.modes ? slc_erases_[block] : 0;
      const double all = info_[block].erases - slc + slc * options_.slc_wear;
      sum += all;
      cycles.most = std::max(cycles.most, all);
    }
  }
  cycles.mean = sum / (static_cast<double>(layout_.pus) * layout_.blocks);
  return cycles;
}

BlockPool::SlcCounts BlockPool::slc_counts() const {
  SlcCounts counts;
  for (std::uint32_t n = 0; n < slc_.size(); ++n) {
    for (std::uint32_t b = 0; b < pus_[n].never_used; ++b) {
      const BlockNumber block(n * layout_.blocks + b);
      counts.erases += slc_erases_[block];
      if (info_[block].mode == BlockMode::slc) counts.valid += info_[block].valid;
    }
  }
  return counts;
}

}  // namespace tlmssd::firmware
