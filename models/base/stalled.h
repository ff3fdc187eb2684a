// Something waits for what will never come.
#pragma once

#include <stdexcept>

namespace tlmssd {

/// Commands are outstanding and nothing can complete them, or untimed work does not end by itself.
/// The text says what waits.
struct Stalled : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace tlmssd
