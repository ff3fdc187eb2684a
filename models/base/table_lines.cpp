#include "models/base/table_lines.h"

#include <fmt/format.h>

#include "models/base/input_error.h"
#include "models/base/trimmed.h"

namespace tlmssd {

namespace {

constexpr std::string_view k_blanks = " \t\r";

}  // namespace

void TableLines::refuse_line(std::size_t line, const std::string& what) const {
  const std::string place = line == 0 ? "" : fmt::format("line {}: ", line);
  throw objection(key_, place + what);
}

std::vector<std::string> TableLines::fields_of(const std::string& line) {
  const std::string_view text = trimmed(line, k_blanks);
  if (text.empty() || text.front() == '#') return {};
  std::vector<std::string> fields;
  for (std::size_t begin = 0;;) {
    const std::size_t comma = text.find(',', begin);
    fields.emplace_back(trimmed(text.substr(begin, comma - begin), k_blanks));
    if (comma == std::string::npos) return fields;
    begin = comma + 1;
  }
}

}  // namespace tlmssd
