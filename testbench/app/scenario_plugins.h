// The plug-ins that a scenario names: they must be there before the rest of it can be understood.
#pragma once

#include <string>

#include "platform/scenario/scenario.h"

namespace tlmssd {

/// Loads what the key `plugins` of the file names, files in the scenario's folder first. A file
/// that cannot be read or understood is left to the reader of the scenario. InputError, with file
/// and line, when a plug-in cannot be loaded.
void load_plugins_of_scenario(const std::string& path);

/// InputError when the scenario names one that is not loaded: --set comes too late for that.
void check_plugins(const Scenario& scenario);

}  // namespace tlmssd
