// Spreads numbers over 64 bits: for hash tables, and for chance that belongs to a place for good.
#pragma once

#include <cstdint>

namespace tlmssd {

/// 2^64 divided by the golden ratio: the highest bits of `k_golden * n` are spread evenly for
/// successive n (Knuth, The Art of Computer Programming 3, 6.4).
inline constexpr std::uint64_t k_golden = 0x9E3779B97F4A7C15U;

/// The finisher of splitmix64: every bit of the result depends on every bit of `z`.
constexpr std::uint64_t mixed(std::uint64_t z) {
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31U);
}

}  // namespace tlmssd
