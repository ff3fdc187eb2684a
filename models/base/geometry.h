// Shape of the flash array: how many of what, and what a page holds. Any count may be odd.
#pragma once

#include "models/base/types.h"

namespace tlmssd {

struct Geometry {
  std::uint32_t channels = 4;
  std::uint32_t ways = 2;          ///< packages (chip enables) per channel
  std::uint32_t dies_per_way = 1;  ///< dies (LUNs) per package
  std::uint32_t planes = 1;        ///< planes per die
  std::uint32_t blocks = 1024;     ///< blocks per plane
  std::uint32_t pages = 256;       ///< pages per block
  std::uint32_t page_bytes = 16384;
  std::uint32_t spare_bytes = 0;  ///< spare area per page that travels on the bus with the data

  [[nodiscard]] constexpr std::uint32_t dies_per_channel() const { return ways * dies_per_way; }
  [[nodiscard]] constexpr std::uint32_t dies() const { return channels * dies_per_channel(); }
  [[nodiscard]] constexpr Bytes block_bytes() const { return Bytes{pages} * page_bytes; }
  [[nodiscard]] constexpr Bytes die_bytes() const { return Bytes{planes} * blocks * block_bytes(); }
  [[nodiscard]] constexpr Bytes bytes() const { return dies() * die_bytes(); }
  bool operator==(const Geometry&) const = default;
};

}  // namespace tlmssd
