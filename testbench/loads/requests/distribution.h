// Where random requests go: fio's random_distribution.
//
// The distributions of ranks are fio's; how ranks become positions differs in one point. fio
// scatters the ranks of zipf, pareto and normal over the region by a hash that lets several ranks
// share a position; here a permutation does it, so that the popularity of positions follows the law
// exactly. zipf draws by rejection-inversion (Hoermann & Derflinger 1996), which is exact for every
// exponent and needs no sum over all ranks. normal is, as in fio, the mean of twelve even draws
// from the region, whose standard deviation is a twelfth of it, moved by an even draw from as wide
// a stretch as the deviation says, in per cent of the region, half of it at most.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/base/random.h"

namespace tlmssd {

/// A bijection of [0, size) onto itself that looks random: a Feistel network of four rounds over
/// the next power of four, walked until it falls inside (Black & Rogaway 2002). Each key gives
/// another one.
class Permutation {
 public:
  Permutation(std::uint64_t size, std::uint64_t key);
  [[nodiscard]] std::uint64_t at(std::uint64_t i) const {
    do {
      i = once(i);
    } while (i >= size_);
    return i;
  }

 private:
  [[nodiscard]] std::uint64_t once(std::uint64_t i) const;
  std::uint64_t size_;
  std::uint64_t keys_[4];
  unsigned half_bits_ = 1;
};

/// Ranks 0 .. n-1 with probability proportional to 1 / (rank + 1)^theta; theta > 0.
class ZipfRanks {
 public:
  ZipfRanks(std::uint64_t n, double theta);
  std::uint64_t draw(RandomStream& random) const;

 private:
  [[nodiscard]] double h(double x) const;
  [[nodiscard]] double h_integral(double x) const;
  [[nodiscard]] double h_integral_inverse(double x) const;
  std::uint64_t n_;
  double theta_;
  double low_;
  double high_;
  double squeeze_;
};

/// What `random_distribution` says.
struct DistributionSpec {
  enum class Kind : std::uint8_t { random, zipf, pareto, normal, zoned, lives };
  struct Zone {
    std::uint32_t access = 0;  ///< per cent of requests
    std::uint32_t size = 0;    ///< per cent of the region
  };
  Kind kind = Kind::random;
  double parameter = 0;
  /// zipf, pareto and normal: number of the order in which they prefer positions; 0: the job's own.
  std::uint64_t hot_set = 0;
  std::vector<Zone> zones[3];  ///< read, write, trim
  /// Some places more than others, in an order of their own.
  [[nodiscard]] bool prefers_places() const {
    return kind == Kind::zipf || kind == Kind::pareto || kind == Kind::normal;
  }
};

/// Reads "zipf:1.1" and the like; throws std::invalid_argument with what is wrong.
DistributionSpec parse_distribution(const std::string& text, bool knows_lives = true);

/// Positions in [0, blocks) for one job.
class Positions {
 public:
  /// `repeats` false: random touches every position once per pass (fio's random map).
  Positions(const DistributionSpec& spec, std::uint64_t blocks, bool repeats, std::uint64_t seed);
  /// `direction`: 0 read, 1 write, 2 trim (zones may differ by direction).
  std::uint64_t draw(unsigned direction);

 private:
  std::uint64_t zoned(unsigned direction);
  std::uint64_t normal();

  DistributionSpec spec_;
  std::uint64_t blocks_;
  bool repeats_;
  std::uint64_t seed_;
  RandomStream random_;
  Permutation permutation_;
  ZipfRanks zipf_;
  double pareto_power_ = 1;
  std::uint64_t drawn_ = 0;
};

}  // namespace tlmssd
