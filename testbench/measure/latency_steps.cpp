#include "testbench/measure/latency_steps.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace tlmssd {

unsigned LatencySteps::bin(Picoseconds latency) {
  const auto v = static_cast<std::uint64_t>(std::max<Picoseconds>(latency, 1));
  const auto octave = static_cast<unsigned>(std::bit_width(v)) - 1;
  if (octave < k_first_octave) return 0;
  if (octave >= k_first_octave + k_octaves) return k_bins - 1;
  const auto part = static_cast<unsigned>(v >> (octave - k_bits)) & ((1U << k_bits) - 1);
  return ((octave - k_first_octave) << k_bits) + part;
}

double LatencySteps::bin_start(unsigned bin) {
  const unsigned part = bin & ((1U << k_bits) - 1);
  return std::ldexp(1.0 + static_cast<double>(part) / (1U << k_bits),
                    static_cast<int>(k_first_octave + (bin >> k_bits)));
}

void LatencySteps::widen() {
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const Step step = steps_[i];
    Step& into = steps_[i / 2];
    if (i % 2 == 0) {
      into = step;
      continue;
    }
    for (unsigned b = 0; b < k_bins; ++b) into.bins[b] += step.bins[b];
    into.shortest = std::min(into.shortest, step.shortest);
    into.longest = std::max(into.longest, step.longest);
  }
  steps_.resize((steps_.size() + 1) / 2);
}

std::optional<double> LatencySteps::percentile(std::size_t step, double share) const {
  if (step >= steps_.size()) return std::nullopt;
  const auto& [bins, shortest, longest] = steps_[step];
  std::uint64_t count = 0;
  for (const std::uint32_t n : bins) count += n;
  const double rank = std::max(1.0, std::ceil(share * static_cast<double>(count)));
  if (rank == static_cast<double>(count)) return static_cast<double>(longest);
  double seen = 0;
  for (unsigned b = 0; b < k_bins; ++b) {
    if (bins[b] != 0 && seen + bins[b] >= rank) {
      const double within = (rank - seen - 0.5) / bins[b];
      return std::clamp(bin_start(b) + within * (bin_start(b + 1) - bin_start(b)),
                        static_cast<double>(shortest), static_cast<double>(longest));
    }
    seen += bins[b];
  }
  return std::nullopt;
}

}  // namespace tlmssd
