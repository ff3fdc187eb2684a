// How long lengths take at a rate: those asked for lately are known without a division.
#pragma once

#include <array>
#include <cstddef>

#include "models/base/types.h"

namespace tlmssd {

class TransferTimes {
 public:
  explicit TransferTimes(BytesPerSecond rate) : rate_(rate) {}
  /// transfer_time() of so many bytes.
  Picoseconds of(Bytes bytes) {
    // A de Bruijn sequence: each power of two has a place of its own.
    Known& known = known_[bytes * 0x03F79D71B4CB0A89U >> 58U];
    if (known.bytes != bytes) known = {bytes, transfer_time(bytes, rate_)};
    return known.time;
  }

 private:
  static constexpr std::size_t k_known = 64;  // six bits
  struct Known {
    Bytes bytes = 0;
    Picoseconds time = 0;
  };
  BytesPerSecond rate_;
  std::array<Known, k_known> known_{};
};

}  // namespace tlmssd
