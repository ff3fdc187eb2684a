// Drawn data: a share of all data, chosen by lot once and for all, get a copy when they are read,
// however often that is. A null model: what copies do whose data no policy has chosen.
#pragma once

#include "firmware/features/replicas/replica_policy.h"
#include "models/base/mixing.h"

namespace tlmssd::firmware {

struct DrawnDataConfig {
  double share = 0.1;
  static const ParameterTable<DrawnDataConfig>& parameters() {
    static const auto table = ParameterTable<DrawnDataConfig>{}.share(
        "share", &DrawnDataConfig::share, {0, 1}, "share of all data that is drawn");
    return table;
  }
};

class DrawnData final : public ReadHotPolicy {
 public:
  static constexpr std::string_view k_name = "drawn-data";
  static constexpr std::string_view k_summary =
      "a share of all data, drawn by lot: a null model for the others";
  using Config = DrawnDataConfig;
  DrawnData(const DrawnDataConfig& config, const ReadHotContext& /*context*/) : share_(config.share) {}

  bool read(Lpn unit) override {
    return static_cast<double>(mixed(k_golden * (std::uint64_t{unit} + 1)) >> 11U) * 0x1p-53 < share_;
  }

 private:
  double share_;
};

}  // namespace tlmssd::firmware
