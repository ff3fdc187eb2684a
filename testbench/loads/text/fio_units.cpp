// Quantities as fio writes them.
#include "testbench/loads/text/fio_units.h"

#include <cctype>
#include <charconv>
#include <cmath>
#include <fmt/format.h>

#include "models/base/input_error.h"
#include "testbench/loads/text/fields.h"

namespace tlmssd {

namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

/// Bytes per unit; nothing for an unknown one.
std::optional<double> size_unit(std::string_view suffix, FioUnits units) {
  if (suffix.empty()) return 1.0;
  std::string unit = lower(suffix);
  if (unit == "b") return 1.0;
  static constexpr std::string_view k_prefixes = "kmgtp";
  const std::size_t power = k_prefixes.find(unit.front());
  if (power == std::string_view::npos) return std::nullopt;
  unit.erase(0, 1);
  bool binary = true;
  if (unit.empty() || unit == "i") {
    binary = units != FioUnits::job_1000;
  } else if (unit == "b") {
    binary = units == FioUnits::job_1024;
  } else if (unit == "ib") {
    binary = units != FioUnits::job_1024;
  } else {
    return std::nullopt;
  }
  return std::pow(binary ? 1024.0 : 1000.0, static_cast<double>(power + 1));
}

/// Splits "12.5 KiB" into the number and the unit.
bool number_and_unit(std::string_view text, double& number, std::string_view& unit) {
  text = trimmed(text);
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (error != std::errc{} || number < 0 || !std::isfinite(number)) return false;
  unit = trimmed(text.substr(static_cast<std::size_t>(end - text.data())));
  return true;
}

}  // namespace

void refuse_option(const std::string& option, const std::string& text, const std::string& expected) {
  throw InputError(fmt::format("{}: \"{}\" is not understood, expected {}", option, text, expected));
}

std::optional<Bytes> fio_size(std::string_view text, FioUnits units) {
  text = trimmed(text);
  if (text.starts_with("0x") || text.starts_with("0X")) {
    Bytes value = 0;
    const auto [end, error] = std::from_chars(text.data() + 2, text.data() + text.size(), value, 16);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
  }
  if (const auto whole = fio_number(text)) return whole;
  double number = 0;
  std::string_view unit;
  if (!number_and_unit(text, number, unit)) return std::nullopt;
  const auto factor = size_unit(unit, units);
  if (!factor) return std::nullopt;
  const double bytes = number * *factor;
  if (bytes >= 0x1p62 || bytes != std::floor(bytes)) return std::nullopt;
  return static_cast<Bytes>(bytes);
}

Bytes size_or_share(const std::string& option, const std::string& text, Whole whole, FioUnits units) {
  const std::string_view bare = trimmed(text);
  if (bare.empty() || bare.back() != '%') {
    const auto size = fio_size(bare, units);
    if (!size) refuse_option(option, text, fmt::format("a size (1g) or a share of {} (10%)", whole.name));
    return *size;
  }
  const auto percent = fio_real(bare.substr(0, bare.size() - 1));
  if (!percent || *percent > 100)
    refuse_option(option, text, fmt::format("a share of {} between 0% and 100%", whole.name));
  const auto millionths = static_cast<std::uint64_t>(*percent * 1e6 + 0.5);
  return static_cast<Bytes>(static_cast<unsigned __int128>(whole.bytes) * millionths / 100'000'000);
}

std::optional<Picoseconds> fio_time(std::string_view text, Picoseconds bare) {
  double number = 0;
  std::string_view unit;
  if (!number_and_unit(text, number, unit)) return std::nullopt;
  const std::string name = lower(unit);
  double factor = 0;
  if (name.empty()) factor = static_cast<double>(bare);
  if (name == "us" || name == "usec") factor = 1e6;
  if (name == "ms" || name == "msec") factor = 1e9;
  if (name == "s" || name == "sec") factor = 1e12;
  if (name == "m" || name == "min") factor = 60e12;
  if (name == "h" || name == "hr") factor = 3600e12;
  if (name == "d") factor = 86400e12;
  const double time = number * factor;
  if (factor == 0 || time >= 0x1p62) return std::nullopt;
  return static_cast<Picoseconds>(std::llround(time));
}

std::optional<std::uint64_t> fio_number(std::string_view text) {
  text = trimmed(text);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<double> fio_real(std::string_view text) {
  double number = 0;
  std::string_view unit;
  if (!number_and_unit(text, number, unit) || !unit.empty()) return std::nullopt;
  return number;
}

std::vector<std::string> split_text(std::string_view text, char separator) {
  std::vector<std::string> parts;
  text = trimmed(text);
  while (!text.empty()) {
    const std::size_t size = text.find(separator);
    parts.emplace_back(trimmed(text.substr(0, size)));
    if (size == std::string_view::npos) break;
    text.remove_prefix(size + 1);
    if (text.empty()) parts.emplace_back();
  }
  return parts;
}

}  // namespace tlmssd
