#include "firmware/wear/static.h"

#include <algorithm>

#include "firmware/blocks/block_pool.h"

namespace tlmssd::firmware {

const ParameterTable<StaticWearConfig>& StaticWearConfig::parameters() {
  static const auto table =
      ParameterTable<StaticWearConfig>{}
          .integer("threshold", &StaticWearConfig::threshold, {1, 1'000'000},
                   "difference between the highest erase count of a parallel unit and that of its least "
                   "erased block "
                   "with data, above which that "
                   "block's data are moved")
          .integer("interval", &StaticWearConfig::interval, {1, 1'000'000},
                   "erases in a parallel unit between two such moves, at least; bounds what levelling costs");
  return table;
}

void StaticWearLevelling::closed(std::uint32_t pu, BlockNumber block, std::uint32_t erases) {
  auto& heap = pus_[pu].closed;
  heap.push_back({erases, block});
  std::push_heap(heap.begin(), heap.end());
}

void StaticWearLevelling::erased(std::uint32_t pu, BlockNumber /*block*/, std::uint32_t erases) {
  ParallelUnit& g = pus_[pu];
  g.most = std::max(g.most, erases);
  ++g.since;
}

bool StaticWearLevelling::holds(const Entry& entry, const BlockPool& pool) {
  const BlockInfo& info = pool.info(entry.block);
  return info.state == BlockState::closed && info.mode == BlockMode::native &&
         pool.worn(entry.block) == entry.erases;
}

BlockNumber StaticWearLevelling::due(std::uint32_t pu, const BlockPool& pool) {
  ParallelUnit& g = pus_[pu];
  if (g.since < config_.interval || g.most <= config_.threshold) return k_no_block;
  if (g.closed.size() > g.rebuilt) {
    std::erase_if(g.closed, [&pool](const Entry& entry) { return !holds(entry, pool); });
    std::make_heap(g.closed.begin(), g.closed.end());
    g.rebuilt = static_cast<std::uint32_t>(std::max<std::size_t>(64, 2 * g.closed.size()));
  }
  while (!g.closed.empty() && !holds(g.closed.front(), pool)) {
    std::pop_heap(g.closed.begin(), g.closed.end());
    g.closed.pop_back();
  }
  if (g.closed.empty() || g.most - g.closed.front().erases <= config_.threshold) return k_no_block;
  g.since = 0;
  return g.closed.front().block;
}

void StaticWearLevelling::archive(Archive& a) {
  for (ParallelUnit& pu : pus_) {
    a(pu.closed);
    a(pu.most);
    a(pu.since);
    a(pu.rebuilt);
  }
}

}  // namespace tlmssd::firmware
