// Standard normal deviates that belong to a place for good: a hash, not a stream, so that it does
// not matter who asks first.
//
// 4096 equally likely deviates, so they are cut at 3.7 sigma.
#pragma once

#include <array>
#include <cstdint>

namespace tlmssd {

inline constexpr unsigned k_normal_bits = 12;
/// Deviates z > 0 at which the normal distribution is (i + 1/2) / 4096, for the upper half of all
/// i.
const std::array<double, std::size_t{1} << (k_normal_bits - 1)>& upper_normal_quantiles();

/// The deviate that `hash`, all of whose bits are random, stands for.
inline double normal_deviate(std::uint64_t hash) {
  const std::uint64_t i = hash >> (64 - k_normal_bits);
  const double z = upper_normal_quantiles()[i >> 1U];
  return (i & 1U) != 0 ? -z : z;
}

}  // namespace tlmssd
