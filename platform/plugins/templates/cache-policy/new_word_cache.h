// new-name: the line that came first goes, used or not; reads come in only when asked for.
#pragma once

#include "firmware/cache/lru_policy.h"

struct NewTypeConfig {
  bool reads = false;
  double evict_below_free = 0.05;
  static const tlmssd::ParameterTable<NewTypeConfig>& parameters() {
    static const auto table =
        tlmssd::ParameterTable<NewTypeConfig>{}
            .flag("reads", &NewTypeConfig::reads, "whether data read from flash are copied in")
            .share("evict_below_free", &NewTypeConfig::evict_below_free, {0, 0.9},
                   "free share of the cache at or below which lines are moved to flash");
    return table;
  }
};

// LruPolicy keeps the lines in the order of added() and used(). A policy that keeps them otherwise
// derives from tlmssd::firmware::CachePolicy.
class NewTypeCache final : public tlmssd::firmware::LruPolicy {
 public:
  static constexpr std::string_view k_name = "new-name";
  static constexpr std::string_view k_summary = "all writes; the line that came first goes";
  using Config = NewTypeConfig;
  NewTypeCache(const Config& config, const tlmssd::firmware::CacheContext& context)
      : LruPolicy(context, {}), config_(config) {}

  bool admits_read(tlmssd::Lpn /*unit*/) override { return config_.reads; }
  [[nodiscard]] bool copies_reads() const override { return config_.reads; }
  [[nodiscard]] double keep_free() const override { return config_.evict_below_free; }
  void used(Index /*line*/, bool /*write*/) override {}

 private:
  Config config_;
};
