// new-name: raw bit error rate that grows with wear and, logarithmically, with retention. Say here
// where the numbers come from.
#pragma once

#include <cmath>

#include "models/nand/reliability/reliability_model.h"

struct NewTypeConfig {
  double fresh = 1e-5;
  double per_cycle = 1e-7;
  double retention = 1e-4;
  static const tlmssd::ParameterTable<NewTypeConfig>& parameters() {
    static const auto table =
        tlmssd::ParameterTable<NewTypeConfig>{}
            .real("fresh", &NewTypeConfig::fresh, {0, 0.1}, "bit error rate of a fresh page")
            .real("per_cycle", &NewTypeConfig::per_cycle, {0, 0.1}, "what each P/E cycle adds")
            .real("retention", &NewTypeConfig::retention, {0, 0.1},
                  "what each factor of e in (1 + days) adds");
    return table;
  }
};

class NewTypeErrors final : public tlmssd::ReliabilityModel {
 public:
  static constexpr std::string_view k_name = "new-name";
  static constexpr std::string_view k_summary = "errors by wear and the logarithm of retention";
  using Config = NewTypeConfig;
  NewTypeErrors(const Config& config, const tlmssd::NandPart& /*part*/) : config_(config) {}

  // A pure function of `op`: see models/nand/part/array_operation.h for all that is known of it.
  [[nodiscard]] double rber(const tlmssd::ArrayOperation& op) const override {
    return at_most_half(config_.fresh + config_.per_cycle * op.cycles +
                        config_.retention * std::log1p(op.age_days));
  }

 private:
  Config config_;
};
