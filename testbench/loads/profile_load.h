// From a scenario's `profile` to loads: made-up requests, or the recorded volume where a folder of
// traces has it.
#pragma once

#include <string>
#include <vector>

#include "testbench/loads/load.h"

namespace tlmssd {

/// The recording of `volume` in `folder`: NAME.csv, or compressed. Throws InputError when there is
/// none.
std::string recorded_volume(const std::string& volume, const std::string& folder);

/// The recorded volume's trace as a load's configuration.
LoadConfig recorded_load(const LoadConfig& config, const std::string& file);

/// The load of made-up requests. Throws InputError.
Load made_up_load(const LoadConfig& config, const DriveSize& drive, std::uint64_t seed);

}  // namespace tlmssd
