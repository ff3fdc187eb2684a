// Which data are read, or blocked, so often that a replica of them pays: the policies of replicas,
// chosen by name (firmware.replicas.policy). Replicas makes the copies and finds out when to read
// them; a read of a copy is one of its unit.
#pragma once

#include "firmware/base/read_hot_policy.h"

namespace tlmssd::firmware {

/// All replica policies by name, without the choice of none.
ReadHotFamily& replica_family();

}  // namespace tlmssd::firmware
