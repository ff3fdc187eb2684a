// 1X-nm MLC, CALIBRATED: no public curve of such a part was found, so this one is made from what
// Yamaga et al. say of the number of cycles at which their weaker code (Quick-LDPC) hands over to
// the stronger one:
//
//   RBER = fresh + K N^k t^n, n = 0.465 k                 N: P/E cycles, t: retention in days
//
// "2.3 times more cycles at 1 day of retention than at 6 days" (S) gives N_max ~ t^-0.465 and with
// it n / k (D). The curve goes through the anchor: hand-over near 2000 cycles (S, for prxy_1) at 1
// day, where the rate is what Quick-LDPC can just take (A). k is not published: 2.05 is the wear
// exponent of the 72-layer TLC fit (F there, A here); it scales what the stronger codes gain (their
// ratio of tolerable RBER is 1.57^k, D). Never show it as a measured curve. Leaves out: read
// disturb, lower and upper pages (give `page_types`), neighbour interference beyond its part in the
// total.
#pragma once

#include <algorithm>
#include <cmath>

#include "models/base/input_error.h"
#include "models/base/quantity.h"
#include "models/nand/reliability/reliability_model.h"

namespace tlmssd {

struct CalibratedMlcConfig {
  double exponent = 2.05;
  double retention_exponent_ratio = 0.465;
  double anchor_cycles = 2000;
  double anchor_retention = 1;
  double anchor_rber = 5.4e-3;
  double fresh = 1e-5;

  static const ParameterTable<CalibratedMlcConfig>& parameters() {
    using C = CalibratedMlcConfig;
    static const auto table =
        ParameterTable<C>{}
            .real("exponent", &C::exponent, {0.1, 10},
                  "k of RBER = fresh + K N^k t^n, N: program/erase cycles")
            .real("retention_exponent_ratio", &C::retention_exponent_ratio, {0, 10},
                  "n / k, t in days: the cycles a code can take fall as t to minus this")
            .real("anchor_cycles", &C::anchor_cycles, {1, 1'000'000},
                  "cycles of the point the curve goes through")
            .real("anchor_retention", &C::anchor_retention, {0.001, 10'000},
                  "days of retention of that point")
            .real("anchor_rber", &C::anchor_rber, {1e-9, 0.5}, "bit error rate of that point")
            .real("fresh", &C::fresh, {0, 0.5}, "bit error rate of a fresh page");
    return table;
  }
};

class CalibratedMlc final : public ReliabilityModel {
 public:
  static constexpr std::string_view k_name = "calibrated-mlc";
  static constexpr std::string_view k_summary =
      "1X-nm MLC, CALIBRATED to the hand-over of codes that Yamaga et al. report; not a measured curve";
  using Config = CalibratedMlcConfig;
  CalibratedMlc(const Config& config, const NandPart& /*part*/)
      : fresh_(config.fresh), k_(config.exponent), n_(config.exponent * config.retention_exponent_ratio) {
    if (config.anchor_rber <= config.fresh) {
      throw refusal("anchor_rber", "must be above fresh, the rate of a fresh page",
                    format_value(Kind::real, std::min(2 * config.fresh, 0.5)));
    }
    scale_ = (config.anchor_rber - config.fresh) /
             (std::pow(config.anchor_cycles, k_) * std::pow(config.anchor_retention, n_));
  }

  [[nodiscard]] double rber(const ArrayOperation& stress) const override {
    return at_most_half(fresh_ + scale_ * std::pow(stress.cycles, k_) * std::pow(stress.age_days, n_));
  }
  [[nodiscard]] bool looks_at_variation() const override { return false; }

 private:
  double fresh_;
  double k_;
  double n_;
  double scale_ = 0;  // K
};

}  // namespace tlmssd
