// Decimal numbers as people write them, exact until they are rounded once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tlmssd {

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
std::optional<Decimal> read_decimal(std::string_view text);

/// The decimal times `scale` as a whole number. Throws InputError naming `text`; `too_fine` says
/// why a fraction is refused.
std::int64_t scaled(const Decimal& decimal, std::uint64_t scale, std::string_view too_fine,
                    std::string_view text);

/// The nearest double of a decimal number. Throws InputError naming `text`.
double nearest_double(std::string_view number, std::string_view text);

/// A decimal number times `factor`, exactly: digit by digit from the last one before the exponent.
std::string multiplied(std::string number, std::uint64_t factor);

/// The number as the nearest double, times ten to `shift`. Throws InputError naming `text`.
double to_double(const Decimal& decimal, int shift, std::string_view text);

/// The shortest text that gives back `value` times ten to `shift`: "0.25", "1.5e-30". `value`
/// finite.
std::string real_text(double value, int shift = 0);

}  // namespace tlmssd
