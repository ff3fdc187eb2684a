// From a scenario's `trace` to a load that replays it.
#pragma once

#include <string>

#include "testbench/loads/load.h"

namespace tlmssd {

/// The part of the trace in `path` that `config` asks for. It is read once, and where requests may
/// have to be refused, once more, so that all is found before anything runs. Throws InputError.
Load trace_load(const LoadConfig& config, const DriveSize& drive, const std::string& path);

}  // namespace tlmssd
