// Scenario section `converter`: software of the host that turns random writes into sequential ones.
#pragma once

#include <string>

#include "models/common/parameters.h"
#include "testbench/converter/segment_log.h"
#include "testbench/drive_port.h"

namespace tlmssd {

/// Whether there is one.
struct ConverterChoice {
  std::string policy = "log-structured";
  static const ParameterTable<ConverterChoice>& parameters();
};

struct ConverterConfig {
  Bytes grain = Bytes{4} << 10U;
  Bytes segment = Bytes{1} << 20U;
  double spare = 0.10;
  std::uint32_t low_water = 2;
  Picoseconds cost = 0;
  static const ParameterTable<ConverterConfig>& parameters();
};

/// The log on such a drive: whole segments, of which loads see all but the spare share. Throws InputError, which
/// begins with the key, when sizes do not fit each other.
SegmentLog::Shape log_shape(const ConverterConfig& config, const AttachedDrive& drive);

}  // namespace tlmssd
