// What users look for in `tlmssd list` by words that the parameters do not say of themselves.
#pragma once

#include <vector>

#include "platform/scenario/reference.h"

namespace tlmssd {

const std::vector<Topic>& scenario_topics();

}  // namespace tlmssd
