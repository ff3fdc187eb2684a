// Text and data as they may stand in a page.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace tlmssd {

/// Text in HTML or in an attribute.
std::string html_text(std::string_view text);
void append_html_text(std::string& html, std::string_view text);
/// JSON that cannot end the script element it stands in.
void append_html_json(std::string& html, const nlohmann::ordered_json& json);

}  // namespace tlmssd
