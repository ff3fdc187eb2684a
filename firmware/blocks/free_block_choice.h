// Which free block takes data that a feature has moved, where these get blocks of their own
// (WriteTarget::move): asked by the block pool.
#pragma once

#include <cstdint>

#include "firmware/base/layout.h"

namespace tlmssd::firmware {

class FreeBlockChoice {
 public:
  virtual ~FreeBlockChoice() = default;
  /// What speaks against a free block with so many P/E cycles; of two blocks the one with less is
  /// taken.
  [[nodiscard]] virtual double burden(BlockNumber block, std::uint32_t cycles) const = 0;
  /// The data go to `block`, of so many cycles.
  virtual void placed(BlockNumber block, std::uint32_t cycles) = 0;
};

}  // namespace tlmssd::firmware
