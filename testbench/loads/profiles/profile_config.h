// A load made from the published statistics of a volume, as a scenario gives it. Which volume is in
// LoadKindConfig::profile.
#pragma once

#include <string>

#include "models/base/parameters.h"

namespace tlmssd {

struct ProfileConfig {
  double scale = 1;
  std::uint64_t requests = 0;
  std::string traces_folder;
  std::string addresses = "refuse";
  Bytes region_offset = 0;
  Bytes region_size = 0;
  static const ParameterTable<ProfileConfig>& parameters();
};

}  // namespace tlmssd
