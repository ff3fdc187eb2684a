// What a drive in steady state is to hold, as its host's side asks for it.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "models/base/content.h"
#include "models/base/types.h"

namespace tlmssd::firmware {

struct SteadyOrder {
  std::uint64_t seed = 1;
  bool sustained = false;  ///< the host has never paused: nothing was collected in the background
  std::uint32_t most_erases = ~std::uint32_t{0};  ///< that a block bears: chance puts no more on one
  /// Fills in the stamps of a mapping page, one per logical block: what it holds, or what it held
  /// before it was last overwritten (`overwritten`).
  std::function<void(Lpn unit, bool overwritten, std::span<Stamp> stamps)> content;
};

}  // namespace tlmssd::firmware
