// SCM as storage: hot data live in the storage-class memory and stay there, everything else lives
// in flash (after Sun et al., IEEE TCAS-I 2014).
//
// A unit is hot when it has been written at least `hot_writes` times lately. Lately is kept by
// small counters that units share by two hashes (the lesser counts) and that are halved whenever as
// many writes have come as the memory holds units (after Hsieh, Kuo & Chang, ACM TOS 2006). Only
// hot units come in; the ones used longest ago move to flash when little room is free. Cold writes
// go to flash through the write buffer, and reads are served from where the data are.
#pragma once

#include <algorithm>
#include <vector>

#include "firmware/cache/lru_policy.h"
#include "models/base/mixing.h"

namespace tlmssd::firmware {

struct ScmStorageConfig {
  std::uint32_t hot_writes = 2;
  double evict_below_free = 0.05;
  static const ParameterTable<ScmStorageConfig>& parameters() {
    static const auto table =
        ParameterTable<ScmStorageConfig>{}
            .integer("hot_writes", &ScmStorageConfig::hot_writes, {1, 255},
                     "writes of a unit, counted lately, from which on it is hot")
            .share("evict_below_free", &ScmStorageConfig::evict_below_free, {0, 0.9},
                   "free share of the memory at or below which the units used longest ago move to flash");
    return table;
  }
};

class ScmStorage final : public LruPolicy {
 public:
  static constexpr std::string_view k_name = "scm-storage";
  static constexpr std::string_view k_summary =
      "storage for units that are written often; cold writes go to flash (Sun et al. 2014)";
  using Config = ScmStorageConfig;
  ScmStorage(const Config& config, const CacheContext& context)
      : LruPolicy(context, {}),
        config_(config),
        period_(std::max<std::uint64_t>(1024, context.cache_units)),
        counters_(std::min(2 * period_, std::max<std::uint64_t>(1024, context.logical_units)), 0) {}

  bool admits_write(Lpn unit) override {
    if (++writes_ == period_) {
      writes_ = 0;
      for (std::uint8_t& count : counters_) count /= 2;
    }
    std::uint8_t& a = counters_[(unit * k_golden >> 16U) % counters_.size()];
    std::uint8_t& b = counters_[(unit * std::uint64_t{0xC2B2AE3D27D4EB4F} >> 16U) % counters_.size()];
    const unsigned count = std::min(a, b) + 1U;
    if (a < 255) ++a;
    if (b < 255 && &a != &b) ++b;
    return count >= config_.hot_writes;
  }
  bool admits_read(Lpn /*unit*/) override { return false; }
  [[nodiscard]] bool copies_reads() const override { return false; }
  [[nodiscard]] double keep_free() const override { return config_.evict_below_free; }
  void archive(Archive& a) override {
    LruPolicy::archive(a);
    a(writes_);
    a(counters_);
  }

 private:
  Config config_;
  std::uint64_t period_;
  std::uint64_t writes_ = 0;
  std::vector<std::uint8_t> counters_;
};

}  // namespace tlmssd::firmware
