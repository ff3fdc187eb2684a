// What reports show of a drive's firmware beside its statistics: counts over time, and every block
// at the end.
#pragma once

#include "platform/ssd.h"
#include "testbench/measure/block_census.h"
#include "testbench/measure/drive_series.h"

namespace tlmssd {

DriveSample sample(const Ssd& ssd, Picoseconds now);
/// Looks at every block.
BlockCensus census(const Ssd& ssd);

}  // namespace tlmssd
