// Times of recorded requests: beyond 64 bits where a trace is repeated, until they are scaled to
// simulated ones, and with pauses that are cut short.
#pragma once

#include <optional>

#include "models/base/types.h"
#include "testbench/loads/config/load_config.h"

namespace tlmssd {

using LongTime = __int128;  ///< ps

inline constexpr Picoseconds k_longest_load = Picoseconds{1} << 62U;
inline constexpr const char* k_longest_text = "53 days of simulated time";

/// In simulated time. Nothing: later than `k_longest_load`.
std::optional<Picoseconds> scaled(LongTime time, double time_scale);

/// Times of which the pauses between them are cut to a longest one; 0: they are left alone.
class ShortPauses {
 public:
  explicit ShortPauses(LongTime longest) : longest_(longest) {}
  /// The first time stays as it is, and so do those that lie back.
  LongTime operator()(LongTime time);
  [[nodiscard]] LongTime cut() const { return cut_; }

 private:
  LongTime longest_;
  LongTime last_ = 0;
  LongTime cut_ = 0;
  bool any_ = false;
};

/// The longest pause in recorded time.
LongTime longest_pause(const OpenLoopConfig& config);

}  // namespace tlmssd
