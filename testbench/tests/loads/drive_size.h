// The drive that most loads of the tests are laid onto.
#pragma once

#include "testbench/loads/requests/placement.h"

namespace tlmssd::test {

inline const DriveSize k_drive{Bytes{64} << 20U, 512};

}  // namespace tlmssd::test
