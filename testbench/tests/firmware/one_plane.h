// A drive of one parallel unit, such as the theory of write amplification is about.
#pragma once

#include "firmware/ftl.h"

namespace tlmssd::firmware::testing {

inline constexpr std::uint32_t k_pages = 64;  ///< of a block, each a unit of a program unit

inline DriveShape one_plane(std::uint32_t blocks) {
  DriveShape shape;
  shape.geometry = {1, 1, 1, 1, blocks, k_pages, 4096, 0};
  shape.lba_bytes = 4096;
  return shape;
}

}  // namespace tlmssd::firmware::testing
