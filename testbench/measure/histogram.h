// Latency histogram, log-linear as in HdrHistogram (Tene): 512 buckets for each factor of two. A
// percentile is the mean of the values in its bucket: it is off by at most 0.2 %, and exact where
// they are equal. Count, minimum, maximum, sum and sum of squares are exact. Memory: about 440 KiB
// of address space, of which only pages that have been counted in are real.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "models/base/sparse_array.h"
#include "models/base/types.h"

namespace tlmssd {

class Histogram {
 public:
  /// Counts one value; values below 0 count as 0.
  void record(Picoseconds value) {
    if (value < 0) value = 0;
    Bucket& in = buckets_[bucket(value)];
    ++in.count;
    in.above_low += above_low(value);
    ++count_;
    sum_ += static_cast<unsigned __int128>(value);
    const auto square = static_cast<unsigned __int128>(value) * static_cast<unsigned __int128>(value);
    squares_overflow_ |= __builtin_add_overflow(squares_, square, &squares_);
    if (value < minimum_) minimum_ = value;
    if (value > maximum_) maximum_ = value;
  }
  void merge(const Histogram& other) {
    if (other.count_ == 0) return;
    for (std::size_t i = bucket(other.minimum_); i <= bucket(other.maximum_); ++i) {
      if (other.buckets_[i].count == 0) continue;
      buckets_[i].count += other.buckets_[i].count;
      buckets_[i].above_low += other.buckets_[i].above_low;
    }
    count_ += other.count_;
    sum_ += other.sum_;
    squares_overflow_ |= other.squares_overflow_;
    squares_overflow_ |= __builtin_add_overflow(squares_, other.squares_, &squares_);
    minimum_ = std::min(minimum_, other.minimum_);
    maximum_ = std::max(maximum_, other.maximum_);
  }
  void clear() { *this = Histogram(); }

  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] Picoseconds minimum() const { return count_ == 0 ? 0 : minimum_; }
  [[nodiscard]] Picoseconds maximum() const { return maximum_; }
  [[nodiscard]] unsigned __int128 sum() const { return sum_; }
  [[nodiscard]] double mean() const {
    if (count_ == 0) return 0;
    const unsigned __int128 whole = sum_ / count_;
    return static_cast<double>(whole) + static_cast<double>(sum_ % count_) / static_cast<double>(count_);
  }
  /// Standard deviation of the values counted (not of a sample).
  [[nodiscard]] double deviation() const {
    if (count_ < 2) return 0;
    const double n = static_cast<double>(count_);
    if (squares_overflow_) {
      const double average = mean();
      double sum = 0;
      for_each([&](Picoseconds low, Picoseconds high, std::uint64_t count) {
        const double off = (static_cast<double>(low) + static_cast<double>(high)) / 2 - average;
        sum += off * off * static_cast<double>(count);
      });
      return std::sqrt(sum / n);
    }
    // Split the mean into a whole part and a rest, so that equal values give exactly 0.
    const unsigned __int128 whole = sum_ / count_;
    const unsigned __int128 rest = sum_ % count_;
    const auto variance =
        static_cast<double>(static_cast<__int128>(squares_ - whole * whole * count_ - 2 * whole * rest)) / n;
    const double fraction = static_cast<double>(rest) / n;
    return std::sqrt(std::max(0.0, variance - fraction * fraction));
  }
  /// Nearest rank (1 to `count`) of the value that `share` of `count` values do not exceed.
  [[nodiscard]] static std::uint64_t rank(double share, std::uint64_t count) {
    const double exact = std::ceil(share * static_cast<double>(count) - 1e-9);
    return std::clamp<std::uint64_t>(exact < 1 ? 1 : static_cast<std::uint64_t>(exact), 1, count);
  }
  /// The value that `share` (0..1) of the values do not exceed, by nearest rank: the mean of its
  /// bucket; 1 gives the maximum exactly.
  [[nodiscard]] Picoseconds percentile(double share) const {
    if (count_ == 0) return 0;
    const std::uint64_t rank = Histogram::rank(share, count_);
    if (rank == count_) return maximum_;
    std::uint64_t seen = 0;
    for (std::size_t i = bucket(minimum_); i <= bucket(maximum_); ++i) {
      seen += buckets_[i].count;
      if (seen >= rank) return low(i) + static_cast<Picoseconds>(buckets_[i].above_low / buckets_[i].count);
    }
    return maximum_;
  }
  /// Calls use(lowest value, highest value, count) for every bucket that counts something, in
  /// rising order.
  template <class Use>
  void for_each(Use&& use) const {
    if (count_ == 0) return;
    for (std::size_t i = bucket(minimum_); i <= bucket(maximum_); ++i) {
      if (buckets_[i].count != 0) use(low(i), high(i), buckets_[i].count);
    }
  }

 private:
  static constexpr unsigned k_bits = 9;
  static constexpr std::size_t k_steps = std::size_t{1} << k_bits;
  static constexpr std::size_t k_buckets = (64 - k_bits) * k_steps;

  struct Bucket {
    std::uint64_t count = 0;
    std::uint64_t above_low = 0;  ///< sum of what the values are above the bucket's lowest
  };

  static unsigned shift_of(std::uint64_t v) {
    return v < k_steps ? 0 : static_cast<unsigned>(std::bit_width(v)) - 1 - k_bits;
  }
  static std::size_t bucket(Picoseconds value) {
    const auto v = static_cast<std::uint64_t>(value);
    const unsigned shift = shift_of(v);
    return shift * k_steps + (v >> shift);
  }
  static std::uint64_t above_low(Picoseconds value) {
    const auto v = static_cast<std::uint64_t>(value);
    return v & ((std::uint64_t{1} << shift_of(v)) - 1);
  }
  static Picoseconds low(std::size_t i) {
    if (i < k_steps) return static_cast<Picoseconds>(i);
    const std::size_t shift = i / k_steps - 1;
    return static_cast<Picoseconds>((i % k_steps + k_steps) << shift);
  }
  static Picoseconds high(std::size_t i) {
    return i < k_steps ? low(i) : low(i) + ((Picoseconds{1} << (i / k_steps - 1)) - 1);
  }

  ZeroPages<Bucket> buckets_{k_buckets};
  std::uint64_t count_ = 0;
  Picoseconds minimum_ = k_never;
  Picoseconds maximum_ = 0;
  unsigned __int128 sum_ = 0;
  unsigned __int128 squares_ = 0;
  bool squares_overflow_ = false;
};

}  // namespace tlmssd
