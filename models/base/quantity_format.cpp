// From values to text: the shortest that gives the value back, and what may be written at all.
#include <array>
#include <cmath>
#include <optional>
#include <stdexcept>

#include "models/base/decimal.h"
#include "models/base/quantity.h"
#include "models/base/suggest.h"
#include "models/base/units.h"

namespace tlmssd {

namespace {

std::string share_text(double value) {
  return value > 1 ? real_text(value) + "x" : real_text(value, 2) + " %";
}

/// In the unit that makes it shortest, with at most three decimals; in seconds, as many as it
/// takes.
std::string duration_text(double seconds) {
  constexpr double k_most = 1e12;  // up to here three decimals are among the 15 digits that a double keeps
  std::string best;
  for (const Unit& unit : texts_of(Kind::duration).units) {
    const bool base = unit.scale == 1;
    const double number =
        base ? seconds : std::round(seconds / static_cast<double>(unit.scale) * 1000) / 1000;
    if (!base && (std::abs(number) < 1 || std::abs(number) > k_most)) continue;
    std::string text = real_text(number) + " " + std::string(unit.name);
    if (!base && parse_duration(text) != seconds) continue;
    if (best.empty() || text.size() < best.size()) best = std::move(text);
  }
  return best;
}

/// A value held as a real number.
std::string real_valued_text(Kind kind, double value) {
  switch (kind) {
    case Kind::real:
      return real_text(value);
    case Kind::duration:
      return duration_text(value);
    case Kind::temperature:
      return real_text(value) + " C";
    default:
      return share_text(value);
  }
}

/// magnitude / scale with at most three decimals, when exact and at least 1.
std::optional<std::string> in_unit(std::uint64_t magnitude, std::uint64_t scale) {
  if (magnitude < scale) return std::nullopt;
  std::string text = std::to_string(magnitude / scale);
  std::uint64_t remainder = magnitude % scale;
  if (remainder == 0) return text;
  text += '.';
  for (int digit = 0; digit < 3 && remainder != 0; ++digit) {
    remainder *= 10;
    text += static_cast<char>('0' + static_cast<int>(remainder / scale));
    remainder %= scale;
  }
  if (remainder != 0) return std::nullopt;
  return text;
}

std::string quantity_text(Kind kind, std::int64_t value) {
  const KindTexts& texts = texts_of(kind);
  if (value == 0) {
    static constexpr std::array<std::string_view, 4> k_zeros = {"0 s", "0 B", "0 B/s", "0 Hz"};
    if (kind == Kind::time) return std::string(k_zeros[0]);
    return std::string(k_zeros[kind == Kind::bandwidth ? 2 : kind == Kind::frequency ? 3 : 1]);
  }
  const std::uint64_t magnitude =
      value < 0 ? ~static_cast<std::uint64_t>(value) + 1 : static_cast<std::uint64_t>(value);
  std::string best;
  for (const Unit& unit : texts.units) {
    if (!unit.canonical) continue;
    const auto number = in_unit(magnitude, unit.scale);
    if (!number) continue;
    std::string text = *number + " " + std::string(unit.name);
    if (best.empty() || text.size() < best.size()) best = std::move(text);
  }
  return (value < 0 ? "-" : "") + best;
}

}  // namespace

std::string format_value(Kind kind, const Value& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* real = std::get_if<double>(&value)) return real_valued_text(kind, *real);
  if (const auto* whole = std::get_if<std::int64_t>(&value)) {
    return kind == Kind::integer ? std::to_string(*whole) : quantity_text(kind, *whole);
  }
  throw std::logic_error("format_value: a list");
}

std::vector<std::string> format_elements(Kind kind, const Value& value) {
  std::vector<std::string> result;
  std::visit(
      [&]<class T>(const T& held) {
        if constexpr (requires { typename T::value_type; } && !std::is_same_v<T, std::string>) {
          for (const auto& element : held) result.push_back(format_value(kind, Value(element)));
        } else {
          result.push_back(format_value(kind, Value(held)));
        }
      },
      value);
  return result;
}

std::string kind_text(const ParameterSpec& spec) {
  const std::string list = spec.list ? "list, each a " : "";
  switch (spec.kind) {
    case Kind::flag:
      return spec.one_or_zero ? "true or false, 1 or 0" : "true or false";
    case Kind::integer:
      return list + "whole number";
    case Kind::real:
      return list + "number";
    case Kind::share:
      return list + "share (%, x)";
    case Kind::text:
      return list + "text" + (spec.lines_of_file ? ", or the name of a file of such lines" : "");
    case Kind::choice:
      return list + "one of " + any_of(spec.choices, 40);
    case Kind::bytes_or_share:
      return "size (" + std::string(texts_of(spec.kind).names) + ") or share (%)";
    default:
      return list + std::string(texts_of(spec.kind).name) + " (" + std::string(texts_of(spec.kind).names) +
             ")";
  }
}

std::string quantity_pattern(Kind kind) {
  static const std::string k_number = R"(^\s*[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?\s*)";
  switch (kind) {
    case Kind::share:
      return k_number + R"((%|x)\s*$)";
    case Kind::time:
    case Kind::duration:
    case Kind::temperature:
    case Kind::bytes:
    case Kind::bandwidth:
    case Kind::frequency:
    case Kind::bytes_or_share: {
      std::string units;
      for (const Unit& unit : texts_of(kind).units)
        units += (units.empty() ? "" : "|") + std::string(unit.name);
      if (kind == Kind::bytes_or_share) units += "|%|x";
      return k_number + "(" + units + R"()\s*$)";
    }
    default:
      return {};
  }
}

}  // namespace tlmssd
