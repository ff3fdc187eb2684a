// The summary on the terminal: one screen (80 columns, 40 lines at most) made from the report
// alone.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "testbench/report/report.h"

namespace tlmssd {

/// `report` from build_report(); `run` tells how fast the host was.
std::string summary(const nlohmann::ordered_json& report, const HostRun& run);

}  // namespace tlmssd
