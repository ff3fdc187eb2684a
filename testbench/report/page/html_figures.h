// The data that report.html's figures are drawn from (testbench/report/page): what they need of the
// report, and no more.
#pragma once

#include <nlohmann/json.hpp>

namespace tlmssd {

nlohmann::ordered_json figure_data(const nlohmann::ordered_json& report);

}  // namespace tlmssd
