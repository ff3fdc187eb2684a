// Power laws of wear, retention and read disturb, added up:
//
//   RBER = base + a c^k1 + b c^k2 t^n2 + d c^k3 r^n3      c: P/E cycles, t: retention in days, r: reads per page since programming
//
// Form and default coefficients: those published for 72-layer TLC (F; the text that gives them does
// not name the original source). That t is in days is inferred from plausibility. Data in a block
// that was never erased are there by its first cycle: retention and disturb take c as 1 at least.
// Leaves out: a curvature other than that of the powers.
#pragma once

#include <algorithm>
#include <cmath>

#include "models/nand/reliability/reliability_model.h"

namespace tlmssd {

struct PowerLawConfig {
  double base = 1.48e-3;
  double wear = 3.90e-10;
  double wear_exponent = 2.05;
  double retention = 6.28e-5;
  double retention_cycle_exponent = 0.14;
  double retention_exponent = 0.54;
  double disturb = 3.73e-9;
  double disturb_cycle_exponent = 0.33;
  double disturb_exponent = 1.71;

  static const ParameterTable<PowerLawConfig>& parameters() {
    using C = PowerLawConfig;
    static const auto table =
        ParameterTable<C>{}
            .real("base", &C::base, {0, 0.5}, "bit error rate of a fresh page")
            .real("wear", &C::wear, {0, 0.5}, "a of the wear term a c^k1, c: program/erase cycles")
            .real("wear_exponent", &C::wear_exponent, {0, 10}, "k1 of the wear term")
            .real("retention", &C::retention, {0, 0.5}, "b of the retention term b c^k2 t^n2, t: days")
            .real("retention_cycle_exponent", &C::retention_cycle_exponent, {0, 10},
                  "k2 of the retention term")
            .real("retention_exponent", &C::retention_exponent, {0, 10}, "n2 of the retention term")
            .real("disturb", &C::disturb, {0, 0.5},
                  "d of the read disturb term d c^k3 r^n3, r: reads per page since it was programmed")
            .real("disturb_cycle_exponent", &C::disturb_cycle_exponent, {0, 10},
                  "k3 of the read disturb term")
            .real("disturb_exponent", &C::disturb_exponent, {0, 10}, "n3 of the read disturb term");
    return table;
  }
};

class PowerLaw final : public ReliabilityModel {
 public:
  static constexpr std::string_view k_name = "power-law";
  static constexpr std::string_view k_summary =
      "sum of power laws of cycles, retention and reads; defaults: published fit of 72-layer TLC";
  using Config = PowerLawConfig;
  PowerLaw(const Config& config, const NandPart& /*part*/) : c_(config) {}

  [[nodiscard]] double rber(const ArrayOperation& stress) const override {
    const double wear = c_.wear * std::pow(stress.cycles, c_.wear_exponent);
    const double cycles = std::max(stress.cycles, 1.0);
    const double retention = c_.retention * std::pow(cycles, c_.retention_cycle_exponent) *
                             std::pow(stress.age_days, c_.retention_exponent);
    const double disturb = c_.disturb * std::pow(cycles, c_.disturb_cycle_exponent) *
                           std::pow(stress.reads_per_page, c_.disturb_exponent);
    return at_most_half(c_.base + wear + retention + disturb);
  }
  [[nodiscard]] bool looks_at_variation() const override { return false; }

 private:
  Config c_;
};

}  // namespace tlmssd
