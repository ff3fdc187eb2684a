// The partition policies there are.
#include "firmware/make_policy.h"
#include "firmware/partition/read_write_partition.h"

namespace tlmssd::firmware {

const ReadHotFamily& partition_family() {
  static const auto family = ReadHotFamily{}.with<ReadWritePartition>();
  return family;
}

std::vector<PolicyInfo> partition_policies() {
  return with_none(partition_family(), "every die is read and written");
}

}  // namespace tlmssd::firmware
