// Blocked reads: data get a copy when so many reads of them have found their die programming or
// erasing, while they were on a list of what was blocked last and not written meanwhile, and they
// are read again (He, Yu, Zhou, "Improving Update-Intensive Workloads on Flash Disks through
// Exploiting Multi-Chip Parallelism", IEEE TPDS 26(1), 2015; Luo et al. 2022: [22]). Its abstract
// says that frequently blocked pages are replicated. What counts as blocked (any program or erase
// under way or queued, those of the host's data too; no reads), list, threshold and that a write
// makes the count start anew are assumptions (A). Left out: for how long a read was blocked.
#pragma once

#include "firmware/base/counted_reads.h"
#include "firmware/features/replicas/replica_policy.h"

namespace tlmssd::firmware {

struct BlockedReadsConfig : CountedReadsConfig {
  static const ParameterTable<BlockedReadsConfig>& parameters() {
    static const auto table = counted_reads_parameters<BlockedReadsConfig>(
        "blocked reads while the data are on the list, from which on they are copied when they are read",
        "data that the list of what was blocked last remembers");
    return table;
  }
};

class BlockedReads final : public CountedReads {
 public:
  static constexpr std::string_view k_name = "blocked-reads";
  static constexpr std::string_view k_summary =
      "data whose reads often find their die programming or erasing (He et al. 2015)";
  using Config = BlockedReadsConfig;
  using CountedReads::CountedReads;

  void blocked(Lpn unit) override { count(unit); }
  bool read(Lpn unit) override { return enough(counted(unit)); }
};

}  // namespace tlmssd::firmware
