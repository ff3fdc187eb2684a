#include "models/nand/timing/lookup_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <limits>

#include "models/base/input_error.h"
#include "models/base/quantity.h"
#include "models/base/suggest.h"
#include "models/base/table_lines.h"

namespace tlmssd {

namespace {

constexpr std::size_t k_most_axes = 6;
constexpr std::size_t k_most_values = 1'000'000;
constexpr int k_most_factor = 1000;  // of the data sheet's time
constexpr double k_unset = std::numeric_limits<double>::quiet_NaN();

double number_of(const std::string& text) {
  ParameterSpec spec;
  spec.kind = Kind::real;
  spec.minimum = -1e15;
  spec.maximum = 1e15;
  return std::get<double>(parse_value(spec, text));
}

}  // namespace

/// Reads the lines into the table.
class LookupTable::Parser {
 public:
  Parser(LookupTable& table, const NandPart& part, ArrayCommand command, const Limits& limits)
      : table_(table),
        lines_(table.key_, "type, cycles, time"),
        part_(part),
        command_(command),
        limits_(limits) {}

  void read(const std::vector<std::string>& lines) {
    std::vector<std::vector<double>> rows;
    lines_.read(
        lines, [this](const std::vector<std::string>& names) { read_header(names); },
        [&](const std::vector<std::string>& fields) {
          rows.push_back(read_row(fields));
          places_.push_back(lines_.line());
        });
    make_axes(rows);
    fill(rows);
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const { lines_.refuse(what); }

  void read_header(const std::vector<std::string>& names) {
    const std::string& last = names.back();
    if (last != "time" && last != "factor")
      refuse("the last column is " + in_quotes(last) + "; it must be \"time\" or \"factor\"");
    if (names.size() == 1) refuse("names no argument before " + in_quotes(last));
    if (names.size() > k_most_axes + 1) refuse(fmt::format("has more than {} arguments", k_most_axes));
    table_.factor_ = last == "factor";
    for (std::size_t i = 0; i + 1 < names.size(); ++i) {
      if (names[i] == "time" || names[i] == "factor")
        refuse("names both " + in_quotes(names[i]) + " and " + in_quotes(last) +
               "; give one, as the last column");
      const TimingArgument* argument = find_timing_argument(names[i]);
      if (argument == nullptr)
        refuse(in_quotes(names[i]) + " is no argument; there is " + timing_argument_names());
      if (!argument->belongs_to(command_)) refuse(in_quotes(names[i]) + " " + no_argument_of(command_));
      for (const Axis& axis : table_.axes_)
        if (axis.argument == argument) refuse(in_quotes(names[i]) + " is there twice");
      table_.axes_.push_back({argument, {}, 0});
      table_.has_slc_ = table_.has_slc_ || names[i] == "slc";
    }
  }

  std::vector<double> read_row(const std::vector<std::string>& fields) const {
    if (fields.size() != table_.axes_.size() + 1)
      refuse(fmt::format("has {} values for {} columns", fields.size(), table_.axes_.size() + 1));
    std::vector<double> row;
    for (std::size_t i = 0; i < table_.axes_.size(); ++i)
      row.push_back(read_argument(*table_.axes_[i].argument, fields[i]));
    row.push_back(read_result(fields.back()));
    return row;
  }

  double read_argument(const TimingArgument& argument, const std::string& text) const {
    try {
      const double value = number_of(text);
      const Range range = argument.range(part_);
      if (value < range.minimum || value > range.maximum)
        throw InputError(fmt::format("{} is outside {} to {}", value, range.minimum, range.maximum));
      if (argument.whole && value != std::floor(value))
        throw InputError(fmt::format("{} is no whole number", value));
      return value;
    } catch (const InputError& problem) {
      refuse(std::string(argument.name) + ": " + problem.complaint().what);
    }
  }

  [[nodiscard]] double read_result(const std::string& text) const {
    try {
      const double value =
          table_.factor_ ? number_of(text) : static_cast<double>(parse_quantity(Kind::time, text));
      const double most = table_.factor_ ? k_most_factor : static_cast<double>(limits_.longest);
      if (!(value > 0) || value > most) {
        throw InputError(
            in_quotes(text) + " is not above 0 and at most " +
            (table_.factor_ ? std::to_string(k_most_factor) : format_value(Kind::time, limits_.longest)));
      }
      if (table_.factor_ && value * static_cast<double>(limits_.data_sheet) < 0.5) {
        throw InputError(in_quotes(text) + " leaves no latency of the data sheet's " +
                         format_value(Kind::time, limits_.data_sheet));
      }
      return value;
    } catch (const InputError& problem) {
      refuse((table_.factor_ ? "factor: " : "time: ") + problem.complaint().what);
    }
  }

  void make_axes(const std::vector<std::vector<double>>& rows) {
    std::size_t size = 1;
    for (std::size_t i = table_.axes_.size(); i-- > 0;) {
      Axis& axis = table_.axes_[i];
      for (const auto& row : rows) axis.points.push_back(row[i]);
      std::sort(axis.points.begin(), axis.points.end());
      axis.points.erase(std::unique(axis.points.begin(), axis.points.end()), axis.points.end());
      axis.stride = size;
      size *= axis.points.size();
      if (size > k_most_values) refuse("has too many combinations of values");
      if (axis.argument->category) check_category(axis);
    }
    table_.values_.assign(size, k_unset);
  }

  /// Of a name every value that occurs must be there: there is nothing between them.
  void check_category(const Axis& axis) const {
    if (axis.argument->name == "die") return;  // how many there are is the drive's business
    for (const BlockMode mode : {BlockMode::native, BlockMode::slc}) {
      if (mode == BlockMode::slc && !(table_.has_slc_ && part_.has_slc_mode())) continue;
      const Range range = axis.argument->occurring(part_, command_, mode);
      for (double value = range.minimum; value <= range.maximum; ++value) table_.check_category(axis, value);
    }
  }

  void fill(const std::vector<std::vector<double>>& rows) {
    for (std::size_t r = 0; r < rows.size(); ++r) {
      std::size_t at = 0;
      for (std::size_t i = 0; i < table_.axes_.size(); ++i) {
        const auto& points = table_.axes_[i].points;
        at += static_cast<std::size_t>(std::lower_bound(points.begin(), points.end(), rows[r][i]) -
                                       points.begin()) *
              table_.axes_[i].stride;
      }
      if (!std::isnan(table_.values_[at])) lines_.refuse_line(places_[r], "these arguments are there twice");
      table_.values_[at] = rows[r].back();
    }
    const auto missing =
        std::find_if(table_.values_.begin(), table_.values_.end(), [](double v) { return std::isnan(v); });
    if (missing == table_.values_.end()) return;
    auto at = static_cast<std::size_t>(missing - table_.values_.begin());
    std::string which;
    for (const Axis& axis : table_.axes_) {
      which += fmt::format("{}{} {}", which.empty() ? "" : ", ", axis.argument->name,
                           axis.points[at / axis.stride]);
      at %= axis.stride;
    }
    refuse("is not a whole grid: there is no line with " + which);
  }

  LookupTable& table_;
  TableLines lines_;
  const NandPart& part_;
  ArrayCommand command_;
  Limits limits_;
  std::vector<std::size_t> places_;
};

LookupTable::LookupTable(const std::string& key, const std::vector<std::string>& lines, const NandPart& part,
                         ArrayCommand command, const Limits& limits, Between between)
    : key_(key), between_(between) {
  Parser(*this, part, command, limits).read(lines);
}

void LookupTable::check_category(const Axis& axis, double value) const {
  if (std::binary_search(axis.points.begin(), axis.points.end(), value)) return;
  throw objection_to_table(key_, 0, fmt::format("has no line with {} {}", axis.argument->name, value));
}

void LookupTable::check_dies(std::uint32_t dies) const {
  for (const Axis& axis : axes_) {
    if (axis.argument->name != "die") continue;
    for (std::uint32_t die = 0; die < dies; ++die) check_category(axis, die);
  }
}

bool LookupTable::looks_at_history() const {
  return std::any_of(axes_.begin(), axes_.end(), [](const Axis& axis) { return axis.argument->history; });
}

LookupTable::Spot LookupTable::locate(const Axis& axis, double value) const {
  const auto& points = axis.points;
  if (value <= points.front()) return {};
  if (value >= points.back()) return {points.size() - 1, 0};
  const auto after = std::upper_bound(points.begin(), points.end(), value);
  const auto low = static_cast<std::size_t>(after - points.begin()) - 1;
  if (between_ == Between::step || axis.argument->category) return {low, 0};
  return {low, (value - points[low]) / (points[low + 1] - points[low])};
}

double LookupTable::at(const ArrayOperation& op, Picoseconds data_sheet) const {
  // The corners around the operation, halved axis by axis: first all of them, then one value.
  std::array<double, std::size_t{1} << k_most_axes> corners{};
  std::array<std::size_t, std::size_t{1} << k_most_axes> offsets{};
  std::size_t count = 1;
  std::array<double, k_most_axes> shares{};
  std::size_t split = 0;
  for (const Axis& axis : axes_) {
    const Spot spot = locate(axis, axis.argument->of(op));
    for (std::size_t i = 0; i < count; ++i) offsets[i] += spot.low * axis.stride;
    if (spot.share == 0) continue;
    for (std::size_t i = 0; i < count; ++i) offsets[count + i] = offsets[i] + axis.stride;
    count *= 2;
    shares[split++] = spot.share;
  }
  for (std::size_t i = 0; i < count; ++i) corners[i] = values_[offsets[i]];
  while (split-- > 0) {
    count /= 2;
    for (std::size_t i = 0; i < count; ++i) corners[i] += shares[split] * (corners[count + i] - corners[i]);
  }
  return factor_ ? corners[0] * static_cast<double>(data_sheet) : corners[0];
}

}  // namespace tlmssd
