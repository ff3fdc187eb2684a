// Quantities: a decimal number as written (digits and a power of ten) times the unit's scale, in
// 128-bit integers. Kinds held as real numbers are worked out on the decimal digits too, and
// rounded once.
#include "models/base/quantity.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <stdexcept>

#include "models/base/suggest.h"

namespace tlmssd {
namespace {

using Wide = unsigned __int128;

struct Unit {
  std::string_view name;
  std::uint64_t scale;  ///< base units in one of these
  bool canonical;       ///< used when formatting
};

// In order of preference when two texts are equally short.
constexpr std::array k_times = {Unit{"d", 86'400'000'000'000'000, true},
                                Unit{"h", 3'600'000'000'000'000, true},
                                Unit{"min", 60'000'000'000'000, true},
                                Unit{"s", 1'000'000'000'000, true},
                                Unit{"ms", 1'000'000'000, true},
                                Unit{"us", 1'000'000, true},
                                Unit{"ns", 1'000, true},
                                Unit{"ps", 1, true},
                                Unit{"\u00B5s", 1'000'000, false},
                                Unit{"\u03BCs", 1'000'000, false}};
constexpr std::array k_bytes = {Unit{"TiB", 1ULL << 40U, true},
                                Unit{"GiB", 1ULL << 30U, true},
                                Unit{"MiB", 1ULL << 20U, true},
                                Unit{"KiB", 1ULL << 10U, true},
                                Unit{"B", 1, true},
                                Unit{"TB", 1'000'000'000'000, true},
                                Unit{"GB", 1'000'000'000, true},
                                Unit{"MB", 1'000'000, true},
                                Unit{"kB", 1'000, true},
                                Unit{"KB", 1'000, false}};
constexpr std::array k_bandwidths = {Unit{"GB/s", 1'000'000'000, true},
                                     Unit{"MB/s", 1'000'000, true},
                                     Unit{"kB/s", 1'000, true},
                                     Unit{"KB/s", 1'000, false},
                                     Unit{"B/s", 1, true},
                                     Unit{"GiB/s", 1ULL << 30U, true},
                                     Unit{"MiB/s", 1ULL << 20U, true},
                                     Unit{"KiB/s", 1ULL << 10U, true}};
constexpr std::array k_frequencies = {Unit{"GHz", 1'000'000'000, true},   Unit{"MHz", 1'000'000, true},
                                      Unit{"kHz", 1'000, true},           Unit{"Hz", 1, true},
                                      Unit{"GT/s", 1'000'000'000, false}, Unit{"MT/s", 1'000'000, false}};

constexpr std::array k_durations = {Unit{"y", 31'536'000, true}, Unit{"d", 86'400, true},
                                    Unit{"h", 3'600, true}, Unit{"min", 60, true}, Unit{"s", 1, true}};

constexpr std::array k_temperatures = {Unit{"C", 1, true}, Unit{"K", 1, false}};

struct KindTexts {
  std::span<const Unit> units;
  std::string_view name;      ///< "not a ..."
  std::string_view names;     ///< the units, for people
  std::string_view usual;     ///< unit of the example in messages
  std::string_view too_fine;  ///< why a fraction of the base unit is refused; empty: it is not
};

const KindTexts& texts_of(Kind kind) {
  static const KindTexts k_time = {k_times, "time", "ps, ns, us, ms, s, min, h or d", "ns",
                                   "is finer than 1 ps"};
  static const KindTexts k_size = {k_bytes, "size", "B, KiB, MiB, GiB, TiB, kB, MB, GB or TB", "KiB",
                                   "is not a whole number of bytes"};
  static const KindTexts k_rate = {k_bandwidths, "bandwidth", "B/s, kB/s, MB/s, GB/s, KiB/s, MiB/s or GiB/s",
                                   "MB/s", "is not a whole number of bytes per second"};
  static const KindTexts k_clock = {k_frequencies, "frequency", "Hz, kHz, MHz, GHz, MT/s or GT/s", "MHz",
                                    "is not a whole number of hertz"};
  static const KindTexts k_duration = {k_durations, "duration", "s, min, h, d or y", "d", ""};
  static const KindTexts k_temperature = {k_temperatures, "temperature", "C or K", "C", ""};
  switch (kind) {
    case Kind::time:
      return k_time;
    case Kind::bytes:
    case Kind::bytes_or_share:
      return k_size;
    case Kind::bandwidth:
      return k_rate;
    case Kind::frequency:
      return k_clock;
    case Kind::duration:
      return k_duration;
    case Kind::temperature:
      return k_temperature;
    default:
      throw std::logic_error("quantity: a kind without units");
  }
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

/// A decimal number as written: (-1)^negative * digits * 10^exponent, digits without trailing
/// zeros.
struct Decimal {
  bool negative = false;
  bool too_long = false;  ///< more significant digits than 64 bits hold
  std::uint64_t digits = 0;
  std::int64_t exponent = 0;
  std::string_view number;  ///< the part of the text that is the number
  std::string_view rest;    ///< what follows: the unit
};

/// [+-] digits [. digits] [e [+-] digits]; nothing when `text` does not begin with a number.
std::optional<Decimal> read_decimal(std::string_view text) {
  constexpr std::int64_t k_exponent_limit = 10'000;
  Decimal result;
  std::size_t at = 0;
  if (at < text.size() && (text[at] == '+' || text[at] == '-')) result.negative = text[at++] == '-';
  if (at >= text.size() || !is_digit(text[at])) return std::nullopt;
  std::string digits;
  for (; at < text.size() && is_digit(text[at]); ++at) digits += text[at];
  if (at + 1 < text.size() && text[at] == '.' && is_digit(text[at + 1])) {
    for (++at; at < text.size() && is_digit(text[at]); ++at, --result.exponent) digits += text[at];
  }
  if (at + 1 < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    std::size_t end = at + 1;
    const bool negative = text[end] == '-';
    if (text[end] == '+' || text[end] == '-') ++end;
    if (end < text.size() && is_digit(text[end])) {
      std::int64_t written = 0;
      for (; end < text.size() && is_digit(text[end]); ++end) {
        written = std::min<std::int64_t>(written * 10 + (text[end] - '0'), k_exponent_limit);
      }
      result.exponent += negative ? -written : written;
      at = end;
    }
  }
  result.number = text.substr(0, at);
  result.rest = trimmed(text.substr(at));
  while (!digits.empty() && digits.back() == '0') {
    digits.pop_back();
    ++result.exponent;
  }
  const std::size_t first = std::min(digits.find_first_not_of('0'), digits.size());
  const std::string_view significant = std::string_view(digits).substr(first);
  if (significant.empty()) {
    result.exponent = 0;
    return result;
  }
  const auto parsed =
      std::from_chars(significant.data(), significant.data() + significant.size(), result.digits);
  result.too_long = parsed.ec != std::errc();
  return result;
}

struct Written {
  Decimal number;
  Unit unit;
};

/// A number and one of the kind's units. Throws InputError naming `text`.
Written read_written(Kind kind, std::string_view text) {
  const KindTexts& texts = texts_of(kind);
  const bool or_share = kind == Kind::bytes_or_share;
  const auto decimal = read_decimal(trimmed(text));
  const std::string example = std::string(texts.usual) + (or_share ? "' or '10 %'" : "'");
  if (!decimal) {
    throw InputError(in_quotes(text) + " is not a " + std::string(texts.name) + "; write for instance '50 " +
                     example);
  }
  if (decimal->rest.empty()) {
    throw InputError(in_quotes(text) + " has no unit; write for instance '" +
                     std::string(decimal->number.substr(0, 40)) + " " + example);
  }
  for (const Unit& unit : texts.units) {
    if (unit.name == decimal->rest) return {*decimal, unit};
  }
  throw InputError(in_quotes(text) + ": " + in_quotes(decimal->rest) + " is not a unit of " +
                   std::string(texts.name) + "; use " + std::string(texts.names) +
                   (or_share ? ", or % for a share" : ""));
}

/// The decimal times `scale` as a whole number. Throws InputError naming `text`.
std::int64_t scaled(const Decimal& decimal, std::uint64_t scale, std::string_view too_fine,
                    std::string_view text) {
  constexpr Wide k_limit = static_cast<Wide>(std::numeric_limits<std::int64_t>::max());
  constexpr std::int64_t k_powers = 38;  // 10^38 is the largest power of ten in 128 bits
  if (decimal.digits == 0 && !decimal.too_long) return 0;
  if (decimal.too_long) throw InputError(in_quotes(text) + " has more digits than can be kept");
  Wide value = static_cast<Wide>(decimal.digits) * scale;
  if (decimal.exponent < -k_powers) throw InputError(in_quotes(text) + " " + std::string(too_fine));
  if (decimal.exponent < 0) {
    Wide divisor = 1;
    for (std::int64_t i = decimal.exponent; i < 0; ++i) divisor *= 10;
    if (value % divisor != 0) throw InputError(in_quotes(text) + " " + std::string(too_fine));
    value /= divisor;
  }
  for (std::int64_t i = 0; i < decimal.exponent && value <= k_limit; ++i) value *= 10;
  if (value > k_limit) throw InputError(in_quotes(text) + " is too large");
  const auto whole = static_cast<std::int64_t>(value);
  return decimal.negative ? -whole : whole;
}

/// Shortest digits that give back `value`, and the power of ten of the last digit. `value` finite.
struct Shortest {
  bool negative = false;
  std::string digits;
  int exponent = 0;
};
Shortest shortest(double value) {
  std::array<char, 64> buffer{};
  const auto written = std::to_chars(buffer.data(), buffer.data() + buffer.size(), std::abs(value),
                                     std::chars_format::scientific);
  const std::string_view text(buffer.data(), static_cast<std::size_t>(written.ptr - buffer.data()));
  Shortest result;
  result.negative = value < 0;
  const std::size_t e = text.find('e');
  for (const char c : text.substr(0, e)) {
    if (c != '.') result.digits += c;
  }
  int exponent = 0;
  const std::size_t first = e + (text[e + 1] == '+' ? 2 : 1);
  std::from_chars(text.data() + first, text.data() + text.size(), exponent);
  result.exponent = exponent - static_cast<int>(result.digits.size()) + 1;
  return result;
}

/// Plain decimal notation where that is readable, else "1.5e-30".
std::string decimal_text(Shortest number) {
  const int point =
      static_cast<int>(number.digits.size()) + number.exponent;  // digits before the decimal point
  std::string text = number.negative ? "-" : "";
  if (point > 20 || point < -6) {
    text += number.digits.substr(0, 1);
    if (number.digits.size() > 1) text += "." + number.digits.substr(1);
    return text + "e" + std::to_string(point - 1);
  }
  if (point <= 0) return text + "0." + std::string(static_cast<std::size_t>(-point), '0') + number.digits;
  const auto before = static_cast<std::size_t>(point);
  if (number.digits.size() <= before)
    return text + number.digits + std::string(before - number.digits.size(), '0');
  return text + number.digits.substr(0, before) + "." + number.digits.substr(before);
}

std::string real_text(double value) {
  return value == 0 ? "0" : decimal_text(shortest(value));
}

std::string share_text(double value) {
  if (value == 0) return "0 %";
  if (value > 1) return real_text(value) + "x";
  Shortest number = shortest(value);
  number.exponent += 2;
  return decimal_text(std::move(number)) + " %";
}

/// In the unit that makes it shortest, with at most three decimals; in seconds, as many as it
/// takes.
std::string duration_text(double seconds) {
  constexpr double k_most = 1e12;  // up to here three decimals are among the 15 digits that a double keeps
  std::string best;
  for (const Unit& unit : k_durations) {
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
  Wide remainder = magnitude % scale;
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

std::int64_t parse_integer(std::string_view text) {
  const std::string_view whole = trimmed(text);
  const std::string_view digits = !whole.empty() && whole.front() == '+' ? whole.substr(1) : whole;
  std::int64_t value = 0;
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  const bool all = parsed.ptr == digits.data() + digits.size() && !digits.empty();
  if (all && parsed.ec == std::errc::result_out_of_range) throw InputError(in_quotes(text) + " is too large");
  if (!all || parsed.ec != std::errc()) throw InputError(in_quotes(text) + " is not a whole number");
  return value;
}

/// The nearest double of a decimal number. Throws InputError naming `text`.
double nearest(std::string_view number, std::string_view text) {
  if (number.front() == '+') number.remove_prefix(1);
  double value = 0;
  const auto parsed = std::from_chars(number.data(), number.data() + number.size(), value);
  if (parsed.ec == std::errc::result_out_of_range) {
    throw InputError(in_quotes(text) + " is too large or too small");
  }
  return value;
}

/// A decimal number times `factor`, exactly: digit by digit from the last one before the exponent.
std::string multiplied(std::string number, std::uint64_t factor) {
  std::uint64_t carry = 0;
  for (std::size_t at = std::min(number.find_first_of("eE"), number.size()); at-- > 0;) {
    if (!is_digit(number[at])) continue;
    carry += factor * static_cast<std::uint64_t>(number[at] - '0');
    number[at] = static_cast<char>('0' + static_cast<int>(carry % 10));
    carry /= 10;
  }
  return carry == 0 ? number : number.insert(is_digit(number[0]) ? 0 : 1, std::to_string(carry));
}

/// The number as the nearest double, times ten to `shift`.
double to_double(const Decimal& decimal, int shift, std::string_view text) {
  std::string plain(decimal.number);
  if (shift != 0) {  // move the decimal point in the text, so that there is one rounding only
    const std::size_t e = plain.find_first_of("eE");
    int exponent = 0;
    if (e != std::string::npos) {
      const std::size_t first = e + (plain[e + 1] == '+' ? 2 : 1);
      if (std::from_chars(plain.data() + first, plain.data() + plain.size(), exponent).ec != std::errc()) {
        throw InputError(in_quotes(text) + " is too large");
      }
      plain.resize(e);
    }
    plain += "e" + std::to_string(static_cast<std::int64_t>(exponent) + shift);
  }
  return nearest(plain, text);
}

double parse_real(std::string_view text) {
  const auto decimal = read_decimal(trimmed(text));
  if (!decimal || !decimal->rest.empty()) throw InputError(in_quotes(text) + " is not a number");
  return to_double(*decimal, 0, text);
}

bool parse_flag(std::string_view text) {
  if (text == "true") return true;
  if (text == "false") return false;
  throw InputError(in_quotes(text) + " is not true or false");
}

Value parse_unchecked(const ParameterSpec& spec, std::string_view text) {
  switch (spec.kind) {
    case Kind::flag:
      return parse_flag(text);
    case Kind::integer:
      return parse_integer(text);
    case Kind::real:
      return parse_real(text);
    case Kind::share:
      return parse_share(text);
    case Kind::duration:
      return parse_duration(text);
    case Kind::temperature:
      return parse_temperature(text);
    case Kind::bytes_or_share: {
      const std::string_view whole = trimmed(text);
      if (whole.ends_with('%') || whole.ends_with('x')) return parse_share(text);
      return parse_quantity(Kind::bytes_or_share, text);
    }
    case Kind::text:
      if (spec.filled && trimmed(text).empty())
        throw InputError("is empty; give it a value, or leave the key out");
      return std::string(text);
    case Kind::choice:
      for (const std::string& choice : spec.choices) {
        if (choice == text) return choice;
      }
      throw InputError(in_quotes(text) + " is not one of " + any_of(spec.choices, 40) +
                       did_you_mean(text, spec.choices));
    default:
      return parse_quantity(spec.kind, text);
  }
}

/// Kinds whose every value is a real number.
bool is_real_valued(Kind kind) {
  return kind == Kind::real || kind == Kind::share || kind == Kind::duration || kind == Kind::temperature;
}

bool has_limits(const ParameterSpec& spec) {
  return spec.minimum != 0 || spec.maximum != 0;
}

/// A limit of a range of whole numbers, which is held as double.
std::int64_t whole_limit(double limit) {
  constexpr double k_end = 0x1p63;
  return limit >= k_end ? std::numeric_limits<std::int64_t>::max()
                        : static_cast<std::int64_t>(std::max(limit, -k_end));
}

/// A limit of the range in the kind's own words.
std::string limit_text(Kind kind, double limit) {
  return is_real_valued(kind) ? real_valued_text(kind, limit) : format_value(kind, Value(whole_limit(limit)));
}

void check_range(const ParameterSpec& spec, const Value& value) {
  bool within = false;
  ParameterSpec limits = spec;
  if (const auto* whole = std::get_if<std::int64_t>(&value)) {  // as a double it might pass one beyond
    within = *whole >= whole_limit(limits.minimum) && *whole <= whole_limit(limits.maximum);
  } else if (const auto* real = std::get_if<double>(&value)) {
    if (spec.kind == Kind::bytes_or_share) {
      // The range is in bytes; a share is of something, so at most all of it and not nothing.
      limits.kind = Kind::share;
      limits.minimum = 0.0001;
      limits.maximum = 1;
    }
    within = *real >= limits.minimum && *real <= limits.maximum;
  } else {
    return;
  }
  if (within || !has_limits(limits)) return;
  throw InputError(format_value(spec.kind, value) + " is out of range: must be " + range_text(limits));
}

}  // namespace

std::int64_t parse_quantity(Kind kind, std::string_view text) {
  const std::string_view too_fine = texts_of(kind).too_fine;
  if (too_fine.empty()) throw std::logic_error("quantity: a kind that is not held as a whole number");
  const Written written = read_written(kind, text);
  return scaled(written.number, written.unit.scale, too_fine, text);
}

double parse_duration(std::string_view text) {
  const Written written = read_written(Kind::duration, text);
  return nearest(multiplied(std::string(written.number.number), written.unit.scale), text);
}

double parse_temperature(std::string_view text) {
  constexpr double k_absolute_zero = -273.15;
  constexpr std::int64_t k_nano = 1'000'000'000;
  constexpr std::int64_t k_zero_celsius = 273'150'000'000;  // nK
  const auto [number, unit] = read_written(Kind::temperature, text);
  double celsius = 0;
  if (unit.name == "K") {  // subtracted in whole nanokelvins, as in doubles 273.151 K would not be 0.001 C
    const std::int64_t kelvin = scaled(number, k_nano, "is finer than 1 nK", text);
    celsius = kelvin < 0 ? -std::numeric_limits<double>::infinity()
                         : nearest(std::to_string(kelvin - k_zero_celsius) + "e-9", text);
  } else {
    celsius = nearest(number.number, text);
  }
  if (celsius < k_absolute_zero) {
    throw InputError(in_quotes(text) + " is below absolute zero, " +
                     format_value(Kind::temperature, Value(k_absolute_zero)));
  }
  return celsius;
}

double parse_share(std::string_view text) {
  const auto decimal = read_decimal(trimmed(text));
  if (!decimal) throw InputError(in_quotes(text) + " is not a share; write for instance '25 %' or '2x'");
  if (decimal->rest == "%") return to_double(*decimal, -2, text);
  if (decimal->rest == "x") return to_double(*decimal, 0, text);
  if (decimal->rest.empty()) {
    const double value = to_double(*decimal, 0, text);
    const bool fraction = value > 0 && value < 1;
    throw InputError(in_quotes(text) + " has no unit; write for instance '" +
                     (fraction ? share_text(value) : std::string(decimal->number.substr(0, 40)) + " %") +
                     "' or '" + std::string(decimal->number.substr(0, 40)) + "x'");
  }
  throw InputError(in_quotes(text) + ": " + in_quotes(decimal->rest) +
                   " is not a unit of share; write for instance '25 %' or '2x'");
}

Value parse_value(const ParameterSpec& spec, std::string_view text) {
  Value value = parse_unchecked(spec, text);
  check_range(spec, value);
  return value;
}

Value make_list(const ParameterSpec& spec, const std::vector<Value>& elements) {
  const auto gather = [&]<class T>(T /*type*/) {
    std::vector<T> list;
    list.reserve(elements.size());
    for (const Value& element : elements) list.push_back(std::get<T>(element));
    return Value(std::move(list));
  };
  switch (spec.kind) {
    case Kind::real:
    case Kind::share:
    case Kind::duration:
    case Kind::temperature:
      return gather(double{});
    case Kind::text:
    case Kind::choice:
      return gather(std::string{});
    case Kind::flag:
    case Kind::bytes_or_share:
      throw std::logic_error("parameter " + spec.name + ": no lists of this kind");
    default:
      return gather(std::int64_t{});
  }
}

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

std::string range_text(const ParameterSpec& spec) {
  const bool number = spec.kind != Kind::flag && spec.kind != Kind::text && spec.kind != Kind::choice;
  if (!number || !has_limits(spec)) return {};
  return limit_text(spec.kind, spec.minimum) + " to " + limit_text(spec.kind, spec.maximum);
}

std::string kind_text(const ParameterSpec& spec) {
  const std::string list = spec.list ? "list, each a " : "";
  switch (spec.kind) {
    case Kind::flag:
      return "true or false";
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
