// Tables that a scenario gives line by line, as in a CSV file: a line that names the columns, then
// lines of values. Empty lines and lines that begin with # are passed over; a value may be in
// double quotes, which then stand for themselves when they are doubled.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tlmssd {

/// Goes through the lines of a table, and says in which line something is wrong.
class TableLines {
 public:
  /// `key`: what the table is called in messages; `columns`: an example of a first line.
  TableLines(std::string key, std::string columns) : key_(std::move(key)), columns_(std::move(columns)) {}

  /// Calls `header(fields)` for the first line and `row(fields)` for each other. InputError when
  /// there is not one of each.
  template <class Header, class Row>
  void read(const std::vector<std::string>& lines, Header header, Row row) {
    std::size_t told = 0;
    for (const std::string& line : lines) {
      ++line_;
      const std::vector<std::string> fields = fields_of(line);
      if (fields.empty()) continue;
      if (told++ == 0) {
        header(fields);
      } else {
        row(fields);
      }
    }
    line_ = 0;
    if (told == 0) refuse("has no lines; the first one names its columns: " + columns_);
    if (told == 1) refuse("has no line of values under its header");
  }
  /// Of the line that is being read; 0: none.
  [[nodiscard]] std::size_t line() const { return line_; }
  /// Throws InputError, with the line that is being read.
  [[noreturn]] void refuse(const std::string& what) const { refuse_line(line_, what); }
  [[noreturn]] void refuse_line(std::size_t line, const std::string& what) const;

 private:
  /// Between commas, without blanks around them; nothing: the line is passed over.
  [[nodiscard]] std::vector<std::string> fields_of(const std::string& line) const;
  std::string take_field(std::string_view& rest) const;

  std::string key_;
  std::string columns_;
  std::size_t line_ = 0;
};

}  // namespace tlmssd
