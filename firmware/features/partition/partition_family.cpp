// The partition policies there are.
#include "firmware/base/make_policy.h"
#include "firmware/features/partition/read_write_partition.h"

namespace tlmssd::firmware {

ReadHotFamily& partition_family() {
  static auto family = ReadHotFamily{}.with<ReadWritePartition>();
  return family;
}

std::vector<PolicyInfo> partition_policies() {
  return with_none(partition_family(), "every die is read and written");
}

}  // namespace tlmssd::firmware
