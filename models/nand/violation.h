// What silicon refuses: a firmware bug that stops the run.
#pragma once

#include <stdexcept>
#include <string>

namespace tlmssd {

/// Names the die, plane, block, page and operation, what is wrong with it, and the die's latest
/// operations.
struct NandViolation : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace tlmssd
