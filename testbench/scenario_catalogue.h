// All that a scenario may contain: the drive (platform), and what is done with it (converter, file cache, precondition, load, run, report).
#pragma once

#include <string>
#include <vector>

#include "models/common/parameters.h"
#include "platform/scenario/catalogue.h"

namespace tlmssd {

/// Section `run`: how the measured run is carried out.
struct RunSection {
  bool timed = true;
  Picoseconds quantum = 1'000'000'000;
  Picoseconds stall_after = 0;
  static const ParameterTable<RunSection>& parameters();
};

/// Section `report`: what is written beside the report.
struct ReportSection {
  std::string command_log = "none";
  bool timeline = false;
  static const ParameterTable<ReportSection>& parameters();
};

/// Only with report.timeline.
struct TimelineSection {
  Picoseconds from = 0;
  Picoseconds length = 10'000'000'000;
  static const ParameterTable<TimelineSection>& parameters();
};

const Catalogue& scenario_catalogue();

}  // namespace tlmssd
