// Which data are read and not written, so that they belong to the read dies:
// the policies of the partition, chosen by name (firmware.partition.policy). The Partition moves
// the data and keeps writes away.
#pragma once

#include "firmware/base/read_hot_policy.h"

namespace tlmssd::firmware {

/// All partition policies by name, without the choice of none.
ReadHotFamily& partition_family();

}  // namespace tlmssd::firmware
