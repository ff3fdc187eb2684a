// One expression that gives a latency, in the words of timing_arguments() and of the data sheet:
//
//   "tR[type] * (1 + 0.08 * age_days^0.3) + retry * 12us"
//
// muParser reads and evaluates it: + - * / ^, comparisons, && ||, c ? a : b, min max abs sqrt exp ln log2 log10 and the like.
// Times are written with their unit (ps ns us ms s); `base` is what the data sheet says of the operation, tR[i] and tPROG[i]
// what it says of page type i, tBERS of an erase.
//
// Checked when it is made: that the operation has its arguments, that the result is a time
// (multiplied by k when all times are), and that it is above 0 and finite for whatever can occur.
// Type, layer, word line, page, pages and base go together, page by page; ranges of the others are
// tried out at every corner and at points between, all of them where the arguments are few. Die and
// block are checked when the drive is known. What slips through is refused in the run, at the
// operation it happens to.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "models/nand/timing/arguments.h"

namespace tlmssd {

class Formula {
 public:
  /// `key`: what it is called in messages; `command`, `slc`: what it is asked about. InputError
  /// names the position in `text`.
  Formula(const std::string& key, const std::string& text, const NandPart& part, ArrayCommand command,
          bool slc);
  ~Formula();
  Formula(Formula&&) noexcept;
  Formula& operator=(Formula&&) noexcept;

  [[nodiscard]] bool looks_at_history() const;
  /// InputError when it is no latency on some die or block of this drive.
  void check_drive(const Geometry& drive) const;
  /// Answers are kept for each set of arguments that the formula looks at. InputError when the
  /// answer is no time.
  [[nodiscard]] Picoseconds at(const ArrayOperation& op) const;

 private:
  class Evaluator;
  std::unique_ptr<Evaluator> evaluator_;
};

}  // namespace tlmssd
