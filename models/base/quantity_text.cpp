#include "models/base/quantity_text.h"

#include <array>
#include <cmath>
#include <fmt/format.h>
#include <span>
#include <string_view>

namespace tlmssd {
namespace {

/// So many significant digits, 3 or more, never in exponent form. Three: 1.23, 12.3, 123, 1234.
std::string digits(double value, int significant) {
  const double size = std::abs(value);
  const int decimals = size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;
  return fmt::format("{:.{}f}", value, decimals + significant - 3);
}

/// `value` in the largest unit that leaves at least 1 (rounded); each unit is `step` times the one
/// before.
std::string scaled(double value, double step, std::span<const std::string_view> units, int significant = 3) {
  std::size_t unit = 0;
  while (unit + 1 < units.size() && std::abs(value) >= step * 0.9995) {
    value /= step;
    ++unit;
  }
  if (unit == 0 && value == std::floor(value)) return fmt::format("{:.0f}{}", value, units[0]);
  return digits(value, significant) + std::string(units[unit]);
}

}  // namespace

std::string time_text(double picoseconds, int significant) {
  static constexpr std::array<std::string_view, 5> k_units = {" ps", " ns", " us", " ms", " s"};
  return scaled(picoseconds, 1000, k_units, significant);
}

std::string bytes_text(double bytes) {
  static constexpr std::array<std::string_view, 6> k_units = {" B", " KiB", " MiB", " GiB", " TiB", " PiB"};
  return scaled(bytes, 1024, k_units);
}

std::string written_text(double bytes, int significant) {
  static constexpr std::array<std::string_view, 7> k_units = {" B", " kB", " MB", " GB", " TB", " PB", " EB"};
  return scaled(bytes, 1000, k_units, significant);
}

std::string bandwidth_text(double bytes_per_second, int significant) {
  static constexpr std::array<std::string_view, 5> k_units = {" B/s", " kB/s", " MB/s", " GB/s", " TB/s"};
  return scaled(bytes_per_second, 1000, k_units, significant);
}

std::string count_text(double count, int significant) {
  static constexpr std::array<std::string_view, 5> k_units = {"", " k", " M", " G", " T"};
  return scaled(count, 1000, k_units, significant);
}

std::string share_text(double share) {
  const double percent = share * 100;
  return fmt::format("{:.{}f} %", percent, percent != 0 && std::abs(percent) < 9.95 ? 2 : 1);
}

std::string list_text(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) text += (text.empty() ? "" : ", ") + item;
  return text;
}

}  // namespace tlmssd
