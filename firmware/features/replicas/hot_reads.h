// Hot reads: data get a copy when they have been read so many times while they were on a list of
// what was read last, and not written meanwhile (HotR: Wu et al., "HotR: Alleviating Read/Write
// Interference with Hot Read Data Replication for Flash Storage", DATE 2019; Luo et al. 2022:
// [20]). How HotR itself tells hot data is not in its abstract: list and threshold are assumptions
// (A).
#pragma once

#include "firmware/base/counted_reads.h"
#include "firmware/features/replicas/replica_policy.h"

namespace tlmssd::firmware {

struct HotReadsConfig : CountedReadsConfig {
  HotReadsConfig() { reads = 3; }
  static const ParameterTable<HotReadsConfig>& parameters() {
    static const auto table = counted_reads_parameters<HotReadsConfig>(
        "reads while the data are on the list, the present one included, from which on they are copied");
    return table;
  }
};

class HotReads final : public CountedReads {
 public:
  static constexpr std::string_view k_name = "hot-reads";
  static constexpr std::string_view k_summary =
      "data that are read often, and from the copy while their die writes (HotR, Wu et al. 2019)";
  using Config = HotReadsConfig;
  using CountedReads::CountedReads;
};

}  // namespace tlmssd::firmware
