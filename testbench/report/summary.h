// The summary on the terminal, 80 columns wide, made from the report alone. With one load it is
// about a screen (40 lines); warnings and advice are what is cut, and the last line says so.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "testbench/report/report.h"

namespace tlmssd {

/// `report` from build_report(); `run` tells how fast the host was.
std::string summary(const nlohmann::ordered_json& report, const HostRun& run);

}  // namespace tlmssd
