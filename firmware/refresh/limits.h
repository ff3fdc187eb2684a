// Limits: a block's data are moved when they reach an age, when the block has been read so often, or when a decoder had to correct so
// many bits of one frame (remapping-based refresh, Cai et al., ICCD 2012; read reclaim as in most firmware).
#pragma once

#include "firmware/refresh/refresh_policy.h"

namespace tlmssd::firmware {

struct RefreshLimitsConfig {
  double retention = 30 * 86'400.0;
  std::uint32_t reads = 100'000;
  std::uint32_t errors = 0;
  double patrol = 86'400;
  static const ParameterTable<RefreshLimitsConfig>& parameters() {
    using C = RefreshLimitsConfig;
    constexpr double k_century = 100 * 365.0 * 86'400;
    static const auto table =
        ParameterTable<C>{}
            .duration("retention", &C::retention, {0, k_century},
                      "age of a block's oldest data at which they are moved; 0 s: never")
            .integer("reads", &C::reads, {0, 4'000'000'000},
                     "page reads of a block since it was written at which its data are moved; 0: never")
            .integer("errors", &C::errors, {0, 65535},
                     "wrong bits corrected in one frame at which the data of its block are moved; 0: never")
            .duration("patrol", &C::patrol, {0, k_century},
                      "time between two looks at the age of all blocks; 0 s: none");
    return table;
  }
};

class RefreshLimits final : public RefreshPolicy {
 public:
  static constexpr std::string_view k_name = "limits";
  static constexpr std::string_view k_summary =
      "by age, by number of reads and by corrected bits (Cai et al., ICCD 2012)";
  using Config = RefreshLimitsConfig;
  explicit RefreshLimits(const Config& config) : config_(config) {}
  [[nodiscard]] bool due(const BlockHistory& block) const override {
    return (config_.retention > 0 && block.seconds >= config_.retention) ||
           (config_.reads > 0 && block.reads >= config_.reads) ||
           (config_.errors > 0 && block.worst_errors >= config_.errors);
  }
  [[nodiscard]] double patrol() const override { return config_.patrol; }

 private:
  Config config_;
};

}  // namespace tlmssd::firmware
