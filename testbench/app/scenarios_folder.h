// Where the scenarios and data sheets that come with tlmssd are.
#pragma once

#include <filesystem>

namespace tlmssd {

/// The folder `scenarios` (with `parts/` in it): the one that TLMSSD_SCENARIOS names, else the one
/// installed beside the running program (<program>/../share/tlmssd/scenarios), else that of the
/// source checkout. Empty when there is none of them.
std::filesystem::path scenarios_folder();

}  // namespace tlmssd
