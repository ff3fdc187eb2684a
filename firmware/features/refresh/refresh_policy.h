// When data in flash are written anew so that they stay readable: the interface of refresh
// policies, chosen by name (firmware.refresh.policy).
//
// A policy only judges a block, or one of the regions that it divides blocks into; the Refresher
// keeps count and the GC worker moves what is valid in it. It is asked at every read of a block,
// and about every block at each patrol.
#pragma once

#include <cstdint>
#include <memory>

#include "models/base/parameters.h"

namespace tlmssd::firmware {

/// What firmware knows of a block with data.
struct BlockHistory {
  double seconds = 0;              ///< since it was first programmed
  std::uint32_t reads = 0;         ///< page reads since then: senses, however many a read took
  std::uint32_t worst_errors = 0;  ///< most wrong bits corrected in one frame since then
  /// As worst_errors: an attempt with the nominal pass voltage could not be decoded, the first one
  /// or a further one.
  static constexpr std::uint32_t k_undecoded = 0xFFFFFFFF;
};

class RefreshPolicy {
 public:
  virtual ~RefreshPolicy() = default;
  /// The block's data should be moved.
  [[nodiscard]] virtual bool due(const BlockHistory& block) const = 0;
  /// Nothing is ever due, of a block or of a region.
  [[nodiscard]] virtual bool never() const { return false; }
  /// Seconds until due() says so of a block that is neither read nor written meanwhile; 0: it does;
  /// infinity: never.
  [[nodiscard]] virtual double due_in(const BlockHistory& block) const = 0;
  /// Equal parts of a block whose reads are counted apart, each at least a program unit long; 0:
  /// reads are counted by block only.
  [[nodiscard]] virtual std::uint32_t regions() const { return 0; }
  /// The data of a region that has been read so often since its block was written, or since they
  /// were last moved, should be moved.
  [[nodiscard]] virtual bool region_due(std::uint32_t /*reads*/) const { return false; }
  /// Seconds between two patrols of all blocks; 0: none.
  [[nodiscard]] virtual double patrol() const = 0;
};

using RefreshFamily = PolicyFamily<RefreshPolicy>;
/// All refresh policies by name, without the choice of none.
RefreshFamily& refresh_family();

}  // namespace tlmssd::firmware
