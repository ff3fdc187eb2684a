// Hot reads: data get a copy when they have been read so many times while they were on a list of what was read last, and not written
// meanwhile (HotR: Wu et al., "HotR: Alleviating Read/Write Interference with Hot Read Data Replication for Flash Storage", DATE 2019;
// Luo et al. 2022: [20]). How HotR itself tells hot data is not in its abstract: list and threshold are assumptions (A).
#pragma once

#include "firmware/access_history.h"
#include "firmware/replicas/replica_policy.h"

namespace tlmssd::firmware {

struct HotReadsConfig {
  Bytes list = Bytes{256} << 20U;
  std::uint32_t reads = 3;
  static const ParameterTable<HotReadsConfig>& parameters() {
    static const auto table = ParameterTable<HotReadsConfig>{}
                                  .bytes("list", &HotReadsConfig::list, {512, Bytes{1} << 44U},
                                         "data that the list of what was read last remembers")
                                  .integer("reads", &HotReadsConfig::reads, {1, 1'000'000},
                                           "reads while the data are on the list, the present one included, "
                                           "from which on they are copied");
    return table;
  }
};

class HotReads final : public ReplicaPolicy {
 public:
  static constexpr std::string_view k_name = "hot-reads";
  static constexpr std::string_view k_summary =
      "data that are read often, and from the copy while their die writes (HotR, Wu et al. 2019)";
  using Config = HotReadsConfig;
  HotReads(const Config& config, const ReplicaContext& context)
      : reads_(config.reads), history_(config.list / context.unit_bytes) {}

  bool read(LogicalUnit unit) override { return history_.access(unit) >= reads_; }
  void rewritten(LogicalUnit unit) override { history_.forget(unit); }
  void archive(Archive& a) override { history_.archive(a); }

 private:
  std::uint32_t reads_;
  AccessHistory history_;
};

}  // namespace tlmssd::firmware
