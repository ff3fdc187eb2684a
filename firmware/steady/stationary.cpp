#include "firmware/steady/stationary.h"

#include <algorithm>
#include <cmath>

namespace tlmssd::firmware {

namespace {

/// P(X >= j) for X binomial (n, p), by the normal distribution.
double binomial_tail(std::uint32_t n, double p, std::uint32_t j) {
  const double deviation = std::sqrt(n * p * (1 - p));
  const double above = j - 0.5 - n * p;
  if (deviation < 1e-9) return above <= 0 ? 1 : 0;
  return 0.5 * std::erfc(above / (deviation * std::sqrt(2.0)));
}

/// The M in [next, 1] with slope * (M - next) = entering - M^draws.
double balance(double slope, double next, double entering, std::uint32_t draws) {
  if (draws == 0) return std::min(1.0, next + entering / slope);
  if (draws == 1) return std::clamp((entering + slope * next) / (1 + slope), 0.0, 1.0);
  double m = 1;
  for (int i = 0; i < 50; ++i) {  // Newton from the right of a convex function
    const double power = std::pow(m, draws - 1.0);
    const double step = (slope * (m - next) + power * m - entering) / (slope + draws * power);
    m -= step;
    if (std::abs(step) < 1e-13) break;
  }
  return std::clamp(m, next, 1.0);
}

std::uint32_t draw_binomial(std::uint32_t n, double p, RandomStream& random) {
  constexpr std::uint32_t k_few = 64;
  if (n <= k_few) {
    std::uint32_t count = 0;
    for (std::uint32_t i = 0; i < n; ++i) count += random.uniform() < p ? 1 : 0;
    return count;
  }
  const double drawn = n * p + random.normal() * std::sqrt(n * p * (1 - p));
  return static_cast<std::uint32_t>(std::clamp(std::round(drawn), 0.0, static_cast<double>(n)));
}

}  // namespace

StationaryBlocks::StationaryBlocks(std::uint32_t closed, std::uint32_t block_units, double valid,
                                   double valid_all, const StationaryChoice& choice)
    : closed_(closed),
      window_(choice.window == 0 ? closed : std::min(choice.window, closed)),
      units_(block_units),
      valid_all_(valid_all),
      draws_(choice.draws),
      at_least_(block_units + 2) {
  double low = 0;
  double high = 1;
  for (int i = 0; i < 60; ++i) {
    gain_ = (low + high) / 2;
    (total(gain_) > valid ? low : high) = gain_;
  }
  static_cast<void>(total(gain_));
}

double StationaryBlocks::survival(double blocks) const {
  return std::exp(-blocks * units_ * gain_ / valid_all_);
}

/// Fills in at_least_; returns the valid units in the window.
double StationaryBlocks::solve_window(double gain) {
  const double entering = survival(closed_ - window_);
  const double per_unit = static_cast<double>(window_) * units_ * gain / valid_all_;
  double sum = 0;
  for (std::uint32_t j = units_; j > 0; --j) {
    const double fresh = window_ == closed_ ? 1 : binomial_tail(units_, entering, j);
    at_least_[j] = balance(per_unit * j, at_least_[j + 1], fresh, draws_);
    sum += at_least_[j];
  }
  return sum * window_;
}

/// Valid units of the closed blocks if so much of a victim is free; falls with `gain`.
double StationaryBlocks::total(double gain) {
  gain_ = gain;
  double sum = solve_window(gain);
  for (std::uint32_t age = 0; age < closed_ - window_; ++age) sum += survival(age + 0.5) * units_;
  return sum;
}

std::vector<std::uint32_t> StationaryBlocks::draw(RandomStream& random) const {
  std::vector<std::uint32_t> counts;
  counts.reserve(closed_);
  std::uint32_t count = 0;
  for (std::uint32_t n = 0; n < window_; ++n) {
    const double more = 1 - (n + random.uniform()) / window_;  // share of the blocks with more than this
    while (count < units_ && at_least_[count + 1] >= more) ++count;
    counts.push_back(count);
  }
  for (std::uint32_t age = closed_ - window_; age-- > 0;)
    counts.push_back(draw_binomial(units_, survival(age + 0.5), random));
  return counts;
}

}  // namespace tlmssd::firmware
