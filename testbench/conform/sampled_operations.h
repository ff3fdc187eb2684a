// Operations of a part's array at random, every field within its range and the ends of the ranges
// often.
#pragma once

#include <string_view>

#include "models/base/random.h"
#include "models/nand/part/array_operation.h"

namespace tlmssd {

class SampledOperations {
 public:
  SampledOperations(const NandPart& part, std::uint64_t seed);
  ArrayOperation next();
  /// Of this kind; native mode unless `slc`.
  ArrayOperation next(ArrayCommand command, bool slc = false);
  /// A number from `low` to `high`: one in four times an end.
  double between(double low, double high);

  /// A value that this argument of `op` can have (models/nand/timing/arguments.h).
  double among(std::string_view argument, const ArrayOperation& op);

  /// A retention time after `age_days`, or the same: each up to five times the last, so that a few
  /// steps reach the end of the clock.
  double later(double age_days);

  /// Other values for all that TimingModel::looks_at_history() speaks of.
  void change_history(ArrayOperation& op);

 private:
  const NandPart& part_;
  PageShape shape_;
  std::uint32_t step_;
  RandomStream random_;
};

}  // namespace tlmssd
