// Which data are read and not written, so that they belong to the dies that are kept for reading: the interface of partition policies, chosen by
// name (firmware.partition.policy).
//
// A policy only judges; the Partition moves the data and keeps writes away. It is told of every mapping unit that a command of the
// host has read from flash, and of every unit that has got other data.
#pragma once

#include <cstdint>
#include <memory>

#include "models/common/archive.h"
#include "models/common/parameters.h"
#include "models/common/types.h"

namespace tlmssd::firmware {

struct PartitionContext {
  Bytes unit_bytes;  ///< of a mapping unit
};

class PartitionPolicy {
 public:
  virtual ~PartitionPolicy() = default;
  /// The host has read `unit`: whether it is to lie among what is only read.
  virtual bool read(LogicalUnit unit) = 0;
  /// `unit` holds other data now, or none.
  virtual void rewritten(LogicalUnit unit) = 0;
  virtual void archive(Archive& archive) = 0;
};

using PartitionFamily = PolicyFamily<PartitionPolicy, const PartitionContext&>;
/// All partition policies by name, without the choice of none.
const PartitionFamily& partition_family();
/// The same for the scenario, "none" first.
std::vector<PolicyInfo> partition_policies();

}  // namespace tlmssd::firmware
