// The stationary distribution of valid counts under uniform random overwriting: what the closed
// blocks of a parallel unit hold once its victim policy has gone on for long.
//
// One mean-field model for all policies that choose, among the w closed blocks written longest ago,
// the one with the fewest valid units of d drawn by chance (StationaryChoice). With w all blocks it
// is Van Houdt's (SIGMETRICS 2013): of N blocks of n units, M_j those with at least j valid ones,
//     N j (M_j - M_(j+1)) / U * n g = 1 - M_j^d,
// where U units are valid in all and g is the share of a victim that is free (each victim makes
// room for n g host writes); d = 1 is random, d without bound greedy (Desnoyers 2012). Blocks
// outside the window are only aged: a unit is still valid after t host writes with probability
// exp(-t / U); they enter the window with a binomial count, whose distribution takes the place of
// the 1. With w = 1 that is FIFO (Robinson 1996; Desnoyers 2012), in between windowed greedy (Hu et
// al. 2009; Bux & Iliadis 2010).
//
// Exact for many blocks; how closed blocks come and go in bursts, and what is still open, is left
// to who uses it.
#pragma once

#include <cstdint>
#include <vector>

#include "firmware/victims/victim_policy.h"
#include "models/base/random.h"

namespace tlmssd::firmware {

class StationaryBlocks {
 public:
  /// `closed` blocks (at least 1) of `block_units` units with `valid` of them valid in all; of a
  /// parallel unit with `valid_all` valid units, `valid` among them. `valid` must be above 0 and
  /// below what the blocks can hold.
  StationaryBlocks(std::uint32_t closed, std::uint32_t block_units, double valid, double valid_all,
                   const StationaryChoice& choice);

  /// Share of a victim that is free.
  [[nodiscard]] double gain() const { return gain_; }
  /// 1 / gain(): programmed units per host write.
  [[nodiscard]] double write_amplification() const { return 1 / gain_; }
  /// Valid counts of the closed blocks, the one written longest ago first. Stratified: their
  /// distribution is nearer to the stationary one than independent draws would be.
  [[nodiscard]] std::vector<std::uint32_t> draw(RandomStream& random) const;

 private:
  /// Share of a unit's chance to be valid that is left when `blocks` more have been opened.
  [[nodiscard]] double survival(double blocks) const;
  double solve_window(double gain);
  [[nodiscard]] double total(double gain);

  std::uint32_t closed_;
  std::uint32_t window_;
  std::uint32_t units_;
  double valid_all_;
  std::uint32_t draws_;  ///< 0: all of the window
  double gain_ = 1;
  std::vector<double> at_least_;  ///< share of the window's blocks with at least j valid units
};

}  // namespace tlmssd::firmware
