// Fields of a trace line: the parts that need not be inline.
#include "testbench/loads/text/fields.h"

#include <cctype>
#include <fmt/format.h>

namespace tlmssd {

std::string quoted_input(std::string_view text) {
  static constexpr std::size_t k_readable = 40;
  std::string result = "\"";
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i == k_readable) {
      result += "...";
      break;
    }
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x20 || byte >= 0x7F || byte == '"' || byte == '\\') {
      result += fmt::format("\\x{:02X}", byte);
    } else {
      result += text[i];
    }
  }
  return result + "\"";
}

void bad_field(const LineReader& at, const FieldSpec& field, std::string_view text,
               std::string_view problem) {
  at.fail(
      fmt::format("field {}: {} {}, expected {}", field.name, quoted_input(text), problem, field.expected));
}

bool Fields::next_quoted(std::string_view& field) {
  const std::string_view blanks = separator_ == '\t' ? " " : " \t";
  const std::size_t first = rest_.find_first_not_of(blanks);
  if (first == std::string_view::npos || rest_[first] != '"') return false;
  std::size_t last = rest_.find('"', first + 1);
  while (last != std::string_view::npos && rest_.substr(last + 1).starts_with('"'))
    last = rest_.find('"', last + 2);
  if (last == std::string_view::npos) return false;
  std::string_view behind = rest_.substr(last + 1);
  const std::size_t next = behind.find_first_not_of(blanks);
  if (next != std::string_view::npos && separator_ != ' ' && behind[next] != separator_) return false;
  if (next == 0 && separator_ == ' ') return false;
  field = trimmed(rest_.substr(first + 1, last - first - 1));
  ended_ = next == std::string_view::npos;
  rest_ = ended_ ? std::string_view{} : behind.substr(separator_ == ' ' ? next : next + 1);
  return true;
}

void Fields::missing(const LineReader& at, const FieldSpec& spec) {
  at.fail(fmt::format("field {}: is missing, expected {}", spec.name, spec.expected));
}

void bad_number(const LineReader& at, const FieldSpec& spec, std::string_view text) {
  if (text.empty()) at.fail(fmt::format("field {}: is missing, expected {}", spec.name, spec.expected));
  const bool negative = text.front() == '-';
  std::uint64_t value = 0;
  const auto [end, error] =
      std::from_chars(text.data() + (negative ? 1 : 0), text.data() + text.size(), value);
  const bool whole = end == text.data() + text.size() && error != std::errc::invalid_argument;
  if (whole && negative) bad_field(at, spec, text, "is negative");
  if (whole && error == std::errc::result_out_of_range) bad_field(at, spec, text, "is too large");
  bad_field(at, spec, text, "is not a whole number");
}

WideTime time_stamp(const LineReader& at, const FieldSpec& spec, std::string_view text, Picoseconds unit) {
  const char* const last = text.data() + text.size();
  std::uint64_t whole = 0;
  const auto [end, error] = std::from_chars(text.data(), last, whole);
  if (error == std::errc::result_out_of_range) bad_field(at, spec, text, "is too large");
  if (error != std::errc{}) {
    const bool negative =
        text.size() > 1 && text.front() == '-' && std::isdigit(static_cast<unsigned char>(text[1])) != 0;
    bad_field(at, spec, text, negative ? "is negative" : "is not a number");
  }
  WideTime time = static_cast<WideTime>(whole) * static_cast<std::uint64_t>(unit);
  if (end == last) return time;
  if (*end != '.') bad_field(at, spec, text, "is not a number");
  std::uint64_t place = static_cast<std::uint64_t>(unit);
  for (const char* digit = end + 1; digit != last; ++digit) {
    if (*digit < '0' || *digit > '9') bad_field(at, spec, text, "is not a number");
    // unit is a power of ten, so each place is exact; digits below a picosecond are dropped
    place /= 10;
    time += place * static_cast<std::uint64_t>(*digit - '0');
  }
  return time;
}

}  // namespace tlmssd
