// What the decoders say of a read, in more detail than its operation has room for.
#pragma once

#include <cstdint>
#include <vector>

#include "models/base/slot_set.h"

namespace tlmssd {

/// Of what one plane delivered.
struct PlaneVerdict {
  std::uint32_t failed = 0;  ///< frames that could not be decoded
  std::uint32_t worst = 0;   ///< wrong bits of the worst frame
  std::uint32_t wrong = 0;   ///< of all frames
};

struct ReadVerdict {
  SlotSet failed_slots;  ///< with a frame that could not be decoded; none of an uncorrectable read: all
  std::vector<PlaneVerdict> planes;
};

}  // namespace tlmssd
