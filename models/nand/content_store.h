// What the pages of all dies of a drive hold: 6 bytes per mapping page at a place that follows from
// its address.
//
// Blocks with the same number lie next to each other over all planes and dies, because that is how
// they are filled: memory is touched densely and the operating system can map it with huge pages.
// Nothing is looked up on the way to a unit, so that a random read costs one cache line, which can
// be fetched ahead. Untouched blocks cost address space only.
#pragma once

#include <algorithm>

#include "models/base/content.h"
#include "models/base/geometry.h"
#include "models/base/sparse_array.h"

namespace tlmssd {

/// Spare area and content of one mapping page.
struct [[gnu::packed]] UnitContent {
  Lpn spare;
  Stamp
      stamp;  ///< of the first logical block; the others follow it, unless the unit is in its block's table of mixed ones
};
static_assert(sizeof(UnitContent) == 6);

class ContentStore {
 public:
  /// For `dies` dies of this shape, the first of which is number `first_die`.
  ContentStore(const Geometry& geometry, std::uint32_t units_per_page, std::uint32_t first_die,
               std::uint32_t dies)
      : block_units_(std::size_t{geometry.pages} * units_per_page),
        planes_(geometry.planes),
        first_die_(first_die),
        dies_(dies),
        units_(block_units_ * geometry.planes * geometry.blocks * dies) {}

  /// The units of a block, page by page.
  UnitContent* block(DieId die, std::uint32_t plane, std::uint32_t block) {
    const std::size_t row = (std::size_t{block} * planes_ + plane) * dies_ + (index(die) - first_die_);
    return &units_[row * block_units_];
  }

 private:
  std::size_t block_units_;
  std::size_t planes_;
  std::size_t first_die_;
  std::size_t dies_;
  ZeroPages<UnitContent, true> units_;
};

}  // namespace tlmssd
