#include "testbench/report/page/html_text.h"

namespace tlmssd {
namespace {

/// What stands for a character that HTML does not take as it is; "" for all others.
std::string_view escaped(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\'':
      return "&#39;";
    default:
      return "";
  }
}

}  // namespace

void append_html_text(std::string& html, std::string_view text) {
  std::size_t done = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const std::string_view instead = escaped(text[at]);
    if (instead.empty()) continue;
    html += text.substr(done, at - done);
    html += instead;
    done = at + 1;
  }
  html += text.substr(done);
}

std::string html_text(std::string_view text) {
  std::string result;
  append_html_text(result, text);
  return result;
}

void append_html_json(std::string& html, const nlohmann::ordered_json& json) {
  const std::string text = json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  std::size_t done = 0;
  for (std::size_t at = 0; (at = text.find('<', at)) != std::string::npos; done = ++at) {
    html.append(text, done, at - done);
    html += "\\u003c";
  }
  html.append(text, done);
}

}  // namespace tlmssd
