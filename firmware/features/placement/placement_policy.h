// Which free block takes data that are read much: the interface of placement policies, chosen by
// name (firmware.placement.policy).
//
// Data that refresh moves because of reads will be read on. With a policy they get an open block of
// their own (WriteTarget::move), and it is the free block that the policy thinks can bear most.
// Without one they go where all moved data go.
#pragma once

#include <cstdint>
#include <memory>

#include "firmware/blocks/free_block_choice.h"
#include "models/base/archive.h"
#include "models/base/parameters.h"
#include "models/base/statistics.h"

namespace tlmssd::firmware {

class PlacementPolicy : public FreeBlockChoice {
 public:
  /// A page of `block` has been read.
  virtual void read(BlockNumber block) = 0;
  virtual void report(StatisticsSink& sink) const = 0;
  virtual void reset_statistics() {}
  virtual void archive(Archive& archive) = 0;
};

/// Made with the number of blocks of all parallel units.
using PlacementFamily = PolicyFamily<PlacementPolicy, std::uint32_t>;
/// All placement policies by name, without the choice of none.
PlacementFamily& placement_family();

}  // namespace tlmssd::firmware
