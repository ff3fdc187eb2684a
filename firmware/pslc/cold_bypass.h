// Cold-bypass: data that are known to be cold bypass SLC, where they would end up
// anyhow, and leave the pSLC to the others.
//
// Follows Stoica et al., "Understanding the design trade-offs of hybrid flash controllers" (IEEE
// MASCOTS 2019), as Luo et al. 2022 describe it (section 4.1): which data are cold is known
// beforehand, not found out. Here it is said by address.
#pragma once

#include <cmath>
#include <fmt/format.h>

#include "firmware/pslc/data_path.h"
#include "models/base/input_error.h"

namespace tlmssd::firmware {

struct ColdBypassConfig {
  double cold_from = 0.5;
  double cold_until = 1;
  static const ParameterTable<ColdBypassConfig>& parameters() {
    static const auto table = ParameterTable<ColdBypassConfig>{}
                                  .share("cold_from", &ColdBypassConfig::cold_from, {0, 1},
                                         "share of the user capacity where the cold data begin")
                                  .share("cold_until", &ColdBypassConfig::cold_until, {0, 1},
                                         "share of the user capacity where they end");
    return table;
  }
};

class ColdBypass final : public DataPath {
 public:
  static constexpr std::string_view k_name = "cold-bypass";
  static constexpr std::string_view k_summary =
      "a range of addresses known to be cold bypasses SLC (Stoica et al. 2019)";
  using Config = ColdBypassConfig;

  ColdBypass(const Config& config, const PathContext& context)
      : from_(unit_at(config.cold_from, context)), until_(unit_at(config.cold_until, context)) {
    if (config.cold_from <= config.cold_until) return;
    throw refusal(
        "firmware.pslc.cold_until",
        fmt::format("{:g} % lie before cold_from ({:g} %)", 100 * config.cold_until, 100 * config.cold_from),
        fmt::format("{:g} %", 100 * config.cold_from));
  }
  bool bypasses(Lpn unit, Bytes /*command*/) override { return unit >= from_ && unit < until_; }

 private:
  static std::uint64_t unit_at(double share, const PathContext& context) {
    return static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(context.logical_units)));
  }
  std::uint64_t from_;
  std::uint64_t until_;
};

}  // namespace tlmssd::firmware
