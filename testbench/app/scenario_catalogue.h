// All that a scenario may contain: the drive (platform), and what is done with it (log-structured
// host layer, file cache, precondition, load, run, report).
#pragma once

#include <string>
#include <vector>

#include "models/base/parameters.h"
#include "platform/scenario/catalogue.h"

namespace tlmssd {

/// Section `run`: how the measured run is carried out.
struct RunSection {
  bool timed = true;
  Picoseconds quantum = 1'000'000'000;
  Picoseconds stall_after = 0;
  std::string long_requests = "split";
  std::string errors = "fail";
  Picoseconds pause_at = 0;  ///< 0: never
  static const ParameterTable<RunSection>& parameters();
};

/// Section `report`: what is written beside the report.
struct ReportSection {
  std::string command_log = "none";
  bool timeline = false;
  bool merge = false;
  std::string silence;
  std::vector<std::string> decisions;
  [[nodiscard]] bool logs_commands() const { return command_log != "none"; }
  /// Names in `silence`. Throws InputError for one that no rule of the adviser has.
  [[nodiscard]] std::vector<std::string> silenced() const;
  static const ParameterTable<ReportSection>& parameters();
};

/// Only with report.timeline.
struct TimelineSection {
  Picoseconds from = 0;
  Picoseconds length = 10'000'000'000;
  std::uint32_t slowest = 0;
  Picoseconds margin = 50'000'000;
  static const ParameterTable<TimelineSection>& parameters();
};

/// Only with report.decisions.
struct DecisionFilter {
  std::vector<std::int64_t> lpn;    ///< first and last, or one; none: all
  std::vector<std::int64_t> block;  ///< the same of blocks
  Picoseconds from = 0;
  Picoseconds length = 0;  ///< 0: to the end
  std::uint64_t most = 1'000'000;
  static const ParameterTable<DecisionFilter>& parameters();
  void check() const;
};

const Catalogue& scenario_catalogue();

}  // namespace tlmssd
