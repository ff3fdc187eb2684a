// The seed of a load's random streams.
#pragma once

#include <cstdint>
#include <string>

#include "models/base/random.h"

namespace tlmssd {

/// Its name stands for them: loads of one name ask for the same in step.
inline std::uint64_t load_seed(std::uint64_t seed, const std::string& load) {
  return RandomStream(seed, "load " + load)();
}

}  // namespace tlmssd
