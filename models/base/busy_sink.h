// How long the drive's resources have been at work: what their utilisation over time is made of.
#pragma once

#include <cstdint>
#include <string_view>

#include "models/base/types.h"

namespace tlmssd {

class BusySink {
 public:
  virtual ~BusySink() = default;
  /// `parts` resources of a kind have been at work for `time` (picoseconds) together since counting
  /// began; what is booked beyond now is left out. `label`: as reports call the kind
  /// (plain_utilisations()). Every kind is told once, in the same order every time.
  virtual void busy(std::string_view label, Picoseconds time, std::size_t parts) = 0;
};

}  // namespace tlmssd
