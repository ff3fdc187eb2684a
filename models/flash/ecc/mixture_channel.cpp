#include "models/flash/ecc/mixture_channel.h"

#include <algorithm>
#include <cmath>

namespace tlmssd {

namespace {

double crossover(const BitClass& bits, double factor) {
  return std::min(0.5, factor * bits.crossover);
}

/// What the decoder does not know of a bit, when each class has `factor` times its wrong bits.
double missing(std::span<const BitClass> classes, double factor) {
  double sum = 0;
  for (const BitClass& bits : classes) sum += bits.share * binary_entropy(crossover(bits, factor));
  return sum;
}

}  // namespace

double binary_entropy(double p) {
  if (p <= 0 || p >= 1) return 0;
  return -(p * std::log2(p) + (1 - p) * std::log2(1 - p));
}

double bearable(std::span<const BitClass> classes, double plain) {
  constexpr int k_halvings = 60;
  constexpr double k_all = 1e12;  // erases every class that is wrong at all
  const double allowed = binary_entropy(plain);
  double low = -std::log(k_all);
  double high = std::log(k_all);
  for (int i = 0; i < k_halvings; ++i) {
    const double middle = (low + high) / 2;
    (missing(classes, std::exp(middle)) < allowed ? low : high) = middle;
  }
  double wrong = 0;
  for (const BitClass& bits : classes) wrong += bits.share * crossover(bits, std::exp(high));
  return std::max(wrong, plain);
}

}  // namespace tlmssd
