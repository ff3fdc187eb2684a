// Read-write: data are only read when they have been read so many times, while they were on a list of what was read last, and not written meanwhile
// (Lv et al., "Access characteristic guided partition for read performance improvement on solid state drives", DAC 2020, as Luo et al. 2022
// describe it: most data are only read or only written [24]). How Lv et al. tell them apart the description leaves open: list and
// threshold are assumptions (A).
#pragma once

#include "firmware/access_history.h"
#include "firmware/partition/partition_policy.h"

namespace tlmssd::firmware {

struct ReadWritePartitionConfig {
  Bytes list = Bytes{256} << 20U;
  std::uint32_t reads = 2;
  static const ParameterTable<ReadWritePartitionConfig>& parameters() {
    static const auto table = ParameterTable<ReadWritePartitionConfig>{}
                                  .bytes("list", &ReadWritePartitionConfig::list, {512, Bytes{1} << 44U},
                                         "data that the list of what was read last remembers")
                                  .integer("reads", &ReadWritePartitionConfig::reads, {1, 1'000'000},
                                           "reads while the data are on the list and are not written, the "
                                           "present one included, from which on they are moved");
    return table;
  }
};

class ReadWritePartition final : public PartitionPolicy {
 public:
  static constexpr std::string_view k_name = "read-write";
  static constexpr std::string_view k_summary =
      "data that are read and not written lie on dies that are kept from writes (Lv et al. 2020)";
  using Config = ReadWritePartitionConfig;
  ReadWritePartition(const Config& config, const PartitionContext& context)
      : reads_(config.reads), history_(config.list / context.unit_bytes) {}

  bool read(LogicalUnit unit) override { return history_.access(unit) >= reads_; }
  void rewritten(LogicalUnit unit) override { history_.forget(unit); }
  void archive(Archive& a) override { history_.archive(a); }

 private:
  std::uint32_t reads_;
  AccessHistory history_;
};

}  // namespace tlmssd::firmware
