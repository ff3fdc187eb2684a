// What a run is to reach: quality-of-service targets, each of one figure of one load, and whether
// they are met.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "models/base/parameters.h"
#include "testbench/measure/measurement.h"
#include "testbench/report/metric.h"

namespace tlmssd {

/// One entry of the scenario's list `targets`.
struct TargetSection {
  std::string load;
  std::string metric;
  std::string at_most;
  std::string at_least;
  static const ParameterTable<TargetSection>& parameters();
};

/// A load as targets name it.
struct TargetLoad {
  std::string name;
  std::string job;  ///< what the loads of one job (numjobs) have in common
  /// All that it may ask for; nothing: that is not known beforehand.
  std::optional<std::vector<HostOpcode>> operations = std::nullopt;
};

/// What targets are set for.
struct TargetRun {
  std::vector<TargetLoad> loads;
  bool timed = true;     ///< it takes simulated time
  bool pslc = true;      ///< the drive has one, or may have
  bool relayed = false;  ///< software of the host asks the drive, in place of the loads
};

class Target {
 public:
  /// Throws InputError for a name that no load or figure has, for a figure that this run cannot
  /// have, and for a limit that is none.
  Target(const TargetSection& section, const TargetRun& run);
  /// {"load", "metric", "at_most", "at_least", "value", "unit", "met", "text"}; value is null where
  /// nothing was measured, which does not meet a target.
  [[nodiscard]] nlohmann::ordered_json judged(const Measurement& measurement,
                                              const nlohmann::ordered_json& report) const;
  /// "oltp read.p99.99 (5000 commands)" where fewer than one command lies beyond the percentile;
  /// empty: there are more, or it is of none.
  [[nodiscard]] std::string with_too_few(const Measurement& measurement) const;

 private:
  void check_measurable(const TargetRun& run) const;
  [[nodiscard]] std::vector<const LoadMeasurement*> loads_of(const Measurement& measurement) const;
  [[nodiscard]] std::string full_name() const {
    return load_.empty() ? metric_.name() : load_ + " " + metric_.name();
  }
  [[nodiscard]] std::optional<double> limit(const char* key, const std::string& text) const;
  [[nodiscard]] bool meets(double value) const;
  [[nodiscard]] int digits_for(double value) const;

  Metric metric_;
  std::string load_;                  ///< empty: all of them
  std::vector<std::size_t> numbers_;  ///< of the loads that are meant
  std::optional<double> at_most_;     ///< in the units of the metric's kind
  std::optional<double> at_least_;
};

}  // namespace tlmssd
