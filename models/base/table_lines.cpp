#include "models/base/table_lines.h"

#include <fmt/format.h>

#include "models/base/input_error.h"

namespace tlmssd {

namespace {

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

}  // namespace

void TableLines::refuse_line(std::size_t line, const std::string& what) const {
  const std::string place = line == 0 ? "" : fmt::format("line {}: ", line);
  throw InputError(Complaint{{}, 0, key_, place + what, {}});
}

std::vector<std::string> TableLines::fields_of(const std::string& line) {
  const std::string text = trimmed(line);
  if (text.empty() || text.front() == '#') return {};
  std::vector<std::string> fields;
  for (std::size_t begin = 0;;) {
    const std::size_t comma = text.find(',', begin);
    fields.push_back(trimmed(text.substr(begin, comma - begin)));
    if (comma == std::string::npos) return fields;
    begin = comma + 1;
  }
}

}  // namespace tlmssd
