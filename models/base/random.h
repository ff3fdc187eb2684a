// Random streams: each has a name and a seed derived from the scenario's seed, so adding one
// consumer of randomness never changes what another one draws. Generator: xoshiro256** (Blackman &
// Vigna 2018), seeded by splitmix64.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "models/base/mixing.h"

namespace tlmssd {

class RandomStream {
 public:
  using result_type = std::uint64_t;

  RandomStream(std::uint64_t seed, std::string_view name) {
    std::uint64_t mixer = seed ^ 0x6A09E667F3BCC909U;
    for (const char c : name) mixer = (mixer ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
    for (auto& word : state_) word = mixed(mixer += k_golden);
  }

  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return ~result_type{0}; }
  result_type operator()() {
    const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
    const std::uint64_t t = state_[1] << 17U;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= t;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }
  /// Uniform in [0, bound); bound must be above 0. Bias below 2^-64 * bound (multiply-shift, Lemire
  /// 2019).
  std::uint64_t below(std::uint64_t bound) {
    return static_cast<std::uint64_t>((static_cast<unsigned __int128>((*this)()) * bound) >> 64U);
  }
  /// Uniform in [0, 1).
  double uniform() { return static_cast<double>((*this)() >> 11U) * 0x1.0p-53; }
  /// Standard normal deviate (polar method; draws pairs, keeps one).
  double normal() {
    double u = 0;
    double s = 0;
    do {
      u = 2 * uniform() - 1;
      const double v = 2 * uniform() - 1;
      s = u * u + v * v;
    } while (s >= 1 || s == 0);
    return u * std::sqrt(-2 * std::log(s) / s);
  }

 private:
  std::array<std::uint64_t, 4> state_{};
};

}  // namespace tlmssd
