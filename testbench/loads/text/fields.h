// Fields of a trace line: splitting, numbers, and the messages that say what is wrong with them.
//
// Numbers are read by std::from_chars; nothing here allocates unless a message is made.
#pragma once

#include <charconv>
#include <string_view>

#include "models/base/trimmed.h"
#include "models/base/types.h"
#include "testbench/loads/text/line_reader.h"

namespace tlmssd {

/// Time in picoseconds on the recording's own, possibly absolute, scale: Windows file time does not
/// fit 64 bits.
using WideTime = unsigned __int128;

/// What a field is called and what should stand there.
struct FieldSpec {
  std::string_view name;
  std::string_view expected;
};

/// "file:line: field NAME: "TEXT" PROBLEM, expected EXPECTED".
[[noreturn]] void bad_field(const LineReader& at, const FieldSpec& field, std::string_view text,
                            std::string_view problem);
/// Text in quotes, cut to a readable length, what cannot be printed written as \xNN.
std::string quoted_input(std::string_view text);

/// Takes a line apart at a separator; ' ' stands for any run of blanks and tabs.
class Fields {
 public:
  /// In tables a field may be in double quotes, which hold separators together. Doubled ones in it
  /// stay as they are.
  enum class Quotes : bool { are_text, taken_off };
  Fields(std::string_view line, char separator, Quotes quotes = Quotes::are_text)
      : rest_(line), separator_(separator), quotes_(quotes) {
    if (separator_ == ' ') skip_blanks();
    ended_ = separator_ == ' ' && rest_.empty();
  }
  /// The next field, blanks around it removed; false when there is none.
  bool next(std::string_view& field) {
    if (ended_) return false;
    if (quotes_ == Quotes::taken_off && next_quoted(field)) return true;
    if (separator_ == ' ') {
      const std::size_t size = std::min(rest_.find_first_of(" \t"), rest_.size());
      field = rest_.substr(0, size);
      rest_.remove_prefix(size);
      skip_blanks();
      ended_ = rest_.empty();
      return true;
    }
    const std::size_t size = rest_.find(separator_);
    field = trimmed(rest_.substr(0, size));
    ended_ = size == std::string_view::npos;
    if (!ended_) rest_.remove_prefix(size + 1);
    return true;
  }
  /// The next field, which must be there.
  std::string_view need(const LineReader& at, const FieldSpec& spec) {
    std::string_view field;
    if (!next(field) || field.empty()) missing(at, spec);
    return field;
  }
  [[nodiscard]] bool ended() const { return ended_; }
  /// Everything not yet taken.
  [[nodiscard]] std::string_view rest() const { return ended_ ? std::string_view{} : rest_; }

 private:
  /// A field in quotes with a separator behind it; false: there is none.
  bool next_quoted(std::string_view& field);
  [[noreturn]] static void missing(const LineReader& at, const FieldSpec& spec);
  void skip_blanks() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\t')) rest_.remove_prefix(1);
  }
  std::string_view rest_;
  char separator_;
  Quotes quotes_;
  bool ended_ = false;
};

[[noreturn]] void bad_number(const LineReader& at, const FieldSpec& spec, std::string_view text);

/// A whole number of at most 64 bits.
inline std::uint64_t whole_number(const LineReader& at, const FieldSpec& spec, std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) bad_number(at, spec, text);
  return value;
}

/// number * unit, refusing what does not fit.
inline std::uint64_t scaled_number(const LineReader& at, const FieldSpec& spec, std::string_view text,
                                   std::uint64_t unit) {
  const std::uint64_t value = whole_number(at, spec, text);
  std::uint64_t product = 0;
  if (__builtin_mul_overflow(value, unit, &product)) bad_field(at, spec, text, "is too large");
  return product;
}

/// A number with or without a decimal fraction, in units of `unit` picoseconds.
WideTime time_stamp(const LineReader& at, const FieldSpec& spec, std::string_view text, Picoseconds unit);

}  // namespace tlmssd
