// report.html: the report as one page that needs nothing from outside: inline style, inline SVG
// charts drawn from the report's JSON, light and dark by the reader's preference.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace tlmssd {

std::string html_report(const nlohmann::ordered_json& report);

}  // namespace tlmssd
