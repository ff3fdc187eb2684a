// A limit to what the arrays of a drive's dies draw together, as far as reads feel it.
//
// A die works from its command on until its array is done or has been suspended. While as many dies
// as the budget has, or more, program or erase, arrays sense in a mode that draws less and takes
// longer: decided for each sense when its command comes. Programs and erases are not held back. No
// maker publishes such a mode; docs/results/real.md says what speaks for it. Leaves out watts, and
// that a program draws more in some of its pulses than in others.
#pragma once

#include <cmath>
#include <cstdint>

#include "models/base/types.h"

namespace tlmssd {

class PowerBudget {
 public:
  /// `dies`: that may program or erase before reads become slow; `factor`: how many times longer
  /// a slow sense takes, 1 or more.
  PowerBudget(std::uint32_t dies, double factor) : dies_(dies), factor_(factor) {}

  void begin_work() { ++working_; }
  void end_work() { --working_; }
  [[nodiscard]] bool spent() const { return working_ >= dies_; }
  /// Of the array, for a sense that takes `nominal` otherwise.
  [[nodiscard]] Picoseconds slowed(Picoseconds nominal) const {
    return static_cast<Picoseconds>(std::llround(static_cast<double>(nominal) * factor_));
  }

 private:
  std::uint32_t dies_;
  double factor_;
  std::uint32_t working_ = 0;
};

}  // namespace tlmssd
