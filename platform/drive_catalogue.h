// The sections of a scenario that describe the drive: `ssd` and `firmware`, gathered from the
// modules' own parameter tables.
#pragma once

#include "platform/scenario/catalogue.h"

namespace tlmssd {

void add_drive_sections(Catalogue& catalogue);

}  // namespace tlmssd
