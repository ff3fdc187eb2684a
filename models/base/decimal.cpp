#include "models/base/decimal.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "models/base/input_error.h"
#include "models/base/suggest.h"
#include "models/base/trimmed.h"

namespace tlmssd {

namespace {

using Wide = unsigned __int128;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
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

}  // namespace

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
  if (value > k_limit)
    throw InputError(in_quotes(text) + (decimal.negative ? " is too small" : " is too large"));
  const auto whole = static_cast<std::int64_t>(value);
  return decimal.negative ? -whole : whole;
}

double nearest_double(std::string_view number, std::string_view text) {
  if (number.front() == '+') number.remove_prefix(1);
  double value = 0;
  const auto parsed = std::from_chars(number.data(), number.data() + number.size(), value);
  if (parsed.ec == std::errc::result_out_of_range) {
    throw InputError(in_quotes(text) + " is too large or too small");
  }
  return value;
}

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
  return nearest_double(plain, text);
}

std::string real_text(double value, int shift) {
  if (value == 0) return "0";
  Shortest number = shortest(value);
  number.exponent += shift;
  return decimal_text(std::move(number));
}

}  // namespace tlmssd
