#include "models/base/table_lines.h"

#include "models/base/input_error.h"
#include "models/base/trimmed.h"

namespace tlmssd {

namespace {

constexpr std::string_view k_blanks = " \t\r";

}  // namespace

void TableLines::refuse_line(std::size_t line, const std::string& what) const {
  throw objection_to_table(key_, line, what);
}

std::vector<std::string> TableLines::fields_of(const std::string& line) const {
  std::string_view rest = trimmed(line, k_blanks);
  if (rest.empty() || rest.front() == '#') return {};
  std::vector<std::string> fields;
  for (;;) {
    fields.push_back(take_field(rest));
    if (rest.empty()) return fields;
    rest.remove_prefix(1);  // the comma
    rest = trimmed(rest, k_blanks);
  }
}

/// Takes it and the blanks behind it from the beginning of `rest`.
std::string TableLines::take_field(std::string_view& rest) const {
  if (!rest.starts_with('"')) {
    const std::string_view field = rest.substr(0, rest.find(','));
    rest.remove_prefix(field.size());
    return std::string(trimmed(field, k_blanks));
  }
  std::string field;
  for (std::size_t i = 1; i < rest.size(); ++i) {
    if (rest[i] == '"') {
      const bool quote = i + 1 < rest.size() && rest[i + 1] == '"';
      if (!quote) {
        rest = trimmed(rest.substr(i + 1), k_blanks);
        if (!rest.empty() && rest.front() != ',')
          refuse("has something between a quotation mark and a comma");
        return std::string(trimmed(field, k_blanks));
      }
      ++i;
    }
    field += rest[i];
  }
  refuse("has no second quotation mark");
}

}  // namespace tlmssd
