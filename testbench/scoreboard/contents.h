// Which of the data that the host writes are the same: scenario section `contents`.
//
// Of each unit that is written, a number of its write and the seed decide whether its data are one
// of a pool of contents, and which: popular ones more often, by Zipf's law. All other data there
// are once. What a write holds is thus a function of unit and write, and needs to be kept nowhere:
// the scoreboard computes it anew, whether the unit was written untimed, before a snapshot or by
// another policy of the drive (common random numbers). That values differ in popularity by such a
// law is what Gupta et al. found in traces that hold hashes of the data ("Leveraging Value Locality
// in Optimizing NAND Flash-based SSDs", FAST 2011). Left out: popularity that changes in time, and
// that goes with the address.
#pragma once

#include <cstdint>
#include <vector>

#include "models/base/parameters.h"

namespace tlmssd {

struct ContentsConfig {
  double duplicates = 0.5;
  std::uint32_t pool = 1000;
  double theta = 1;
  static const ParameterTable<ContentsConfig>& parameters();
  std::uint64_t seed = 1;  ///< the scenario's
};

class Contents {
 public:
  explicit Contents(const ContentsConfig& config);
  /// The content that the `sequence`-th write of `unit` leaves in it, from 1 (the most popular) to
  /// the size of the pool; 0: data that no other write brings. O(log pool).
  [[nodiscard]] std::uint32_t draw(std::uint64_t unit, std::uint16_t sequence) const;
  /// How likely a written unit has content `content`, from 1 on.
  [[nodiscard]] double probability(std::uint32_t content) const;

 private:
  std::uint64_t key_;
  std::vector<double> upto_;  ///< probability of this content and all that are more popular
};

}  // namespace tlmssd
