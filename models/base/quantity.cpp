// From text to values: a decimal number as written times the unit's scale, in 128-bit integers.
// Kinds held as real numbers are worked out on the decimal digits too, and rounded once.
#include "models/base/quantity.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <type_traits>

#include "models/base/decimal.h"
#include "models/base/suggest.h"
#include "models/base/trimmed.h"
#include "models/base/units.h"

namespace tlmssd {

namespace {

constexpr std::size_t k_longest_guess = 40;  ///< characters of a number that is proposed with a unit

struct Written {
  Decimal number;
  Unit unit;
};

/// Kinds whose every value is a real number.
bool is_real_valued(Kind kind) {
  return kind == Kind::real || kind == Kind::share || kind == Kind::duration || kind == Kind::temperature;
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

bool is_accepted(const ParameterSpec& spec, const std::string& text) {
  try {
    parse_value(spec, text);
    return true;
  } catch (const InputError&) {
    return false;
  }
}

/// The unit of a default that is a time, as a scenario would write it; empty: there is none.
std::string unit_of_default(const ParameterSpec& spec) {
  if (spec.kind != Kind::time || spec.required || spec.optional) return {};
  const std::vector<std::string> elements = format_elements(spec.kind, spec.fallback);
  if (elements.empty() || elements.front().starts_with("0 ")) return {};
  const std::size_t space = elements.front().find(' ');
  return space == std::string::npos ? "" : elements.front().substr(space + 1);
}

/// `number` with the unit nearest to the usual one with which `spec` accepts it; empty: with none.
std::string with_unit(const ParameterSpec& spec, std::string_view number) {
  const KindTexts& texts = texts_of(spec.kind);
  const std::string own = spec.usual_unit.empty() ? unit_of_default(spec) : std::string(spec.usual_unit);
  const std::string_view of_kind = own.empty() ? texts.usual : std::string_view(own);
  // Long numbers of sizes and bandwidths are copied from where these are in bytes.
  const bool in_bytes = (spec.kind == Kind::bytes || spec.kind == Kind::bandwidth) &&
                        number.size() >= k_digits_of_bytes &&
                        number.find_first_not_of("0123456789") == std::string_view::npos;
  const std::string_view of_bytes = spec.kind == Kind::bytes ? "B" : "B/s";
  const std::string_view usual_name = in_bytes ? of_bytes : of_kind;
  const auto decades = [](const Unit& unit) { return std::log10(static_cast<double>(unit.scale)); };
  const auto usual = std::find_if(texts.units.begin(), texts.units.end(),
                                  [&](const Unit& unit) { return unit.name == usual_name; });
  std::string nearest;
  double least = std::numeric_limits<double>::infinity();
  for (const Unit& unit : texts.units) {
    const double distance =
        unit.name == usual_name ? -1 : std::round(std::abs(decades(unit) - decades(*usual)));
    std::string candidate = std::string(number) + " " + std::string(unit.name);
    if (distance >= least || !is_accepted(spec, candidate)) continue;
    least = distance;
    nearest = std::move(candidate);
  }
  const bool long_rate = in_bytes && spec.kind == Kind::bandwidth && !nearest.empty();
  return long_rate ? format_value(spec.kind, parse_value(spec, nearest)) : nearest;
}

/// Of `candidates` those that `spec` accepts.
std::vector<std::string> accepted(const ParameterSpec& spec, std::vector<std::string> candidates) {
  std::erase_if(candidates, [&](const std::string& text) { return !is_accepted(spec, text); });
  return candidates;
}

/// A value of the range: the default, or else a limit.
std::string example_of_range(const ParameterSpec& spec) {
  std::vector<std::string> candidates;
  if (!spec.required && !spec.optional) candidates = format_elements(spec.kind, spec.fallback);
  if (has_limits(spec)) {
    for (const double limit : {spec.minimum, spec.maximum})
      candidates.push_back(limit_text(spec.kind, limit));
  }
  candidates = accepted(spec, std::move(candidates));
  return candidates.empty() ? std::string() : candidates.front();
}

/// What `spec` accepts instead of `text`, which is no number or has no unit.
std::vector<std::string> guesses(const ParameterSpec& spec, std::string_view text) {
  const auto decimal = read_decimal(trimmed(text));
  const bool bare = decimal && decimal->rest.empty() && decimal->number.size() <= k_longest_guess;
  std::vector<std::string> found;
  if (spec.kind == Kind::share) {
    if (bare) {
      const std::string number(decimal->number);
      const double value = nearest_double(number, text);
      const bool fraction = value > 0 && value < 1;
      found = {fraction ? format_value(Kind::share, Value(value)) : number + " %", number + "x"};
    } else {
      found = {"25 %", "2x"};
    }
  } else {
    if (std::string size = with_unit(spec, bare ? decimal->number : "50"); !size.empty())
      found.push_back(std::move(size));
    if (spec.kind == Kind::bytes_or_share) found.emplace_back("10 %");
  }
  found = accepted(spec, std::move(found));
  if (found.empty()) found.push_back(example_of_range(spec));
  return found;
}

/// "; write for instance '25 %' or '2x'", each of which `spec` accepts.
std::string for_instance(const ParameterSpec& spec, std::string_view text) {
  std::string result;
  for (const std::string& guess : guesses(spec, text)) {
    if (guess.empty()) continue;
    result += (result.empty() ? "; write for instance '" : " or '") + guess + "'";
  }
  return result;
}

/// A number and one of the kind's units. Throws InputError naming `text`; what it says to write is
/// of `spec`.
Written read_written(const ParameterSpec& spec, std::string_view text) {
  const KindTexts& texts = texts_of(spec.kind);
  const auto decimal = read_decimal(trimmed(text));
  if (!decimal) {
    throw InputError(in_quotes(text) + " is not a " + std::string(texts.name) + for_instance(spec, text));
  }
  if (decimal->rest.empty()) throw InputError(in_quotes(text) + " has no unit" + for_instance(spec, text));
  for (const Unit& unit : texts.units) {
    if (unit.name == decimal->rest) return {*decimal, unit};
  }
  // As fio writes sizes.
  std::string as_fio;
  if (texts.name == "size" && decimal->rest.size() == 1) {
    for (const Unit& unit : texts.units) {
      const bool binary = unit.name.size() == 3;
      if (binary && std::tolower(unit.name.front()) == std::tolower(decimal->rest.front()))
        as_fio = "; write for instance '" + std::string(decimal->number) + " " + std::string(unit.name) + "'";
    }
  }
  throw InputError(in_quotes(text) + ": " + in_quotes(decimal->rest) + " is not a unit of " +
                   std::string(texts.name) + (as_fio.empty() ? "; use " + std::string(texts.names) : as_fio) +
                   (spec.kind == Kind::bytes_or_share ? ", or % for a share" : ""));
}

std::int64_t read_quantity(const ParameterSpec& spec, std::string_view text) {
  const std::string_view too_fine = texts_of(spec.kind).too_fine;
  if (too_fine.empty()) throw std::logic_error("quantity: a kind that is not held as a whole number");
  const Written written = read_written(spec, text);
  return scaled(written.number, written.unit.scale, too_fine, text);
}

double read_duration(const ParameterSpec& spec, std::string_view text) {
  const Written written = read_written(spec, text);
  return nearest_double(multiplied(std::string(written.number.number), written.unit.scale), text);
}

double read_temperature(const ParameterSpec& spec, std::string_view text) {
  constexpr double k_absolute_zero = -273.15;
  constexpr std::int64_t k_nano = 1'000'000'000;
  constexpr std::int64_t k_zero_celsius = 273'150'000'000;  // nK
  const auto [number, unit] = read_written(spec, text);
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

double read_share(const ParameterSpec& spec, std::string_view text) {
  const auto decimal = read_decimal(trimmed(text));
  if (!decimal) throw InputError(in_quotes(text) + " is not a share" + for_instance(spec, text));
  if (decimal->rest == "%") return to_double(*decimal, -2, text);
  if (decimal->rest == "x") return to_double(*decimal, 0, text);
  if (decimal->rest.empty()) throw InputError(in_quotes(text) + " has no unit" + for_instance(spec, text));
  throw InputError(in_quotes(text) + ": " + in_quotes(decimal->rest) + " is not a unit of share" +
                   for_instance(spec, text));
}

std::int64_t parse_integer(std::string_view text) {
  const std::string_view whole = trimmed(text);
  const bool plus = whole.starts_with('+');
  const std::string_view digits = plus ? whole.substr(1) : whole;
  std::int64_t value = 0;
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  const bool signed_twice = plus && digits.starts_with('-');
  const bool all = parsed.ptr == digits.data() + digits.size() && !digits.empty() && !signed_twice;
  if (all && parsed.ec == std::errc::result_out_of_range)
    throw InputError(in_quotes(text) + (digits.front() == '-' ? " is too small" : " is too large"));
  if (!all || parsed.ec != std::errc()) throw InputError(in_quotes(text) + " is not a whole number");
  return value;
}

double parse_real(std::string_view text) {
  const auto decimal = read_decimal(trimmed(text));
  if (!decimal || !decimal->rest.empty()) throw InputError(in_quotes(text) + " is not a number");
  return to_double(*decimal, 0, text);
}

bool parse_flag(const ParameterSpec& spec, std::string_view text) {
  if (text == "true" || (spec.one_or_zero && text == "1")) return true;
  if (text == "false" || (spec.one_or_zero && text == "0")) return false;
  throw InputError(in_quotes(text) + " is not " + kind_text(spec));
}

void check_choice(const ParameterSpec& spec, std::string_view text) {
  if (std::find(spec.choices.begin(), spec.choices.end(), text) != spec.choices.end()) return;
  throw InputError(in_quotes(text) + " is not one of " + any_of(spec.choices, 40) +
                   did_you_mean(text, spec.choices));
}

Value parse_unchecked(const ParameterSpec& spec, std::string_view text) {
  switch (spec.kind) {
    case Kind::flag:
      return parse_flag(spec, text);
    case Kind::integer:
      return parse_integer(text);
    case Kind::real:
      return parse_real(text);
    case Kind::share:
      return read_share(spec, text);
    case Kind::duration:
      return read_duration(spec, text);
    case Kind::temperature:
      return read_temperature(spec, text);
    case Kind::bytes_or_share: {
      const std::string_view whole = trimmed(text);
      if (whole.ends_with('%') || whole.ends_with('x')) return read_share(spec, text);
      return read_quantity(spec, text);
    }
    case Kind::text:
      if (spec.filled && trimmed(text).empty())
        throw InputError("is empty; give it a value, or leave the key out");
      return std::string(text);
    case Kind::choice:
      check_choice(spec, text);
      return std::string(text);
    default:
      return read_quantity(spec, text);
  }
}

/// `text`: as it was written; empty: not known.
void check_range(const ParameterSpec& spec, const Value& value, std::string_view text = {}) {
  bool within = false;
  ParameterSpec limits = spec;
  if (const auto* whole = std::get_if<std::int64_t>(&value)) {  // as a double it might pass one beyond
    within = *whole >= whole_limit(limits.minimum) && *whole <= whole_limit(limits.maximum);
  } else if (const auto* real = std::get_if<double>(&value)) {
    if (spec.kind == Kind::bytes_or_share) {
      // The range is in bytes; a share is of something, so at most all of it, and nothing where
      // 0 B will do.
      limits.kind = Kind::share;
      limits.minimum = spec.minimum > 0 ? 0.0001 : 0;
      limits.maximum = 1;
    }
    within = *real >= limits.minimum && *real <= limits.maximum;
  } else {
    return;
  }
  if (within || !has_limits(limits)) return;
  const bool as_written = limits.kind == Kind::share && !text.empty() && text.size() <= k_longest_guess;
  throw InputError((as_written ? std::string(text) : format_value(spec.kind, value)) +
                   " is out of range: must be " + range_text(limits));
}

ParameterSpec of_kind(Kind kind) {
  ParameterSpec spec;
  spec.kind = kind;
  spec.required = true;
  return spec;
}

}  // namespace

std::int64_t parse_quantity(Kind kind, std::string_view text) {
  return read_quantity(of_kind(kind), text);
}
double parse_duration(std::string_view text) {
  return read_duration(of_kind(Kind::duration), text);
}
double parse_temperature(std::string_view text) {
  return read_temperature(of_kind(Kind::temperature), text);
}
double parse_share(std::string_view text) {
  return read_share(of_kind(Kind::share), text);
}

Value parse_value(const ParameterSpec& spec, std::string_view text) {
  Value value = parse_unchecked(spec, text);
  check_range(spec, value, trimmed(text));
  return value;
}

void check_value(const ParameterSpec& spec, const Value& value) {
  if (value == spec.fallback) return;
  const auto check = [&]<class T>(const T& held) {
    constexpr bool k_list = requires { typename T::value_type; } && !std::is_same_v<T, std::string>;
    if constexpr (k_list) {
      for (const auto& element : held) check_range(spec, element);
    } else if (spec.kind == Kind::choice) {
      check_choice(spec, std::get<std::string>(value));
    } else {
      check_range(spec, value);
    }
  };
  std::visit(check, value);
}

std::string acceptable(const ParameterSpec& spec, std::string_view text) {
  std::string own(trimmed(text));
  if (is_accepted(spec, own)) return own;
  const bool with_units = spec.kind == Kind::share || !quantity_pattern(spec.kind).empty();
  return with_units ? guesses(spec, own).front() : example_of_range(spec);
}

bool has_limits(const ParameterSpec& spec) {
  return spec.minimum != 0 || spec.maximum != 0;
}

bool is_number(Kind kind) {
  return kind != Kind::flag && kind != Kind::text && kind != Kind::choice;
}

std::string range_text(const ParameterSpec& spec) {
  if (!is_number(spec.kind) || !has_limits(spec)) return {};
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
