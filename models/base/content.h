// What stands for data in the emulator: one 16-bit stamp per logical block (512 B or 4 KiB of host
// data).
//
// Moving real bytes would cost more than the whole simulation, so a logical block's content is a
// stamp derived from its address and its write sequence number. The host driver makes stamps,
// everything below treats them as opaque data and moves them by value, and the scoreboard
// recomputes them on every read: stale data shows as a wrong sequence number, misdirected data as a
// wrong address (missed with probability 1 / 61440 per mapping page). 0 means "never written or
// trimmed": such a block reads as zeros.
//
// The host may also write the same data to several units (testbench/scoreboard/contents.h). Their
// stamps are derived from the number of the content alone. The first block of such a unit has a
// stamp that no write of other data gives it, so that contents collide neither with each other nor
// with data that there are once.
#pragma once

#include <algorithm>
#include <cstdint>

#include "models/base/types.h"

namespace tlmssd {

using Stamp = std::uint16_t;
inline constexpr Stamp k_zeros = 0;

/// Distance of the stamps of neighbouring blocks of a unit that were written together.
inline constexpr std::uint32_t k_stamp_stride = 509;

/// Contents that several units may hold are numbered from 1 to this; the number is the stamp of
/// the first block.
inline constexpr std::uint32_t k_shared_contents = 4095;

/// Stamp of the first block of data that `unit` alone holds, by the `sequence`-th write to it.
/// Writes of a unit differ for 61440 in a row.
constexpr Stamp first_stamp(Lpn unit, std::uint16_t sequence) {
  constexpr std::uint32_t k_own = 65535U - k_shared_contents;
  std::uint32_t hash = unit * 0x9E3779B1U;
  hash ^= hash >> 15U;
  return static_cast<Stamp>(1U + k_shared_contents + (hash % k_own + sequence) % k_own);
}

/// Stamp of logical block `block` of a unit, counted from the one that has stamp `first`; neither
/// is k_zeros.
constexpr Stamp stamp_from(Stamp first, std::uint32_t block) {
  return static_cast<Stamp>(1U + (first - 1U + block * k_stamp_stride) % 65535U);
}

/// Stamp of logical block `block` (counted within its mapping page) by the `sequence`-th write to
/// `unit`; never k_zeros.
constexpr Stamp make_stamp(Lpn unit, std::uint16_t sequence, std::uint32_t block = 0) {
  return stamp_from(first_stamp(unit, sequence), block);
}

/// The stamp of the next block of the same unit, written by the same write. A NAND page keeps one
/// stamp for all blocks of a unit when each follows the one before (or all are k_zeros).
constexpr Stamp following_stamp(Stamp stamp) {
  if (stamp == k_zeros) return k_zeros;
  const std::uint32_t next = stamp + k_stamp_stride;
  return static_cast<Stamp>(next > 65535U ? next - 65535U : next);
}

/// Copies stamps: mostly one, for which a call would be dear.
inline void copy_stamps(const Stamp* from, std::uint32_t count, Stamp* to) {
  if (count == 1) {
    *to = *from;
  } else {
    std::copy_n(from, count, to);
  }
}

/// The content that a unit of so many blocks holds, if others may hold it as well: its number, as
/// the hash of real data would tell it; 0: no other unit holds these data.
constexpr std::uint32_t shared_content(const Stamp* stamps, std::uint32_t blocks) {
  if (stamps[0] == k_zeros || stamps[0] > k_shared_contents) return 0;
  for (std::uint32_t block = 1; block < blocks; ++block) {
    if (stamps[block] != following_stamp(stamps[block - 1])) return 0;
  }
  return stamps[0];
}

}  // namespace tlmssd
