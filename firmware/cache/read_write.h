// Read/write cache: LRU over reads and writes like `lru`, but a unit is taken in by a read only
// when it is read for the second time within a while, so that a scan does not wash the cache out
// (the second-touch rule of 2Q, Johnson & Shasha, VLDB 1994, with a table of recently read units in
// place of its ghost queue).
#pragma once

#include <vector>

#include "firmware/cache/lru_policy.h"
#include "models/base/mixing.h"

namespace tlmssd::firmware {

struct ReadWriteConfig {
  double evict_below_free = 0.05;
  double window = 0.25;
  bool clean_first = true;
  bool second_touch = true;
  static const ParameterTable<ReadWriteConfig>& parameters() {
    static const auto table =
        ParameterTable<ReadWriteConfig>{}
            .share("evict_below_free", &ReadWriteConfig::evict_below_free, {0, 0.9},
                   "free share of the cache at or below which lines are moved to flash")
            .share("window", &ReadWriteConfig::window, {0, 1},
                   "share of the lines, those used longest ago, among which clean ones go first")
            .flag("clean_first", &ReadWriteConfig::clean_first,
                  "within the window, lines that need not be written go first")
            .flag("second_touch", &ReadWriteConfig::second_touch,
                  "copy data read from flash only when their unit was read before, not long ago");
    return table;
  }
};

class ReadWriteCache final : public LruPolicy {
 public:
  static constexpr std::string_view k_name = "read-write";
  static constexpr std::string_view k_summary =
      "all writes, and reads from their second time on; the line used longest ago goes (2Q's rule)";
  using Config = ReadWriteConfig;
  ReadWriteCache(const Config& config, const CacheContext& context)
      : LruPolicy(context, {config.window, config.clean_first, false}),
        keep_free_(config.evict_below_free),
        second_touch_(config.second_touch),
        seen_(std::max<std::uint64_t>(64, context.cache_units), k_no_unit) {}

  bool admits_read(Lpn unit) override {
    if (!second_touch_) return true;
    Lpn& last = seen_[(unit * k_golden >> 16U) % seen_.size()];
    if (last == unit) return true;
    last = unit;
    return false;
  }
  [[nodiscard]] double keep_free() const override { return keep_free_; }
  void archive(Archive& a) override {
    LruPolicy::archive(a);
    a(seen_);
  }

 private:
  double keep_free_;
  bool second_touch_;
  std::vector<Lpn> seen_;  ///< the unit read last in each class of units
};

}  // namespace tlmssd::firmware
