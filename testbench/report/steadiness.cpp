#include "testbench/report/steadiness.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace tlmssd {
namespace {

constexpr double k_most_range = 0.2;
constexpr double k_most_change = 0.1;
constexpr std::size_t k_parts = 20;
constexpr double k_errors = 4;

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Line of least squares over positions 0, 1, ...
struct Line {
  double slope = 0;
  double error = 0;  ///< standard error of the slope
};

Line fit(const std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  const double middle = (n - 1) / 2;
  const double average = mean(values);
  double xx = 0;
  double xy = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double x = static_cast<double>(i) - middle;
    xx += x * x;
    xy += x * (values[i] - average);
  }
  Line line{xy / xx, 0};
  double rest = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double off = values[i] - average - line.slope * (static_cast<double>(i) - middle);
    rest += off * off;
  }
  if (n > 2) line.error = std::sqrt(rest / (n - 2) / xx);
  return line;
}

/// Means of `parts` parts of equal length; what does not fill the last is left out at the front.
std::vector<double> divided(const std::vector<double>& steps, std::size_t parts) {
  const std::size_t length = steps.size() / parts;
  const std::size_t first = steps.size() - length * parts;
  std::vector<double> result;
  for (std::size_t part = 0; part < parts; ++part) {
    const auto begin = steps.begin() + static_cast<std::ptrdiff_t>(first + part * length);
    result.push_back(mean({begin, begin + static_cast<std::ptrdiff_t>(length)}));
  }
  return result;
}

bool drifts(const std::vector<double>& steps) {
  if (pts_steadiness(divided(steps, k_pts_rounds)).by_pts()) return false;
  const Line line = fit(divided(steps, k_parts));
  return std::abs(line.slope) > k_errors * line.error;
}

}  // namespace

bool Steadiness::by_pts() const {
  return range <= k_most_range && std::abs(change) <= k_most_change;
}

Steadiness pts_steadiness(const std::vector<double>& rounds) {
  const std::vector<double> last(rounds.end() - k_pts_rounds, rounds.end());
  Steadiness result;
  result.average = mean(last);
  if (result.average == 0) return result;
  const auto [low, high] = std::minmax_element(last.begin(), last.end());
  result.range = (*high - *low) / std::abs(result.average);
  result.change = fit(last).slope * (k_pts_rounds - 1) / std::abs(result.average);
  return result;
}

Course course_of(const std::vector<double>& steps) {
  constexpr std::size_t k_least = 100;
  if (steps.size() < k_least) return Course::unknown;
  const auto fifth = static_cast<std::ptrdiff_t>(steps.size() / k_pts_rounds);
  const std::vector<double> rest(steps.begin() + fifth, steps.end());
  const double first = mean({steps.begin(), steps.begin() + fifth});
  const double later = mean(rest);
  const bool differs = std::abs(first - later) > k_most_range * std::abs(later);
  if (differs && !drifts(rest)) {
    const Steadiness rounds = pts_steadiness(divided(rest, k_pts_rounds));
    return rounds.by_pts() ? Course::warming_up : Course::steady;
  }
  return drifts(steps) ? Course::drifting : Course::steady;
}

}  // namespace tlmssd
