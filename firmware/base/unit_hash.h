// From a logical unit to a small number (an entry, a line): open addressing. Units that follow one
// another lie side by side, eight in a line of the processor's caches, as they come and go
// together. A place that is taken sends to the same place of the next line: were it the next place,
// units that come in whole lines would have to be gone through one by one.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "models/base/mixing.h"
#include "models/base/prefetch.h"
#include "models/base/sparse_array.h"
#include "models/base/types.h"

namespace tlmssd::firmware {

class UnitHash {
 public:
  static constexpr std::uint32_t k_none = 0xFFFFFFFFU;

  /// With room for `expected` units before it has to grow.
  explicit UnitHash(std::uint64_t expected = 0) { size_for(expected); }

  /// What was put under `unit`; k_none when nothing was.
  [[nodiscard]] std::uint32_t find(Lpn unit) const {
    for (std::uint64_t at = home(unit);; at = next(at)) {
      const Place& place = places_[at];
      if (place.value == 0 || place.unit == unit) return place.value - 1;
    }
  }
  /// find() will be asked for `unit` soon.
  void prefetch(Lpn unit) const { prefetch_line(&places_[home(unit)]); }
  /// `unit` must not be there.
  void insert(Lpn unit, std::uint32_t value) {
    // No column of the lines is ever full.
    if (4 * ++counts_[home(unit) % k_together] * k_together > 3 * (mask_ + 1)) grow();
    put(unit, value);
  }
  /// `unit` must be there.
  void replace(Lpn unit, std::uint32_t value) { places_[position(unit)].value = value + 1; }
  void erase(Lpn unit) {
    std::uint64_t hole = position(unit);
    // Close the gap: move up what would not be found beyond it.
    for (std::uint64_t at = next(hole); places_[at].value != 0; at = next(at)) {
      if (((at - home(places_[at].unit)) & mask_) >= ((at - hole) & mask_)) {
        places_[hole] = places_[at];
        hole = at;
      }
    }
    places_[hole] = {};
    --counts_[hole % k_together];
  }

 private:
  struct Place {
    Lpn unit = 0;
    std::uint32_t value = 0;  ///< plus one; 0: none
  };
  static constexpr std::uint64_t k_together = 8;
  /// The column depends on more than the unit's lowest bits: units that are eight apart share none.
  [[nodiscard]] std::uint64_t home(Lpn unit) const {
    const std::uint64_t hash = unit / k_together * k_golden;
    return (hash >> shift_) * k_together + ((unit ^ hash >> 32U) % k_together);
  }
  [[nodiscard]] std::uint64_t next(std::uint64_t at) const { return (at + k_together) & mask_; }
  [[nodiscard]] std::uint64_t position(Lpn unit) const {
    std::uint64_t at = home(unit);
    while (places_[at].unit != unit || places_[at].value == 0) at = next(at);
    return at;
  }
  void put(Lpn unit, std::uint32_t value) {
    std::uint64_t at = home(unit);
    while (places_[at].value != 0) at = next(at);
    places_[at] = {unit, value + 1};
  }
  void size_for(std::uint64_t expected) {
    const std::uint64_t places = std::bit_ceil(std::max(2 * k_together, 2 * expected));
    places_ = ZeroPages<Place>(places);
    mask_ = places - 1;
    shift_ = static_cast<std::uint32_t>(64 - std::countr_zero(places / k_together));
  }
  void grow() {
    const ZeroPages<Place> old = std::move(places_);
    const std::uint64_t end = mask_ + 1;
    size_for(end);
    for (std::uint64_t at = 0; at < end; ++at) {
      if (old[at].value != 0) put(old[at].unit, old[at].value - 1);
    }
  }

  ZeroPages<Place> places_;
  std::uint64_t mask_ = 0;
  std::array<std::uint64_t, k_together> counts_{};  ///< units by column, the same after growing
  std::uint32_t shift_ = 0;                         ///< to the number of a line
};

}  // namespace tlmssd::firmware
