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
#include "models/base/prefetch.h"
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
        units_(block_units_ * geometry.planes * geometry.blocks * dies),
        written_(std::size_t{geometry.planes} * geometry.blocks * dies / k_word + 1) {}

  /// The units of a block, page by page.
  [[nodiscard]] const UnitContent* block(DieId die, std::uint32_t plane, std::uint32_t block) const {
    return &units_[row_of(die, plane, block) * block_units_];
  }
  /// The same, to write them.
  [[nodiscard]] UnitContent* block_to_write(DieId die, std::uint32_t plane, std::uint32_t block) {
    const std::size_t row = row_of(die, plane, block);
    written_[row / k_word] |= std::uint64_t{1} << row % k_word;
    return &units_[row * block_units_];
  }
  /// Has the processor fetch unit `unit` of a block, if the block was ever written: looking for an
  /// address without memory behind it takes longer than what it is to save.
  void prefetch(DieId die, std::uint32_t plane, std::uint32_t block, std::size_t unit) const {
    const std::size_t row = row_of(die, plane, block);
    if ((written_[row / k_word] >> row % k_word & 1U) != 0) prefetch_line(&units_[row * block_units_ + unit]);
  }

 private:
  static constexpr std::size_t k_word = 64;
  [[nodiscard]] std::size_t row_of(DieId die, std::uint32_t plane, std::uint32_t block) const {
    return (std::size_t{block} * planes_ + plane) * dies_ + (index(die) - first_die_);
  }
  std::size_t block_units_;
  std::size_t planes_;
  std::size_t first_die_;
  std::size_t dies_;
  ZeroPages<UnitContent, true> units_;
  ZeroPages<std::uint64_t> written_;  // a bit per block; never taken back
};

}  // namespace tlmssd
