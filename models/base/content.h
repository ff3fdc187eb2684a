// What stands for data in the emulator: one 16-bit stamp per logical block (512 B or 4 KiB of host
// data).
//
// Moving real bytes would cost more than the whole simulation, so a logical block's content is a
// stamp derived from its address and its write sequence number. The host driver makes stamps,
// everything below treats them as opaque data and moves them by value, and the scoreboard
// recomputes them on every read: stale data shows as a wrong sequence number, misdirected data as a
// wrong address (missed with probability 2^-16 per mapping page). 0 means "never written or
// trimmed": such a block reads as zeros.
#pragma once

#include <algorithm>
#include <cstdint>

#include "models/base/types.h"

namespace tlmssd {

using Stamp = std::uint16_t;
inline constexpr Stamp k_zeros = 0;

/// Distance of the stamps of neighbouring blocks of a unit that were written together.
inline constexpr std::uint32_t k_stamp_stride = 509;

/// Stamp of logical block `block` (counted within its mapping page) by the `sequence`-th write to
/// `unit`; never k_zeros.
constexpr Stamp make_stamp(Lpn unit, std::uint16_t sequence, std::uint32_t block = 0) {
  std::uint32_t hash = unit * 0x9E3779B1U;
  hash ^= hash >> 15U;
  return static_cast<Stamp>(1U + (hash % 65535U + sequence + block * k_stamp_stride) % 65535U);
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

}  // namespace tlmssd
