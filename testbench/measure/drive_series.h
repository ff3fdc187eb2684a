// The drive over time: what its firmware has counted so far.
#pragma once

#include <cstdint>

#include "models/base/types.h"
#include "testbench/measure/thinned_series.h"

namespace tlmssd {

/// Counts are since the start of measurement.
struct DriveSample {
  Picoseconds when = 0;           ///< simulated time
  bool inside_known = true;       ///< else the firmware tells nothing of the next two
  std::uint64_t free_blocks = 0;  ///< blocks of parallel units that are ready to be written
  std::uint64_t buffered = 0;     ///< mapping pages in the write buffer
  std::uint64_t written = 0;      ///< bytes that the host wrote
  std::uint64_t programmed = 0;   ///< bytes programmed, padding included
  std::uint64_t collected = 0;    ///< bytes of these that collection moved
  std::uint64_t erases = 0;       ///< erase operations
};

using DriveSeries = ThinnedSeries<DriveSample, 512, 1'000'000>;

}  // namespace tlmssd
