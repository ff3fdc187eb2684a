#include "platform/scenario/yaml_text.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace tlmssd {

std::string yaml_text(const std::string& text) {
  static constexpr std::array<std::string_view, 8> k_words = {"null", "true", "false", "yes",
                                                              "no",   "on",   "off",   "y"};
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto harmless = [&](char c) {
    return letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.' || c == '/' || c == '+';
  };
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  const bool plain = !text.empty() && (letter(text.front()) || text.front() == '/') &&
                     std::all_of(text.begin(), text.end(), harmless) &&
                     std::find(k_words.begin(), k_words.end(), lower) == k_words.end();
  if (plain) return text;
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result += {'\\', c};
    } else if (c == '\n') {
      result += "\\n";
    } else if (c == '\t') {
      result += "\\t";
    } else if (c == '\r') {
      result += "\\r";
    } else {
      result += c;
    }
  }
  return result + "\"";
}

}  // namespace tlmssd
