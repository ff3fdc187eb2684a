// LRU-count: a unit is hot when it stands in a list of those written most recently and has been
// written often enough while it stood there; all others are cold and bypass SLC.
//
// Follows Li et al., "Workload-aware elastic striping with hot data identification for SSD RAID
// arrays" (IEEE TCAD 36(5), 2017), as Luo et al. 2022 describe it (section 4.1): an LRU list of
// some length for how recent, a count for how often. Its length and the count asked for are A.
#pragma once

#include <cmath>

#include "firmware/base/access_history.h"
#include "firmware/pslc/data_path.h"

namespace tlmssd::firmware {

struct LruCountConfig {
  double list = 1;
  std::uint32_t writes = 2;
  static const ParameterTable<LruCountConfig>& parameters() {
    static const auto table =
        ParameterTable<LruCountConfig>{}
            .share("list", &LruCountConfig::list, {0, 1000},
                   "length of the list, as a share of the mapping pages that fit into the largest pSLC")
            .integer("writes", &LruCountConfig::writes, {1, 1'000'000},
                     "writes, the present one included, from which on a unit is hot");
    return table;
  }
};

class LruCount final : public DataPath {
 public:
  static constexpr std::string_view k_name = "lru-count";
  static constexpr std::string_view k_summary =
      "what was not written often lately bypasses SLC (Li et al. 2017)";
  using Config = LruCountConfig;

  LruCount(const Config& config, const PathContext& context)
      : writes_(config.writes),
        history_(
            static_cast<std::uint64_t>(std::ceil(config.list * static_cast<double>(context.pool_units)))) {}
  bool bypasses(Lpn unit, Bytes /*command*/) override { return history_.access(unit) < writes_; }
  void report(StatisticsSink& sink) const override {
    sink.value("recent units", history_.size(), "units", "on the list of those written lately");
  }
  void archive(Archive& a) override { history_.archive(a); }

 private:
  std::uint32_t writes_;
  AccessHistory history_;
};

}  // namespace tlmssd::firmware
