// Time as charge loss sees it: retention at the operating temperature, counted as retention at a
// reference temperature.
//
// Arrhenius' law: t_ref = t exp(Ea / k (1 / T_ref - 1 / T)), T absolute, k Boltzmann's constant.
// The activation energy of 1.1 eV (D) follows from "13 hours at 85 C are about a year at 30 C" (F).
// The clock ends at 126 years at the reference temperature; data age no further then.
// The drive has one temperature at a time: no self-heating, no difference between dies. Wear and
// read disturb do not depend on temperature here.
#pragma once

#include <cstdint>

#include "models/base/archive.h"
#include "models/base/parameters.h"
#include "models/base/types.h"

namespace tlmssd {

struct RetentionConfig {
  double temperature = 40;            ///< degrees Celsius
  double reference_temperature = 40;  ///< degrees Celsius
  double activation_energy = 1.1;     ///< electron volts
  double least_retention = 0;         ///< seconds

  static const ParameterTable<RetentionConfig>& parameters();
};

class RetentionClock {
 public:
  explicit RetentionClock(const RetentionConfig& config);

  static constexpr double k_most_days = 126 * 365;  ///< at the reference temperature
  static constexpr double k_coldest = -55;          ///< degrees Celsius that flash may have
  static constexpr double k_hottest = 150;

  /// Nanoseconds at the reference temperature since the drive was made, at most k_most_days. `now`:
  /// the event queue's time, spent at the operating temperature.
  [[nodiscard]] std::int64_t at(Picoseconds now) const;

  /// Age of what was programmed at `from` on this clock: days at the reference temperature, not
  /// less than the configured least.
  [[nodiscard]] double days_since(std::int64_t from, Picoseconds now) const {
    const double age = days(at(now) - from);
    return age < least_days_ ? least_days_ : age;
  }

  /// It has come to its end: no data grow older.
  [[nodiscard]] bool has_ended(Picoseconds now) const;

  /// Operating temperature, degrees Celsius.
  [[nodiscard]] double temperature() const { return config_.temperature; }

  /// For which the retention of models holds, degrees Celsius.
  [[nodiscard]] double reference_temperature() const { return config_.reference_temperature; }

  /// `seconds` pass at `celsius` without the simulation seeing them.
  void age(double seconds, double celsius);

  /// Days in a number of nanoseconds.
  static double days(std::int64_t nanoseconds) { return static_cast<double>(nanoseconds) / 86.4e12; }

  /// Time at the reference temperature for each unit of time at `celsius`.
  [[nodiscard]] double acceleration(double celsius) const;

  /// What the clock says at `now`; restored at another `now`, it goes on from there.
  void archive(Archive& a, Picoseconds now);

 private:
  RetentionConfig config_;
  double least_days_;
  double rate_;               // acceleration at the operating temperature
  std::int64_t skipped_ = 0;  // nanoseconds at the reference temperature that the simulation did not see
};

}  // namespace tlmssd
