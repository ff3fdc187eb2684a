// Credit: the host may fill as many slots as collection has brought nearer to being free, so that
// free space stays where it is. What is left of the error is corrected in proportion to it: below
// the level that is aimed at the host gets less, above it more (A).
#pragma once

#include <algorithm>

#include "firmware/features/pacing/pacing_policy.h"

namespace tlmssd::firmware {

struct CreditPacingConfig {
  double correction = 1;
  double least = 0.5;
  static const ParameterTable<CreditPacingConfig>& parameters() {
    static const auto table =
        ParameterTable<CreditPacingConfig>{}
            .real("correction", &CreditPacingConfig::correction, {0, 100},
                  "by how much more (less) than what is freed the host may write when there is twice (none "
                  "of) the free space that is aimed at, as a multiple of it")
            .share("least", &CreditPacingConfig::least, {0.01, 1},
                   "of what is freed, the part that the host gets however little is free");
    return table;
  }
};

class CreditPacing final : public PacingPolicy {
 public:
  static constexpr std::string_view k_name = "credit";
  static constexpr std::string_view k_summary = "writes at the rate at which collection frees space";
  using Config = CreditPacingConfig;
  explicit CreditPacing(const Config& config) : config_(config) {}

  [[nodiscard]] double grant(const Progress& progress) override {
    return progress.gained * std::max(1 + config_.correction * (progress.level - 1), config_.least);
  }

 private:
  Config config_;
};

}  // namespace tlmssd::firmware
