#include "testbench/loads/recorded_time.h"

#include <algorithm>
#include <cmath>

namespace tlmssd {

std::optional<Picoseconds> scaled(LongTime time, double time_scale) {
  if (time_scale == 1)
    return time > k_longest_load ? std::nullopt : std::optional(static_cast<Picoseconds>(time));
  const double product = static_cast<double>(time) * time_scale;
  if (product > static_cast<double>(k_longest_load)) return std::nullopt;
  return static_cast<Picoseconds>(std::llround(product));
}

LongTime ShortPauses::operator()(LongTime time) {
  if (longest_ == 0) return time;
  if (any_ && time - last_ > longest_) cut_ += time - last_ - longest_;
  any_ = true;
  last_ = std::max(last_, time);
  return time - cut_;
}

LongTime longest_pause(const OpenLoopConfig& config) {
  if (config.longest_gap == 0) return 0;
  return std::max<LongTime>(
      static_cast<LongTime>(static_cast<double>(config.longest_gap) / config.time_scale), 1);
}

}  // namespace tlmssd
