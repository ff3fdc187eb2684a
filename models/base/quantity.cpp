// From text to values: a decimal number as written times the unit's scale, in 128-bit integers.
// Kinds held as real numbers are worked out on the decimal digits too, and rounded once.
#include "models/base/quantity.h"

#include <charconv>
#include <limits>
#include <stdexcept>

#include "models/base/decimal.h"
#include "models/base/suggest.h"
#include "models/base/trimmed.h"
#include "models/base/units.h"

namespace tlmssd {

namespace {

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
  return format_value(kind, is_real_valued(kind) ? Value(limit) : Value(whole_limit(limit)));
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
  return nearest_double(multiplied(std::string(written.number.number), written.unit.scale), text);
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
                         : nearest_double(std::to_string(kelvin - k_zero_celsius) + "e-9", text);
  } else {
    celsius = nearest_double(number.number, text);
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
                     (fraction ? format_value(Kind::share, Value(value))
                               : std::string(decimal->number.substr(0, 40)) + " %") +
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

std::string range_text(const ParameterSpec& spec) {
  const bool number = spec.kind != Kind::flag && spec.kind != Kind::text && spec.kind != Kind::choice;
  if (!number || !has_limits(spec)) return {};
  return limit_text(spec.kind, spec.minimum) + " to " + limit_text(spec.kind, spec.maximum);
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

}  // namespace tlmssd
