// What users look for in `tlmssd list`, or write as keys, in words that the parameters do not say
// of themselves.
#pragma once

#include <vector>

#include "platform/scenario/catalogue.h"

namespace tlmssd {

const std::vector<Topic>& scenario_topics();

}  // namespace tlmssd
