#include "testbench/report/colour.h"

namespace tlmssd {
namespace {

constexpr std::string_view k_bold = "\x1b[1m";
constexpr std::string_view k_red = "\x1b[31m";
constexpr std::string_view k_green = "\x1b[32m";
constexpr std::string_view k_yellow = "\x1b[33m";
constexpr std::string_view k_cyan = "\x1b[36m";
constexpr std::string_view k_plain_style = "\x1b[0m";

/// What a line that begins something looks like; empty: plain.
std::string_view style_of(std::string_view line) {
  if (line.starts_with("! ")) return k_yellow;
  if (line.starts_with("> ")) return k_cyan;
  if (line.starts_with("Target  MISSED")) return k_red;
  if (line.starts_with("Target  met")) return k_green;
  if (line.starts_with("Checks  ") && !line.ends_with(", 0 wrong reads")) return k_red;
  if (line.starts_with("tlmssd ") || line.starts_with("Where the time goes") ||
      (line.starts_with("  ") && line.find("IOPS  bandwidth") != std::string_view::npos)) {
    return k_bold;
  }
  return {};
}

}  // namespace

std::string coloured(std::string_view summary) {
  std::string text;
  std::string_view style;
  while (!summary.empty()) {
    const std::size_t end = summary.find('\n');
    const std::string_view line = summary.substr(0, end);
    summary.remove_prefix(end == std::string_view::npos ? summary.size() : end + 1);
    const bool goes_on = !style.empty() && style != k_bold && line.starts_with("  ");
    if (!goes_on) style = style_of(line);
    if (!style.empty() && !line.empty()) text.append(style).append(line).append(k_plain_style);
    if (style.empty()) text.append(line);
    if (end != std::string_view::npos) text += '\n';
  }
  return text;
}

}  // namespace tlmssd
