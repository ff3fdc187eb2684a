// Which data in native blocks are read so often that they should be in SLC mode: the interface of promotion policies, chosen by name
// (firmware.pslc.promotion.policy).
//
// A policy only judges; the Promoter looks whether there is room and copies the data. It is told of every mapping unit that a command of
// the host has read from flash, in whichever mode, in the order in which the data arrive.
#pragma once

#include <cstdint>
#include <memory>

#include "models/common/archive.h"
#include "models/common/parameters.h"
#include "models/common/types.h"

namespace tlmssd::firmware {

struct PromotionContext {
  Bytes unit_bytes;  ///< of a mapping unit
};

class PromotionPolicy {
 public:
  virtual ~PromotionPolicy() = default;
  /// The host has read `unit`: whether it is to be in SLC mode from now on.
  virtual bool read(LogicalUnit unit) = 0;
  virtual void archive(Archive& /*archive*/) {}
};

using PromotionFamily = PolicyFamily<PromotionPolicy, const PromotionContext&>;
/// All promotion policies by name, without the choice of none.
const PromotionFamily& promotion_family();
/// The same for the scenario, "none" first.
std::vector<PolicyInfo> promotion_policies();

}  // namespace tlmssd::firmware
