// A muParser expression with the words of formulas: arguments of an array operation, latencies of a
// part, units of time.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "models/nand/timing/arguments.h"

namespace mu {
class Parser;
}

namespace tlmssd {

class Expression {
 public:
  /// Where an expression cannot be read.
  struct Unreadable {
    std::size_t position;  ///< from 0
    std::string what;
  };

  /// Throws Unreadable. `time_scale`: every time in it counts so many times as much; 1 but for the
  /// check of units.
  Expression(std::string_view text, const NandPart& part, double time_scale = 1);
  ~Expression();
  Expression(const Expression&) = delete;
  Expression& operator=(const Expression&) = delete;

  /// The arguments that it looks at, in the order of timing_arguments().
  [[nodiscard]] const std::vector<const TimingArgument*>& used() const { return used_; }
  [[nodiscard]] bool uses_base() const { return uses_base_; }
  /// `values`: of used(), in that order; `base` in picoseconds. Picoseconds where it is a time; may
  /// be anything, also NaN.
  [[nodiscard]] double value(const std::vector<double>& values, double base) const;

 private:
  static double latency(void* latencies, double type);
  struct Latencies {
    std::vector<double> of;
  };
  double scale_;
  Latencies reads_;
  Latencies programs_;
  std::unique_ptr<mu::Parser> parser_;
  std::vector<const TimingArgument*> used_;
  bool uses_base_ = false;
  mutable std::vector<double> variables_;  // of all arguments, then base; muParser looks there
};

}  // namespace tlmssd
