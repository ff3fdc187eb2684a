// Any other table of requests: the scenario's `columns:` says which column means what, in which
// unit, and how operations are spelled.
#include <algorithm>
#include <array>
#include <stdexcept>

#include "models/base/input_error.h"
#include "testbench/loads/traces/trace_format.h"

namespace tlmssd {

namespace {

enum class Role : std::uint8_t { none, time, op, offset, size, device };

struct TimeUnit {
  std::string_view name;
  Picoseconds picoseconds;
};
constexpr std::array<TimeUnit, 6> k_csv_time_units{{{"s", 1'000'000'000'000},
                                                    {"ms", 1'000'000'000},
                                                    {"us", 1'000'000},
                                                    {"100ns", 100'000},
                                                    {"ns", 1'000},
                                                    {"ps", 1}}};

Picoseconds time_unit(const std::string& name) {
  for (const TimeUnit& unit : k_csv_time_units) {
    if (unit.name == name) return unit.picoseconds;
  }
  throw InputError("columns.time_unit: \"" + name + "\" is no unit, expected s, ms, us, 100ns, ns or ps");
}

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> result;
  Fields fields(text, ',');
  std::string_view word;
  while (fields.next(word)) {
    if (!word.empty()) result.emplace_back(word);
  }
  return result;
}

class CsvFormat final : public TraceFormat {
 public:
  explicit CsvFormat(const ColumnsConfig& config)
      : separator_(separator_of(config)),
        time_unit_(time_unit(config.time_unit)),
        offset_unit_(config.offset_unit),
        size_unit_(config.size_unit),
        has_times_(config.time != 0) {
    assign(config.time, Role::time, "time", false);
    assign(config.op, Role::op, "op", true);
    assign(config.offset, Role::offset, "offset", true);
    assign(config.size, Role::size, "size", true);
    assign(config.device, Role::device, "device", false);
    add_words(config.read, HostOpcode::read);
    add_words(config.write, HostOpcode::write);
    add_words(config.trim, HostOpcode::trim);
    add_words(config.flush, HostOpcode::flush);
    op_expected_ = "one of";
    for (const auto& [word, opcode] : words_) op_expected_ += " " + word;
  }

  bool parse(std::string_view line, const LineReader& at, TraceRecord& record) override {
    std::array<std::string_view, 6> found{};
    Fields fields(line, separator_, Fields::Quotes::taken_off);
    for (const Role role : roles_) {
      std::string_view field;
      if (!fields.next(field)) break;
      found[static_cast<std::size_t>(role)] = field;
    }
    const auto field = [&found](Role role) { return found[static_cast<std::size_t>(role)]; };
    record.opcode = opcode(at, field(Role::op));
    if (has_times_)
      record.time = time_stamp(at, {"time", "a number"}, needed(at, "time", field(Role::time)), time_unit_);
    record.device = field(Role::device);
    if (record.device.size() > 256) bad_field(at, {"device", "a short name"}, record.device, "is too long");
    if (record.opcode == HostOpcode::flush) {
      record.offset = 0;
      record.bytes = 0;
      return true;
    }
    record.offset = scaled_number(at, {"offset", "a whole number"}, field(Role::offset), offset_unit_);
    record.bytes = scaled_number(at, {"size", "a whole number"}, field(Role::size), size_unit_);
    return true;
  }
  [[nodiscard]] bool has_times() const override { return has_times_; }
  /// A table may have been written by completions as well.
  [[nodiscard]] bool needs_sorting() const override { return has_times_; }
  [[nodiscard]] std::string note() const override {
    return has_times_ ? "columns as given" : "columns as given, without times";
  }

 private:
  void assign(std::uint32_t column, Role role, const char* name, bool required) {
    if (column == 0) {
      if (required)
        throw InputError(std::string("columns.") + name + ": is 0, expected the number of a column");
      return;
    }
    if (roles_.size() < column) roles_.resize(column, Role::none);
    if (roles_[column - 1] != Role::none) {
      throw InputError(std::string("columns.") + name + ": column " + std::to_string(column) +
                       " has been given another meaning");
    }
    roles_[column - 1] = role;
  }
  void add_words(const std::string& text, HostOpcode opcode) {
    for (const std::string& word : words_of(text)) {
      for (const auto& [other, meaning] : words_) {
        if (other == word && meaning != opcode) {
          throw InputError("columns: the operation word \"" + word + "\" stands for two operations");
        }
      }
      words_.emplace_back(word, opcode);
    }
  }
  HostOpcode opcode(const LineReader& at, std::string_view text) {
    if (last_ < words_.size() && words_[last_].first == text) return words_[last_].second;
    for (last_ = 0; last_ < words_.size(); ++last_) {
      if (words_[last_].first == text) return words_[last_].second;
    }
    const FieldSpec spec{"op", op_expected_};
    needed(at, "op", text);
    bad_field(at, spec, text, "is no operation");
  }
  static std::string_view needed(const LineReader& at, const char* name, std::string_view text) {
    if (text.empty()) at.fail(std::string("field ") + name + ": is missing, the line has too few columns");
    return text;
  }

  char separator_;
  Picoseconds time_unit_;
  std::uint64_t offset_unit_;
  std::uint64_t size_unit_;
  bool has_times_;
  std::vector<Role> roles_;
  std::vector<std::pair<std::string, HostOpcode>> words_;
  std::size_t last_ = 0;
  std::string op_expected_;
};

}  // namespace

char separator_of(const ColumnsConfig& config) {
  if (config.separator == "comma") return ',';
  if (config.separator == "semicolon") return ';';
  if (config.separator == "tab") return '\t';
  if (config.separator == "blank") return ' ';
  throw InputError("columns.separator: \"" + config.separator +
                   "\" is unknown, expected comma, semicolon, tab or blank");
}

std::unique_ptr<TraceFormat> make_csv_format(const ColumnsConfig& config) {
  return std::make_unique<CsvFormat>(config);
}

}  // namespace tlmssd
