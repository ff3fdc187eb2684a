// Scenario section `log_structured`: software of the host that turns random writes into sequential
// ones.
#pragma once

#include <string>

#include "models/base/parameters.h"
#include "testbench/host/drive_port.h"
#include "testbench/host/log_structured/segment_log.h"

namespace tlmssd {

/// Whether there is one.
struct LogStructuredChoice {
  std::string policy = "log-structured";
  static const ParameterTable<LogStructuredChoice>& parameters();
};

struct LogStructuredConfig {
  Bytes grain = Bytes{4} << 10U;
  Bytes segment = Bytes{1} << 20U;
  double spare = 0.10;
  std::uint32_t low_water = 2;
  Picoseconds cost = 0;
  static const ParameterTable<LogStructuredConfig>& parameters();
};

/// The log on such a drive: whole segments, of which loads see all but the spare share. Throws
/// InputError, which begins with the key, when sizes do not fit each other.
SegmentLog::Shape log_shape(const LogStructuredConfig& config, const AttachedDrive& drive);

}  // namespace tlmssd
