// Wrong bits of every frame that is read: a reliability model's average page, made into this page
// of this block, and its rate made into whole numbers of errors.
//
// Rate of a page = rate at the retry step x page type's multiplier x block's factor x page's
// factor. The factors are lognormal with mean 1 and belong to the place for good; the normal
// deviates behind them are 4096 equally likely ones, so they are cut at 3.7 sigma.
//
// Read-retry levels (calibrated to a study of 160 chips of 48-layer TLC, ASPLOS'21: F "none
// when fresh, 8 steps at 1K cycles and 3 months, 19.9 on average at 2K cycles and 1 year"): the
// best read voltages lie s steps below the default ones,
//
//   s = shift * cycles^0.927 * ln(1 + days)               shift 0.00294 and the exponent put s through those two points (D)
//
// and what lies there moves while the data age. So a step takes away errors that came by age, and
// no others: wear and disturb stay. With R(t) the model's rate of the page at age t, a read at step
// l has
//
//   R(0) + floor (R(t) - R(0)) + (1 - floor) (R(t') - R(0))
//
// where data of age t' have their best voltages as far from the default ones as those of this page
// are from step l: shift * cycles^0.927 * ln(1 + t') = max(|s - l|, min(s, 1/2)). That is the
// model's rate at l = 0 and at 2 s, more beyond, and at l = s the share `floor` of what age has added,
// which no voltage can tell apart (A, the form and the share). Half a step is how near the steps come
// (A: the best voltages of a page's states are not on one grid), so that the errors at the best step
// never become fewer as data age. t' ends at 126 years, as the clock of retention does. The published numbers
// are of steps until a read succeeds; here they are where the errors are fewest, so a code that can
// take more stops a little earlier. Disturbed pages are given no other best voltages. A block that was
// never cycled counts as one cycled once.
//
// With retry_step_errors above 0 the model's rate is that at a step within half a step of the best
// voltages, the floor has no part, and a read at step l has
//
//   retry_step_errors (max(|s - l|, 1/2)^2 - 1/4)         added to it, before the factors above
//
// so that, as in that study, old pages cannot be read at the default voltages at all, and errors
// fall steeply towards the last step. The parabola is an assumption (A).
//
// A page in SLC mode has slc_error_share of the model's errors (A; none published: two states have
// the window of sixteen), whatever its place on the word line, unless the model knows of the mode.
// Variation and read-retry levels are the same.
//
// Pass voltage: a sense puts Vpass on all word lines but one, and that is what disturbs. At the
// share v of the nominal voltage it does
//
//   exp(-pass_decay (1 - v))                              of the disturb of a nominal one
//
// (F: falls exponentially, Cai et al., DSN 2015; 35, from 2 % less voltage being half of the
// errors, B: MLC, 2Y nm). Below the share 1 - pass_margin cells of the highest states do not open
// any more, and the page that is read has
//
//   pass_errors (1 - v - pass_margin)^2                   added to its rate, before the factors above
//
// (A, form and numbers; Cai et al. have such errors grow with the reduction, and fewer of them the
// older the data are, which is left out).
//
// The errors of a frame follow from a hash of (seed, place, erases, frame): data has the same
// errors whenever it is read, and they only become more as the rate grows (with age, reads, a worse
// retry step). Left out: which bits are wrong; noise from one read to the next; that another retry
// step has other bits wrong, not just fewer.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "models/base/types.h"
#include "models/nand/reliability/error_distribution.h"
#include "models/nand/reliability/reliability_model.h"

namespace tlmssd {

/// Beside the parameters of the model in the scenario's section ssd.flash.reliability. Assumptions
/// (A): a dispersion that doubles the variance of a 1 KiB frame, a worst block in a thousand with
/// 1.8 times and a worst page with 1.6 times the average rate, a tenth of what age adds to the
/// errors left at the best read voltages, a hundredth of them in SLC mode.
struct ErrorConfig {
  std::string distribution = "beta-binomial";
  double dispersion = 1e-4;
  double block_variation = 0.2;
  double page_variation = 0.15;
  std::vector<double> page_types;
  double retry_shift = 0.00294;
  double retry_floor = 0.1;
  double retry_cycle_exponent = 0.927;
  double retry_step_errors = 0;
  double slc_error_share = 0.01;
  double pass_decay = 35;
  double pass_margin = 0.02;
  double pass_errors = 0.5;

  /// Every bit for itself; else beta-binomial.
  [[nodiscard]] bool is_binomial() const;
  static const ParameterTable<ErrorConfig>& parameters();
};

class BitErrors {
 public:
  /// A page and the data in it.
  struct Place {
    DieId die;
    PlaneId plane;
    BlockId block;
    PageId page;
    std::uint32_t erases;  ///< of the block so far: which generation of data
  };

  /// `frame_bits`: bits of a codeword, parity included; `name`: of the model, for messages.
  /// InputError when the configuration contradicts the part.
  BitErrors(std::unique_ptr<ReliabilityModel> model, const NandPart& part, const ErrorConfig& config,
            std::uint32_t frame_bits, std::uint64_t seed, std::string name = "of one's own");

  /// Raw bit error rate of this page, 0 to 0.5, variation and page type included, read with the
  /// voltages of step `level` of the read-retry levels (0: default). `pass_voltage`: of the
  /// other word lines, as a share of the nominal one.
  [[nodiscard]] double rber(const Place& place, const ArrayOperation& stress, std::uint32_t level,
                            double pass_voltage = 1) const;

  /// Whether rber() looks at the deviates in `stress`.
  [[nodiscard]] bool looks_at_variation() const { return model_->looks_at_variation(); }

  /// Disturb of a sense with this pass voltage, as a share of that of a nominal one.
  [[nodiscard]] double disturb_weight(double pass_voltage) const;

  /// Wrong bits of each of `count` frames of the page from number `first` on, at this rate.
  void draw(const Place& place, double rber, std::uint32_t first, std::uint32_t count,
            std::uint32_t* errors) const;

  /// Probability of more than `t` wrong bits in a frame at `rber`: the closed form.
  [[nodiscard]] double tail(double rber, std::uint32_t t) const { return distribution_.tail(rber, t); }

  /// Where on the read-retry levels the best read voltages of a page are: steps from the
  /// default, not rounded.
  [[nodiscard]] double best_level(const ArrayOperation& stress) const;

 private:
  [[noreturn]] void refuse_rate(const ArrayOperation& stress, double rate) const;
  [[nodiscard]] double mode_factor(const ArrayOperation& stress) const;
  [[nodiscard]] double pass_rate(double pass_voltage) const;
  [[nodiscard]] double average(const ArrayOperation& stress) const;
  [[nodiscard]] double shift_rate(const ArrayOperation& stress) const;
  [[nodiscard]] double rate_at_step(const ArrayOperation& stress, std::uint32_t level,
                                    double by_default) const;
  [[nodiscard]] double misplaced_rate(const ArrayOperation& stress, std::uint32_t level) const;

  std::unique_ptr<ReliabilityModel> model_;
  std::string name_;
  ErrorConfig config_;
  ErrorDistribution distribution_;
  std::array<double, 4> type_factors_{1, 1, 1, 1};
  std::vector<float> block_factors_;  // equally likely; empty: all 1
  std::vector<float> page_factors_;
  std::uint64_t seed_;
};

}  // namespace tlmssd
