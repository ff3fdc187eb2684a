// Which data are read so often that a second copy of them pays: the interface of replica policies, chosen by name
// (firmware.replicas.policy).
//
// A policy only judges; Replicas makes the copies and finds out when to read them. It is told of every mapping unit that a command of
// the host has read from flash, be it from the copy, and of every unit that has got other data.
#pragma once

#include <cstdint>
#include <memory>

#include "models/common/archive.h"
#include "models/common/parameters.h"
#include "models/common/types.h"

namespace tlmssd::firmware {

struct ReplicaContext {
  Bytes unit_bytes;  ///< of a mapping unit
};

class ReplicaPolicy {
 public:
  virtual ~ReplicaPolicy() = default;
  /// The host has read `unit`: whether there should be a copy of it.
  virtual bool read(LogicalUnit unit) = 0;
  /// `unit` holds other data now, or none.
  virtual void rewritten(LogicalUnit /*unit*/) {}
  virtual void archive(Archive& /*archive*/) {}
};

using ReplicaFamily = PolicyFamily<ReplicaPolicy, const ReplicaContext&>;
/// All replica policies by name, without the choice of none.
const ReplicaFamily& replica_family();
/// The same for the scenario, "none" first.
std::vector<PolicyInfo> replica_policies();

}  // namespace tlmssd::firmware
