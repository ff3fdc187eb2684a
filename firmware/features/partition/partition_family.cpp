// The partition policies there are.
#include "firmware/features/partition/read_write_partition.h"

namespace tlmssd::firmware {

ReadHotFamily& partition_family() {
  static auto family = ReadHotFamily{}.with<ReadWritePartition>();
  return family;
}

}  // namespace tlmssd::firmware
