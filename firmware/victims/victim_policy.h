// Which block to empty next: the interface of victim policies, chosen by name (firmware.gc.policy).
//
// A policy serves all parallel units; it is told of every block that may be chosen and of every
// unit of one that becomes invalid. It must not look at all blocks in select(), and it must not
// change the pool.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "firmware/base/decisions.h"
#include "firmware/base/layout.h"
#include "models/base/archive.h"
#include "models/base/parameters.h"
#include "models/base/random.h"

namespace tlmssd::firmware {

struct VictimContext {
  std::uint32_t pus;
  std::uint32_t blocks;       ///< per parallel unit
  std::uint32_t block_units;  ///< units per block
  std::uint64_t seed;
};

/// How a policy chooses, as the mean-field model of its steady state has it (steady/stationary.h):
/// among the `window` closed blocks written longest ago, the fewest valid units of `draws` drawn by
/// chance. 0: all of them.
struct StationaryChoice {
  std::uint32_t window = 0;
  std::uint32_t draws = 0;
};

class VictimPolicy {
 public:
  virtual ~VictimPolicy() = default;
  /// `block` of `pu` has been written and holds `valid` valid units: it may be chosen from now on.
  virtual void insert(std::uint32_t pu, BlockNumber block, std::uint32_t valid) = 0;
  /// A unit of a block that may be chosen has become invalid; `valid` are left.
  virtual void invalidated(std::uint32_t pu, BlockNumber block, std::uint32_t valid) = 0;
  /// A block that may be chosen, with `valid` valid units, is taken by someone else.
  virtual void remove(std::uint32_t pu, BlockNumber block, std::uint32_t valid) = 0;
  /// Chooses a block and forgets it; k_no_block when there is none worth choosing.
  virtual BlockNumber select(std::uint32_t pu) = 0;
  /// The blocks that select() would choose one after the other, up to `most`, with the figures that
  /// it goes by. Asked for the log of decisions alone; a policy that cannot tell says nothing.
  virtual void rank(std::uint32_t /*pu*/, std::size_t /*most*/, std::vector<Candidate>& /*into*/) const {}
  /// Nothing: there is no model of the policy.
  [[nodiscard]] virtual std::optional<StationaryChoice> stationary() const { return {}; }
  virtual void archive(Archive& archive) = 0;
};

using VictimFamily = PolicyFamily<VictimPolicy, const VictimContext&>;
/// All victim policies by name.
VictimFamily& victim_family();

}  // namespace tlmssd::firmware
