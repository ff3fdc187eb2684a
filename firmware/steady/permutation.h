// A random permutation of 0 .. size - 1 without memory: odd multiplications and shifts on the next
// power of two, again until the result is below `size` (cycle walking, Black & Rogaway 2002).
#pragma once

#include <bit>
#include <cstdint>

#include "models/base/random.h"

namespace tlmssd::firmware {

class Permutation {
 public:
  Permutation(std::uint64_t size, RandomStream& random)
      : size_(size),
        bits_(size < 2 ? 1U : static_cast<unsigned>(std::bit_width(size - 1))),
        mask_((std::uint64_t{1} << bits_) - 1) {
    for (std::uint64_t& key : keys_) key = random() | 1U;
  }
  [[nodiscard]] std::uint64_t operator()(std::uint64_t n) const {
    do {
      for (const std::uint64_t key : keys_) {
        n = (n * key + (key >> 32U)) & mask_;
        n ^= n >> ((bits_ + 1) / 2);
      }
    } while (n >= size_);
    return n;
  }

 private:
  std::uint64_t size_;
  unsigned bits_;
  std::uint64_t mask_;
  std::uint64_t keys_[3]{};
};

}  // namespace tlmssd::firmware
