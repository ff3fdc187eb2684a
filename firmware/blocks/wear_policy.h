// How wear is spread: the interface of wear-levelling policies, chosen by name
// (firmware.wear.policy).
#pragma once

#include <cstdint>
#include <memory>

#include "firmware/base/layout.h"
#include "models/base/archive.h"
#include "models/base/parameters.h"

namespace tlmssd::firmware {

class BlockPool;

struct WearContext {
  std::uint32_t pus;
  std::uint64_t seed;
  /// A policy that needs no chance may take the number of parallel units alone.
  operator std::uint32_t() const { return pus; }  // NOLINT(google-explicit-constructor)
};

class WearPolicy {
 public:
  virtual ~WearPolicy() = default;
  /// Free blocks are used least worn first, instead of in the order they were freed.
  [[nodiscard]] virtual bool least_worn_first() const = 0;
  /// Cold data are moved: needs a block of its own to write to.
  [[nodiscard]] virtual bool moves_data() const = 0;
  virtual void closed(std::uint32_t /*pu*/, BlockNumber /*block*/, std::uint32_t /*erases*/) {}
  virtual void erased(std::uint32_t /*pu*/, BlockNumber /*block*/, std::uint32_t /*erases*/) {}
  /// A closed block of `pu` whose data should move into a worn block now; k_no_block when wear is
  /// even enough.
  virtual BlockNumber due(std::uint32_t /*pu*/, const BlockPool& /*pool*/) { return k_no_block; }
  virtual void archive(Archive& archive) = 0;
};

using WearFamily = PolicyFamily<WearPolicy, const WearContext&>;
/// All wear-levelling policies by name.
WearFamily& wear_family();

}  // namespace tlmssd::firmware
