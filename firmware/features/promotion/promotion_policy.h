// Which data in native blocks are read so often that they should be in SLC mode: the policies of
// promotion, chosen by name (firmware.pslc.promotion.policy). The Promoter looks whether there is
// room and copies the data. What the host writes it does not tell them.
#pragma once

#include "firmware/base/read_hot_policy.h"

namespace tlmssd::firmware {

/// All promotion policies by name, without the choice of none.
ReadHotFamily& promotion_family();

}  // namespace tlmssd::firmware
