// Measured error rates: a grid over cycles and retention, with read disturb on top.
//
// Between grid points the logarithm of the rate is interpolated linearly in the logarithms of
// cycles and days, so power laws come out exact. An axis may begin at 0, which has no logarithm:
// between 0 and the next point it is linear. Below its first point an axis is clamped; beyond its
// last one the rate goes on with the slope of the axis' last interval, on average over the other
// axis (a worn block must not stop wearing where the measurement ended, and no row must cross
// another out there). Read disturb adds a constant rate per read. Leaves out: disturb that grows
// with wear.
//
// The default grid is sampled from the power law of 72-layer TLC (D), to show the form.
#pragma once

#include <vector>

#include "models/nand/reliability/reliability_model.h"

namespace tlmssd {

struct RberTableConfig {
  std::vector<double> cycles = {0, 1000, 3000};
  std::vector<double> days = {0, 30, 365};
  std::vector<double> rber = {1.48e-3, 1.87e-3, 3e-3,      // 0 cycles: as after the first
                              2.03e-3, 3.06e-3, 6.03e-3,   // 1000
                              6.72e-3, 7.93e-3, 11.4e-3};  // 3000
  double read_disturb = 0;

  static const ParameterTable<RberTableConfig>& parameters();
};

class RberTable final : public ReliabilityModel {
 public:
  static constexpr std::string_view k_name = "table";
  static constexpr std::string_view k_summary =
      "bit error rates given at points of cycles and retention, interpolated in logarithms";
  using Config = RberTableConfig;
  /// InputError when the lists contradict each other.
  RberTable(const Config& config, const NandPart& part);

  [[nodiscard]] double rber(const ArrayOperation& stress) const override;
  [[nodiscard]] bool looks_at_variation() const override { return false; }

 private:
  /// One axis: its points, and where a value lies among them.
  class Axis {
   public:
    Axis(const char* key, const std::vector<double>& points);
    /// The place of a value.
    struct Spot {
      std::size_t low = 0;   ///< the point at or below
      std::size_t high = 0;  ///< the point after it; the same when there is none
      double share = 0;      ///< of the way from low to high, 0 to 1
      double beyond = 0;     ///< past the last point, in lengths of the last interval
    };
    [[nodiscard]] Spot locate(double value) const;
    [[nodiscard]] std::size_t size() const { return points_.size(); }

   private:
    std::vector<double> points_;
  };
  Axis cycles_;
  Axis days_;
  std::vector<double> log_rber_;  // a row of all days for each entry of cycles
  double row_step_ = 0;           // mean growth over the last interval of cycles, as a logarithm
  double column_step_ = 0;        // the same of days
  double read_disturb_;
};

}  // namespace tlmssd
