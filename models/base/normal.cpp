#include "models/base/normal.h"

#include <cmath>
#include <numbers>

namespace tlmssd {

namespace {

using Quantiles = std::array<double, std::size_t{1} << (k_normal_bits - 1)>;

Quantiles make_quantiles() {
  Quantiles result{};
  constexpr std::size_t k_half = result.size();
  double z = 0;
  for (std::size_t i = 0; i < k_half; ++i) {
    const double above = (static_cast<double>(k_half - i) - 0.5) / (2.0 * k_half);
    // Newton's method: from the last quantile it comes up to the next one without overshooting.
    for (double change = 1; change > 1e-12;) {
      const double density = std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
      change = (std::erfc(z / std::numbers::sqrt2) / 2 - above) / density;
      z += change;
    }
    result[i] = z;
  }
  return result;
}

}  // namespace

const Quantiles& upper_normal_quantiles() {
  static const Quantiles quantiles = make_quantiles();
  return quantiles;
}

}  // namespace tlmssd
