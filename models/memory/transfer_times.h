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
    Known& known = known_[bytes * 0x9E3779B97F4A7C15U >> 61U];
    if (known.bytes != bytes) known = {bytes, transfer_time(bytes, rate_)};
    return known.time;
  }

 private:
  static constexpr std::size_t k_known = 8;  // three bits
  struct Known {
    Bytes bytes = 0;
    Picoseconds time = 0;
  };
  BytesPerSecond rate_;
  std::array<Known, k_known> known_{};
};

}  // namespace tlmssd
