// A unit of flash whose data lie in DRAM as well, or are on their way there.
#pragma once

#include <cstdint>

#include "models/base/content.h"
#include "models/base/task.h"

namespace tlmssd::firmware {

struct FlashCopy {
  const Stamp* stamps = nullptr;  ///< of all sectors of the unit, once they are there
  bool there = false;             ///< they are, or it is known that they are lost
  bool lost = false;              ///< what lies in flash could not be read
  std::uint32_t users = 0;        ///< that have been given it and have not given it back
  WaitQueue waiting;              ///< users that wait for it to be there
};

}  // namespace tlmssd::firmware
