// Read-write: data are only read when they have been read so many times, while they were on a list
// of what was read last, and not written meanwhile (Lv et al., "Access characteristic guided
// partition for read performance improvement on solid state drives", DAC 2020, as Luo et al. 2022
// describe it: most data are only read or only written [24]). How Lv et al. tell them apart the
// description leaves open: list and threshold are assumptions (A).
#pragma once

#include "firmware/base/counted_reads.h"
#include "firmware/features/partition/partition_policy.h"

namespace tlmssd::firmware {

struct ReadWritePartitionConfig : CountedReadsConfig {
  static const ParameterTable<ReadWritePartitionConfig>& parameters() {
    static const auto table = counted_reads_parameters<ReadWritePartitionConfig>(
        "reads while the data are on the list and are not written, the present one included, from which on "
        "they are moved");
    return table;
  }
};

class ReadWritePartition final : public CountedReads {
 public:
  static constexpr std::string_view k_name = "read-write";
  static constexpr std::string_view k_summary =
      "data that are read and not written lie on dies that are kept from writes (Lv et al. 2020)";
  using Config = ReadWritePartitionConfig;
  using CountedReads::CountedReads;
};

}  // namespace tlmssd::firmware
