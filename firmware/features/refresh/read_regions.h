// Read regions: reads are counted by region of a block, and at the limit the region's data alone
// are written anew (after Werner, Cohen & Canepa, US 2014/0136884, as Luo et al. describe it:
// serving a read raises the count of its region; at the limit where disturb occurs the region's
// data go to a free one). The limits by block remain, for the rest of the block is disturbed by the
// same reads and stays where it is: `reads` bounds what it bears.
//
// Left out: that a read disturbs the word lines beside it more than others, which is what makes
// small regions pay in silicon; the models' disturb is even over the block.
#pragma once

#include "firmware/features/refresh/limits.h"

namespace tlmssd::firmware {

struct ReadRegionsConfig : RefreshLimitsConfig {
  std::uint32_t count = 8;
  std::uint32_t region_reads = 50'000;
  static const ParameterTable<ReadRegionsConfig>& parameters() {
    using C = ReadRegionsConfig;
    static const auto table =
        limits(ParameterTable<C>{})
            .integer("regions", &C::count, {1, 65536},
                     "parts of a block whose reads are counted apart; fewer where a part would be less than "
                     "a program unit")
            .integer("region_reads", &C::region_reads, {1, 4'000'000'000},
                     "page reads of a region, since it was written, at which its data are moved; every sense "
                     "counts");
    return table;
  }
};

class ReadRegions final : public RefreshPolicy {
 public:
  static constexpr std::string_view k_name = "read-regions";
  static constexpr std::string_view k_summary =
      "as limits, and parts of a block are moved when they alone have been read so often (Werner et al., "
      "2014)";
  using Config = ReadRegionsConfig;
  explicit ReadRegions(const Config& config) : config_(config) {}
  [[nodiscard]] bool due(const BlockHistory& block) const override { return config_.due(block); }
  [[nodiscard]] double due_in(const BlockHistory& block) const override { return config_.due_in(block); }
  [[nodiscard]] std::uint32_t regions() const override { return config_.count; }
  [[nodiscard]] bool region_due(std::uint32_t reads) const override { return reads >= config_.region_reads; }
  [[nodiscard]] double patrol() const override { return config_.patrol; }

 private:
  Config config_;
};

}  // namespace tlmssd::firmware
