// CFLRU, clean-first LRU (Park, Jung, Kang, Kim & Lee, CASES 2006): among the lines used longest
// ago, clean ones go before dirty ones, because a clean one costs no program. The paper adapts the
// window to the workload; here it is fixed.
#pragma once

#include "firmware/cache/lru_policy.h"

namespace tlmssd::firmware {

struct CflruConfig {
  double window = 0.25;
  static const ParameterTable<CflruConfig>& parameters() {
    static const auto table = ParameterTable<CflruConfig>{}.share(
        "window", &CflruConfig::window, {0, 1},
        "share of the lines, those used longest ago, among which clean ones go first");
    return table;
  }
};

class CflruCache final : public LruPolicy {
 public:
  static constexpr std::string_view k_name = "cflru";
  static constexpr std::string_view k_summary =
      "write-back cache, clean lines go before dirty ones (Park et al. 2006)";
  using Config = CflruConfig;
  CflruCache(const Config& config, const CacheContext& context)
      : LruPolicy(context, {config.window, true, false}) {}
};

}  // namespace tlmssd::firmware
