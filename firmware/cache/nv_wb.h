// NV-WB, non-volatile write-back (Okamoto et al., IMW 2015, as used by Fukuchi et al.): all writes
// go to the cache; when free room falls to a share of it, data move to flash in LRU order; data
// read from flash are copied into the cache.
//
// Among the lines used longest ago, clean ones can go first (cold-data eviction) and so can those
// with all sectors present (page-fragmentation control); the published description of the algorithm
// says neither, so both are off unless asked for.
#pragma once

#include "firmware/cache/lru_policy.h"

namespace tlmssd::firmware {

struct NvWbConfig {
  double evict_below_free = 0.2;
  double window = 0.25;
  bool clean_first = false;
  bool complete_first = false;
  static const ParameterTable<NvWbConfig>& parameters() {
    static const auto table =
        ParameterTable<NvWbConfig>{}
            .share("evict_below_free", &NvWbConfig::evict_below_free, {0, 0.9},
                   "free share of the cache at or below which lines are moved to flash")
            .share("window", &NvWbConfig::window, {0, 1},
                   "share of the lines, those used longest ago, among which clean_first and complete_first "
                   "count")
            .flag("clean_first", &NvWbConfig::clean_first,
                  "within the window, lines that need not be written go first (cold-data eviction)")
            .flag("complete_first", &NvWbConfig::complete_first,
                  "within the window, lines with all sectors present go before those that need "
                  "read-modify-write (page-fragmentation control)");
    return table;
  }
};

class NvWbCache : public LruPolicy {
 public:
  static constexpr std::string_view k_name = "nv-wb";
  static constexpr std::string_view k_summary =
      "all writes and what is read from flash, moved to flash when little room is free (Okamoto et al. 2015)";
  using Config = NvWbConfig;
  NvWbCache(const Config& config, const CacheContext& context)
      : LruPolicy(context, {config.window, config.clean_first, config.complete_first}),
        keep_free_(config.evict_below_free) {}
  [[nodiscard]] double keep_free() const override { return keep_free_; }

 private:
  double keep_free_;
};

}  // namespace tlmssd::firmware
