// A sequential fill, as the host's side asks for it.
#pragma once

#include <cstdint>

namespace tlmssd::firmware {

/// What the host is about to write, untimed: requests of so many whole mapping pages each, the
/// first from unit 0 on and each behind the one before. No unit has been written before.
struct FillOrder {
  std::uint64_t requests = 0;
  std::uint32_t units = 0;     ///< of a request
  std::uint64_t commands = 1;  ///< in which a request is carried out
};

}  // namespace tlmssd::firmware
