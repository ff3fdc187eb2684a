// Retention of three-dimensional NAND: the logarithm of the error rate grows with the logarithm of
// time, the faster the more the block is worn:
//
//   ln RBER = (A c + B) ln t + C c + D                    c: P/E cycles, t: retention in days, at least t_min
//
// Form F; the coefficients are assumptions (A), chosen so that a page has 2e-4 fresh, and after
// 3000 cycles 5e-4 within a day and 4e-3 - about what 72 bits per 1 KiB correct - within a year.
// Early loss: below t_min, where the logarithm has no bottom, the rate stays what it is at t_min.
// With t_min below exp(-C / A) a page just programmed would get better with wear. Leaves out: read
// disturb, and the difference between layers other than as random variation from page to page.
#pragma once

#include <cmath>

#include "models/nand/reliability/reliability_model.h"

namespace tlmssd {

struct LogRetentionConfig {
  double wear_retention = 8.3e-5;
  double retention = 0.1;
  double wear = 3.05e-4;
  double level = -8.52;
  double shortest_retention = 1.0 / 24;

  static const ParameterTable<LogRetentionConfig>& parameters() {
    using C = LogRetentionConfig;
    static const auto table =
        ParameterTable<C>{}
            .real("wear_retention", &C::wear_retention, {0, 1},
                  "A of ln RBER = (A c + B) ln t + C c + D, c: program/erase cycles, t: days")
            .real("retention", &C::retention, {0, 10}, "B of ln RBER: slope over ln t of an unworn block")
            .real("wear", &C::wear, {0, 1}, "C of ln RBER: growth per cycle, one day after programming")
            .real("level", &C::level, {-50, 0}, "D of ln RBER: an unworn block, one day after programming")
            .real("shortest_retention", &C::shortest_retention, {1e-6, 1},
                  "days: data younger than this have the error rate of this age");
    return table;
  }
};

class LogRetention final : public ReliabilityModel {
 public:
  static constexpr std::string_view k_name = "log-retention";
  static constexpr std::string_view k_summary =
      "three-dimensional NAND: ln RBER = (A c + B) ln t + C c + D; the coefficients are assumptions";
  using Config = LogRetentionConfig;
  LogRetention(const Config& config, const NandPart& /*part*/) : c_(config) {}

  [[nodiscard]] double rber(const ArrayOperation& stress) const override {
    const double log_days = std::log(std::max(stress.age_days, c_.shortest_retention));
    return at_most_half(std::exp((c_.wear_retention * stress.cycles + c_.retention) * log_days +
                                 c_.wear * stress.cycles + c_.level));
  }
  [[nodiscard]] bool looks_at_variation() const override { return false; }

 private:
  Config c_;
};

}  // namespace tlmssd
