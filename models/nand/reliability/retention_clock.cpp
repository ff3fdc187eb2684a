#include "models/nand/reliability/retention_clock.h"

#include <algorithm>
#include <cmath>

namespace tlmssd {

namespace {

constexpr double k_boltzmann = 8.617333262e-5;                       // eV / K
constexpr double k_zero_celsius = 273.15;                            // K
constexpr double k_longest = RetentionClock::k_most_days * 86.4e12;  // ns; two of them fit 63 bits

}  // namespace

const ParameterTable<RetentionConfig>& RetentionConfig::parameters() {
  using C = RetentionConfig;
  constexpr Range k_range{RetentionClock::k_coldest, RetentionClock::k_hottest};
  static const auto table =
      ParameterTable<C>{}
          .temperature("temperature", &C::temperature, k_range,
                       "of the drive while it works, in simulated time; while it rests, age.temperature")
          .temperature("reference_temperature", &C::reference_temperature, k_range,
                       "for which the reliability model's retention holds")
          .real("activation_energy", &C::activation_energy, {0, 3},
                "electron volts of the charge loss (Arrhenius); 0: temperature does not matter")
          .duration("least_retention", &C::least_retention, {0, 100 * 365.0 * 86'400},
                    "age that all data are taken to have at least: stands for the age that a workload's data "
                    "reach in "
                    "days, of which a simulation sees seconds");
  return table;
}

RetentionClock::RetentionClock(const RetentionConfig& config)
    : config_(config),
      least_days_(config.least_retention / 86'400),
      rate_(acceleration(config.temperature)) {}

double RetentionClock::acceleration(double celsius) const {
  return std::exp(config_.activation_energy / k_boltzmann *
                  (1 / (config_.reference_temperature + k_zero_celsius) - 1 / (celsius + k_zero_celsius)));
}

std::int64_t RetentionClock::at(Picoseconds now) const {
  const double seen = static_cast<double>(now) / 1000 * rate_;
  return std::min(skipped_ + static_cast<std::int64_t>(std::min(seen, k_longest)),
                  static_cast<std::int64_t>(k_longest));
}

bool RetentionClock::has_ended(Picoseconds now) const {
  return at(now) >= static_cast<std::int64_t>(k_longest);
}

void RetentionClock::archive(Archive& a, Picoseconds now) {
  const std::int64_t seen = at(now) - skipped_;
  std::int64_t reading = at(now);
  a(reading);
  skipped_ = reading - seen;
}

void RetentionClock::age(double seconds, double celsius) {
  const double more = seconds * 1e9 * acceleration(celsius);
  skipped_ = static_cast<std::int64_t>(std::min(static_cast<double>(skipped_) + more, k_longest));
}

}  // namespace tlmssd
