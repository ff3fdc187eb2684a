// Latencies over time: a small histogram for each step of the time axis.
//
// Eighths of an octave from 4 ns to half a minute, so a percentile of a step is known to an eighth
// (interpolated within its bin); what is shorter or longer counts in the first or the last bin. The
// shortest and the longest of a step are known exactly. A kilobyte for each step in which there was
// a command.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "models/base/types.h"

namespace tlmssd {

class LatencySteps {
 public:
  void record(std::size_t step, Picoseconds latency) {
    if (step >= steps_.size()) steps_.resize(step + 1);
    Step& now = steps_[step];
    ++now.bins[bin(latency)];
    now.shortest = std::min(now.shortest, latency);
    now.longest = std::max(now.longest, latency);
  }
  /// Pairs of steps become one.
  void widen();
  void clear() { steps_.clear(); }
  /// In picoseconds; nothing when no command completed in the step. `share`: (0..1].
  [[nodiscard]] std::optional<double> percentile(std::size_t step, double share) const;

 private:
  static constexpr unsigned k_bits = 3;
  static constexpr unsigned k_first_octave = 12;
  static constexpr unsigned k_octaves = 33;
  static constexpr unsigned k_bins = k_octaves << k_bits;
  struct Step {
    std::array<std::uint32_t, k_bins> bins{};
    Picoseconds shortest = std::numeric_limits<Picoseconds>::max();
    Picoseconds longest = 0;
  };
  static unsigned bin(Picoseconds latency);
  static double bin_start(unsigned bin);
  std::vector<Step> steps_;
};

}  // namespace tlmssd
