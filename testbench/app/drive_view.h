// What the program shows of a drive's firmware beside its statistics: where its units lie, counts
// over time, and every block at the end.
#pragma once

#include "firmware/base/layout.h"
#include "platform/ssd.h"
#include "testbench/measure/block_census.h"
#include "testbench/measure/drive_series.h"

namespace tlmssd {

/// Of whichever firmware the drive has.
firmware::Layout layout_of(const Ssd& ssd);
DriveSample sample(const Ssd& ssd, Picoseconds now);
/// Looks at every block.
BlockCensus census(const Ssd& ssd);

}  // namespace tlmssd
