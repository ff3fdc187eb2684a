// What tables and formulas call the fields of an ArrayOperation, and between which values they may
// lie on a part.
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
  bool whole;                            ///< only whole numbers
  bool category;                         ///< a name rather than a quantity: nothing lies between two of them
  bool history;                          ///< see TimingModel::looks_at_history
};

/// All of them, in the order of the documentation.
std::span<const TimingArgument> timing_arguments();
/// Null when none is called so.
const TimingArgument* find_timing_argument(std::string_view name);
/// "type, word_line, ...".
std::string timing_argument_names();

}  // namespace tlmssd
