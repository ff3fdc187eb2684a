// What tables and formulas call the fields of an ArrayOperation, which operations have them, and
// between which values they may lie on a part.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/nand/part/array_operation.h"

namespace tlmssd {

struct TimingArgument {
  std::string_view name;
  std::string_view doc;
  double (*of)(const ArrayOperation& op);
  Range (*range)(const NandPart& part);  ///< inclusive
  unsigned commands;                     ///< that have it: a bit for each, 1 << ArrayCommand
  bool whole;                            ///< only whole numbers
  bool category;                         ///< a name rather than a quantity: nothing lies between two of them
  bool history;                          ///< see TimingModel::looks_at_history

  [[nodiscard]] bool belongs_to(ArrayCommand command) const {
    return (commands >> static_cast<unsigned>(command) & 1U) != 0;
  }
  /// What operations of this kind on a block of this mode can have of range(). Of an operation
  /// that does not have the argument 0.
  [[nodiscard]] Range occurring(const NandPart& part, ArrayCommand command, BlockMode mode) const;
};

/// All of them, in the order of the documentation.
std::span<const TimingArgument> timing_arguments();
/// Null when none is called so.
const TimingArgument* find_timing_argument(std::string_view name);
/// "type, word_line, ...".
std::string timing_argument_names();
/// "is no argument of an erase, which has cycles, ...".
std::string no_argument_of(ArrayCommand command);

}  // namespace tlmssd
