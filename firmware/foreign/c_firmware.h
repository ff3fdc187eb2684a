// Firmware in plain C (tlmssd_firmware.h) as one of the family: the adapter between its call-backs
// and firmware/base/firmware.h is c_adapter.h.
#pragma once

#include <string>

#include "firmware/foreign/tlmssd_firmware.h"

namespace tlmssd::firmware {

/// Makes it one of firmware_family(). Throws InputError when the struct is not complete, or there
/// is one of its name. `origin`: the plug-in it comes from.
void add_c_firmware(const tlmssd_firmware& firmware, const std::string& origin);

}  // namespace tlmssd::firmware
