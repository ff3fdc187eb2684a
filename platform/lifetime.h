// How much loads can write until the flash is worn out, by what the measured load wears of it.
//
// A cycle of a mode is a block erased into it, or a block's worth of pages programmed where these
// are more: on a new drive many blocks are filled that need no erase yet. Data that lie in SLC mode
// or in the write buffer at the end, and did not when measurement began, are yet to be programmed
// in native mode, and count as if they had been. A cycle in SLC mode counts for endurance /
// slc_endurance native ones. With W bytes that loads wrote, at the cost of e native cycles, summed
// over B blocks of endurance E, they can write
//
//   W B (E - c) / e  if wear is levelled perfectly, c being the cycles of age.cycles,
//   that times mean / most wear of a block since age, until the first block is worn out, if wear stays
//                    as uneven as it is. With few cycles it is chance which block has one more: there
//                    is no value before the most worn block has k_cycles_to_tell.
//
// It is of the load measured, and true of a drive in steady state. It is no rating: JESD218 and
// JESD219 define one by given loads, retention after the last cycle and a share of drives that may
// fail. Left out: the spread of endurance between blocks, spare blocks that replace the first ones
// to fail, errors that end a drive before its cycles do.
#pragma once

#include <cstdint>
#include <limits>

#include "models/base/statistics.h"
#include "models/base/types.h"

namespace tlmssd {

/// What has been worn, and by how much writing.
struct WearOfLoad {
  Bytes user = 0;                   ///< the drive's capacity
  Bytes written = 0;                ///< by loads, in the measured time
  std::uint64_t blocks = 0;         ///< physical ones, all of them
  double native_cycles = 0;         ///< in the measured time, of all blocks together
  double slc_cycles = 0;            ///< the same in SLC mode
  std::uint32_t endurance = 0;      ///< native cycles; 0: any number
  std::uint32_t slc_endurance = 0;  ///< the same in SLC mode
  std::uint32_t cycles_before = 0;  ///< native cycles that every block had behind it, and that are not left
  /// Mean wear of a block since then as a share of that of the most worn one; NaN: unknown.
  double evenness = std::numeric_limits<double>::quiet_NaN();
};

/// Cycles of the most worn block from which on the evenness of wear tells something (A: one erase
/// more or less is a tenth).
inline constexpr double k_cycles_to_tell = 10;

/// Years of the warranty that drive writes per day are spread over: those of most client and
/// enterprise drives (B). Years have 365 days.
inline constexpr double k_warranty_years = 5;

/// The group `lifetime`. Its values are none where nothing was written or worn, and where endurance
/// is 0.
void report_lifetime(StatisticsSink& sink, const WearOfLoad& wear);

}  // namespace tlmssd
