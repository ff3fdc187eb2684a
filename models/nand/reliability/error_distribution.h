// How many bits of an ECC frame are wrong: the binomial distribution, or the beta-binomial, in
// which the bits of one frame agree more than independent ones would.
//
// Errors per frame are over-dispersed: the beta-binomial fits measured frames and the binomial does
// not (F: Taranalli, Uchikawa & Siegel, arXiv 1602.07743). With n bits, rate p and correlation rho
// the variance is n p (1 - p) (1 + (n - 1) rho); rho 0 is the binomial. rho is taken to be the same
// at all rates.
//
// Draws invert the distribution function. Its tables (some 600 bytes where codes work) are built
// when a rate is first met, on a grid of 128 rates per octave, 0.4 to 0.8 % apart; between two
// rates of the grid a frame takes the lower or the upper one by a pick that stays with the frame,
// so that the mean is exact and a frame never gets better as the rate grows. For 1 KiB frames and
// rates up to 1 % tails are then right within 4 % down to 1e-12, better for correlated bits; at
// higher rates, where no code works, they get coarser (25 % at 1e-6 and a rate of 20 %). The upper
// tail keeps its relative precision (float, 6e-8) down to the least draw, 5e-20. Not for use from
// several threads at once.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace tlmssd {

class ErrorDistribution {
 public:
  /// `correlation` (rho) from 0 to 0.2.
  ErrorDistribution(std::uint32_t frame_bits, double correlation);

  /// Probability of more than `t` wrong bits in a frame, summed up exactly.
  [[nodiscard]] double tail(double rate, std::uint32_t t) const;

  /// P(more than k errors) for k = first, first + 1, ..., as long as there is a draw that reaches
  /// it. Below `first` it is 1.
  struct Table {
    std::uint32_t first = 0;
    std::vector<float> survival;
    /// The number of errors that just a share `probability` (above 0) of all frames exceed.
    [[nodiscard]] std::uint32_t quantile(double probability) const;
  };
  /// A rate between two of the grid.
  struct Blend {
    const Table* low = nullptr;
    const Table* high = nullptr;
    std::uint64_t share = 0;  ///< of frames that take the upper one, in 2^-64
    /// `position` and `pick` are uniform and belong to the frame.
    [[nodiscard]] std::uint32_t draw(std::uint64_t position, std::uint64_t pick) const {
      constexpr double k_unit = 0x1.0p-63;
      return (pick < share ? high : low)->quantile((static_cast<double>(position >> 1U) + 0.5) * k_unit);
    }
  };
  /// `rate` from 0 to 0.5. The blend is valid as long as this object.
  [[nodiscard]] Blend at(double rate) const;

 private:
  [[nodiscard]] double step(double rate, std::uint32_t k) const;
  [[nodiscard]] const Table* table(std::uint64_t cell) const;
  [[nodiscard]] Table build(double rate) const;

  std::uint32_t bits_;
  double odds_;  // rho / (1 - rho)
  Table none_;
  mutable std::vector<std::unique_ptr<const Table>> tables_;
};

}  // namespace tlmssd
