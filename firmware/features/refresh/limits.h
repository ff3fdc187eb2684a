// Limits: a block's data are moved when they reach an age, when the block has been read so often,
// or when a decoder had to correct so many bits of one frame (remapping-based refresh, Cai et al.,
// ICCD 2012; read reclaim as in most firmware).
#pragma once

#include <limits>

#include "firmware/features/refresh/refresh_policy.h"

namespace tlmssd::firmware {

struct RefreshLimitsConfig {
  double retention = 30 * 86'400.0;
  std::uint32_t reads = 100'000;
  std::uint32_t errors = 0;
  double patrol = 86'400;
  static const ParameterTable<RefreshLimitsConfig>& parameters() {
    static const auto table = limits(ParameterTable<RefreshLimitsConfig>{});
    return table;
  }
  /// Adds them to the table of a configuration that has them among others.
  template <class C>
  static ParameterTable<C>&& limits(ParameterTable<C>&& table) {
    constexpr double k_century = 100 * 365.0 * 86'400;
    using Duration = double C::*;  // members of a base, named as the derived class's own
    using Number = std::uint32_t C::*;
    return std::move(table)
        .duration("retention", Duration{&C::retention}, {0, k_century},
                  "age of a block's oldest data at which they are moved; 0 s: never")
        .integer("reads", Number{&C::reads}, {0, 4'000'000'000},
                 "page reads of a block since it was written at which its data are moved; every sense "
                 "counts, those of soft decoding, of a word line and of retries too; 0: never")
        .integer(
            "errors", Number{&C::errors}, {0, 65535},
            "wrong bits corrected in one frame at which the data of its block are moved; an attempt that "
            "cannot be decoded at the nominal pass voltage counts as more than any, whatever became of the "
            "next; "
            "0: never")
        .duration("patrol", Duration{&C::patrol}, {0, k_century},
                  "time between two looks at the age of all blocks; 0 s: none");
  }
  [[nodiscard]] bool due(const BlockHistory& block) const {
    return (retention > 0 && block.seconds >= retention) || (reads > 0 && block.reads >= reads) ||
           (errors > 0 && block.worst_errors >= errors);
  }
  [[nodiscard]] bool none() const { return retention == 0 && reads == 0 && errors == 0; }
  [[nodiscard]] double due_in(const BlockHistory& block) const {
    if (due(block)) return 0;
    return retention > 0 ? retention - block.seconds : std::numeric_limits<double>::infinity();
  }
};

class RefreshLimits final : public RefreshPolicy {
 public:
  static constexpr std::string_view k_name = "limits";
  static constexpr std::string_view k_summary =
      "by age, by number of reads and by corrected bits (Cai et al., ICCD 2012)";
  using Config = RefreshLimitsConfig;
  explicit RefreshLimits(const Config& config) : config_(config) {}
  [[nodiscard]] bool due(const BlockHistory& block) const override { return config_.due(block); }
  [[nodiscard]] bool never() const override { return config_.none(); }
  [[nodiscard]] double due_in(const BlockHistory& block) const override { return config_.due_in(block); }
  [[nodiscard]] double patrol() const override { return config_.patrol; }

 private:
  Config config_;
};

}  // namespace tlmssd::firmware
