// Tells damaged content from whole: fast, and no protection against intent.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include "models/base/mixing.h"

namespace tlmssd {

/// Mixes eight bytes at a time; `frame` is the number of what is checked, so that two that have
/// been swapped show.
inline std::uint64_t checksum(const char* data, std::size_t size, std::uint64_t frame) {
  std::array<std::uint64_t, 4> sums = {frame + k_golden, size, 0x2545F4914F6CDD1DU, ~frame};
  const auto mix = [](std::uint64_t state, std::uint64_t word) {
    return std::rotl(state ^ (word * 0xC2B2AE3D27D4EB4FU), 31) * 0x9E3779B185EBCA87U;
  };
  std::size_t at = 0;
  for (; at + 32 <= size; at += 32) {
    for (std::size_t i = 0; i < 4; ++i) {
      std::uint64_t word = 0;
      std::memcpy(&word, data + at + i * 8, 8);
      sums[i] = mix(sums[i], word);
    }
  }
  for (; at < size; ++at) sums[0] = mix(sums[0], static_cast<unsigned char>(data[at]));
  std::uint64_t result = 0;
  for (const std::uint64_t part : sums) result = mix(result, part) ^ (part >> 29U);
  return result;
}

}  // namespace tlmssd
