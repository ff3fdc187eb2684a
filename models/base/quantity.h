// Quantities as users write them ("50 ns", "4 KiB", "3.2 GB/s", "25 %") to values and back.
//
// Every quantity carries its unit; a bare number is refused. Whole-number kinds are converted by
// exact integer arithmetic: "1.5 us" is 1500000 ps, and what cannot be held exactly ("0.5 ps", "0.3
// KiB") is refused, as is what does not fit 63 bits.
//
//   time         ps ns us ms s min h d            bytes      B KiB MiB GiB TiB, kB (KB) MB GB TB
//   bandwidth    B/s KB/s (kB/s) MB/s GB/s, KiB/s MiB/s GiB/s    frequency  Hz kHz MHz GHz, MT/s GT/s
//   duration     s min h d y (365 d): seconds as a real number, for what 63 bits of picoseconds cannot hold
//   temperature  C, K: degrees Celsius as a real number, not below absolute zero
//   share        "25 %" or "2x"                    integer, real: no unit; flag: true or false
//
// Every parse error is an InputError whose message has no place in it: the reader of a file adds
// "file:line: key".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/input_error.h"
#include "models/base/parameters.h"

namespace tlmssd {

/// A number of so many digits without a unit is taken for bytes: such are copied from where sizes
/// and bandwidths are in bytes.
inline constexpr std::size_t k_digits_of_bytes = 7;

/// One scalar of the spec's kind (for a list: one element), checked against choices and range.
Value parse_value(const ParameterSpec& spec, std::string_view text);

/// Throws InputError when a value that was not parsed, an element of a list too, is none of the
/// choices or out of range. The default, which may mean something of its own, is accepted.
void check_value(const ParameterSpec& spec, const Value& value);

/// `text` itself where the spec accepts it (for a list: as one element), else the nearest guess
/// that it accepts, else a value of its range; empty where there is none.
std::string acceptable(const ParameterSpec& spec, std::string_view text);

/// A list parameter out of its elements (each as parse_value returned it).
Value make_list(const ParameterSpec& spec, const std::vector<Value>& elements);

/// time, bytes, bandwidth or frequency in base units (ps, B, B/s, Hz).
std::int64_t parse_quantity(Kind kind, std::string_view text);
/// "25 %" is 0.25, "2x" is 2.
double parse_share(std::string_view text);
/// In seconds, as the nearest double of what is written: "6 d" is 518400.
double parse_duration(std::string_view text);
/// In degrees Celsius: "40 C" and "313.15 K" are 40. A temperature in kelvins is taken to the
/// nanokelvin.
double parse_temperature(std::string_view text);

/// The canonical text of a scalar: the shortest exact one. parse(format(x)) == x for every value.
std::string format_value(Kind kind, const Value& value);
/// The canonical texts of a list's elements; of a scalar: just the one.
std::vector<std::string> format_elements(Kind kind, const Value& value);

/// Whether values of the kind are numbers, which may have a range.
bool is_number(Kind kind);
/// Whether there is a range: 0 to 0 is none.
bool has_limits(const ParameterSpec& spec);
/// "0 s to 1 ms", "at least 1 KiB"; empty when the kind has no range or there is no limit.
std::string range_text(const ParameterSpec& spec);
/// What a user must write: "time (ps, ns, ...)", "whole number", "one of a, b or c".
std::string kind_text(const ParameterSpec& spec);
/// Regular expression (ECMA 262) that quantities with a unit match; empty for other kinds.
std::string quantity_pattern(Kind kind);

}  // namespace tlmssd
