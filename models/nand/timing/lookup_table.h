// A table of latencies over any arguments of an array operation, written line by line as in a CSV
// file:
//
//   type, layer, cycles, time          the arguments, then `time`, or `factor` of what the data sheet says
//   0,    0,     0,      820 us
//   0,    0,     3000,   700 us
//   ...
//
// The lines must make a whole grid: each combination of the values that stand in the columns once.
// Between two values of a column the answer is linear in that column (or that of the lower value,
// for `step`), beyond the first and the last it stays as there. Columns that are names rather than
// quantities (type, slc, resumed, plane, die) are matched exactly: there must be a line for each
// that occurs. A column is an argument that the operation has. Empty lines and lines that begin
// with # are passed over.
#pragma once

#include <string>
#include <vector>

#include "models/nand/timing/arguments.h"

namespace tlmssd {

class LookupTable {
 public:
  enum class Between : std::uint8_t { linear, step };

  /// No table: applies() is false.
  LookupTable() = default;
  struct Limits {
    Picoseconds data_sheet;  ///< the shortest time there; a factor must leave something of it
    Picoseconds longest;     ///< no time may be above it
  };
  /// `key`: what it is called in messages; `command`: the operations that it is of. InputError
  /// names the line of the table.
  LookupTable(const std::string& key, const std::vector<std::string>& lines, const NandPart& part,
              ArrayCommand command, const Limits& limits, Between between);
  /// InputError when a die of a drive of so many has no line.
  void check_dies(std::uint32_t dies) const;

  [[nodiscard]] bool empty() const { return values_.empty(); }
  /// Whether it says anything of blocks in SLC mode: only if it has a column `slc`.
  [[nodiscard]] bool applies(const ArrayOperation& op) const { return !empty() && (!op.slc() || has_slc_); }
  [[nodiscard]] bool looks_at_history() const;
  /// Picoseconds, `data_sheet` being what the data sheet says.
  [[nodiscard]] double at(const ArrayOperation& op, Picoseconds data_sheet) const;

 private:
  struct Axis {
    const TimingArgument* argument = nullptr;
    std::vector<double> points;  // ascending
    std::size_t stride = 0;      // in values_
  };
  /// Where a value lies on its axis: at `low`, or `share` of the way to the next point.
  struct Spot {
    std::size_t low = 0;
    double share = 0;
  };
  class Parser;
  void check_category(const Axis& axis, double value) const;
  [[nodiscard]] Spot locate(const Axis& axis, double value) const;

  std::string key_;
  std::vector<Axis> axes_;
  std::vector<double> values_;
  bool factor_ = false;  // values_ are shares of the data sheet's, else picoseconds
  bool has_slc_ = false;
  Between between_ = Between::linear;
};

}  // namespace tlmssd
