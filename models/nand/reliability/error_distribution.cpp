#include "models/nand/reliability/error_distribution.h"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "models/base/input_error.h"

namespace tlmssd {

namespace {

// The grid of rates is that of floating-point numbers with 7 bits of mantissa, from 2^-40 to a
// half. Its cell and the place in the cell, linear in the rate, are then bit fields of the rate.
constexpr unsigned k_fraction_bits = 52 - 7;
constexpr double k_lowest_rate = 0x1.0p-40;
constexpr auto k_lowest_bits = std::bit_cast<std::uint64_t>(k_lowest_rate);
constexpr std::uint64_t k_cells = (std::bit_cast<std::uint64_t>(0.5) - k_lowest_bits) >> k_fraction_bits;

constexpr std::uint32_t k_most_bits = 1U << 20U;
constexpr double k_smallest_draw = 0x1.0p-64;

}  // namespace

ErrorDistribution::ErrorDistribution(std::uint32_t frame_bits, double correlation)
    : bits_(frame_bits), odds_(correlation / (1 - correlation)), tables_(k_cells + 1) {
  if (frame_bits == 0 || frame_bits > k_most_bits) {
    throw InputError("an ECC frame of " + std::to_string(frame_bits) + " bits; it must have 1 to " +
                     std::to_string(k_most_bits));
  }
}

/// Probability of k + 1 errors over that of k.
double ErrorDistribution::step(double rate, std::uint32_t k) const {
  const double right = bits_ - k;
  return right / (k + 1.0) * (rate + k * odds_) / (1 - rate + (right - 1) * odds_);
}

double ErrorDistribution::tail(double rate, std::uint32_t t) const {
  if (rate <= 0 || t >= bits_) return 0;
  constexpr double k_negligible = 1e-18;
  double above = 0;
  double below = 0;
  const auto add = [&](std::uint32_t k, double weight) { (k > t ? above : below) += weight; };
  const auto middle = static_cast<std::uint32_t>(rate * bits_);  // weights are relative to this one's
  add(middle, 1);
  double weight = 1;
  for (std::uint32_t k = middle; k < bits_ && (k <= t || weight > k_negligible * above); ++k) {
    weight *= step(rate, k);
    add(k + 1, weight);
  }
  weight = 1;
  for (std::uint32_t k = middle; k > 0 && weight > k_negligible * (above + below); --k) {
    weight /= step(rate, k - 1);
    add(k - 1, weight);
  }
  return above / (above + below);
}

ErrorDistribution::Table ErrorDistribution::build(double rate) const {
  // Weights relative to that of the mean, as far down as floats can tell survival from 1 and as far
  // up as draws reach.
  constexpr double k_negligible_below = 1e-14;
  constexpr double k_negligible_above = 1e-30;
  const auto middle = static_cast<std::uint32_t>(rate * bits_);
  std::vector<double> weights = {1};
  double sum = 1;
  for (std::uint32_t k = middle; k > 0 && weights.back() > k_negligible_below * sum; --k) {
    weights.push_back(weights.back() / step(rate, k - 1));
    sum += weights.back();
  }
  const auto lowest = static_cast<std::uint32_t>(middle + 1 - weights.size());
  std::reverse(weights.begin(), weights.end());
  for (std::uint32_t k = middle; k < bits_ && weights.back() > k_negligible_above * sum; ++k) {
    weights.push_back(weights.back() * step(rate, k));
    sum += weights.back();
  }
  // From the top down, so that small sums stay exact: weights[i] becomes the sum of those after it.
  double after = 0;
  for (std::size_t i = weights.size(); i-- > 0;) after += std::exchange(weights[i], after);
  Table result;
  result.first = lowest;
  for (const double more : weights) {
    const auto survival = static_cast<float>(more / after);
    if (more <= k_smallest_draw * after) break;
    if (survival == 1.0F && result.survival.empty()) {
      ++result.first;
    } else {
      result.survival.push_back(survival);
    }
  }
  result.survival.shrink_to_fit();
  return result;
}

std::uint32_t ErrorDistribution::Table::quantile(double probability) const {
  // Bisection without branches to guess: how many entries are above `probability`.
  const float* from = survival.data();
  std::size_t size = survival.size();
  while (size > 0) {
    const std::size_t half = (size + 1) / 2;
    from += from[half - 1] > probability ? half : 0;
    size -= half;
  }
  return first + static_cast<std::uint32_t>(from - survival.data());
}

const ErrorDistribution::Table* ErrorDistribution::table(std::uint64_t cell) const {
  auto& slot = tables_[cell];
  if (slot == nullptr) {
    const auto rate = std::bit_cast<double>(k_lowest_bits + (cell << k_fraction_bits));
    slot = std::make_unique<const Table>(build(rate));
  }
  return slot.get();
}

ErrorDistribution::Blend ErrorDistribution::at(double rate) const {
  if (rate <= 0) return {&none_, &none_, 0};
  if (rate < k_lowest_rate) {
    return {&none_, table(0), static_cast<std::uint64_t>(rate / k_lowest_rate * 0x1.0p64)};
  }
  const std::uint64_t place = std::bit_cast<std::uint64_t>(std::min(rate, 0.5)) - k_lowest_bits;
  const std::uint64_t cell = place >> k_fraction_bits;
  const Table* const low = table(cell);
  const std::uint64_t share = place << (64 - k_fraction_bits);
  return {low, share == 0 ? low : table(cell + 1), share};
}

}  // namespace tlmssd
