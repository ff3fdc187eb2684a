// What the host may ask a drive about its pSLC.
#pragma once

#include "models/base/types.h"

namespace tlmssd {

struct PslcRoom {
  Bytes size = 0;  ///< of blocks that may be in SLC mode with the valid data there are now
  Bytes free = 0;  ///< of these, blocks that hold no data
};

}  // namespace tlmssd
