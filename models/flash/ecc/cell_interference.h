// Errors predicted from wear, age, the state a cell is read in and its neighbours in the word line
// (Quick-LDPC and EP-LDPC without upper and lower cells, Yamaga et al., IMW 2016: S in words; the
// numbers of its tables are not published, so that they are made here from a model of the cells).
//
// Threshold voltages in units of the distance between two states; reference voltages lie halfway.
// A cell in state s of S, whose two neighbours are in states l and r, has
//
//   V = s + coupling (l + r - (S - 1)) - charge_loss s / (S - 1) + sigma z      z: standard normal
//
// Neighbours raise it in proportion to how far they were themselves programmed (form F: Lee, Hur &
// Choi, IEEE EDL 23(5), 2002), around their mean, which programming verifies against; old charge
// leaks, the more of it the more there was. Pages are the bits of a reflected Gray code: page type
// t has 2^t reference voltages. Sigma is the wear and age of the page: it is what makes the page's
// bit error rate come out (reliability model), so that nothing but that rate tells how far a
// drive's life has gone. From these voltages follow the classes of bits (mixture_channel.h) that a
// decoder can tell apart, and how often each is wrong:
//
//   SideInformation::page        bits read as 0, bits read as 1
//   SideInformation::word_line   each state the cell is read in, with each sum of its neighbours' states
//
// With coupling and charge_loss 0 SideInformation::page is worth nothing; the state of the cell
// alone still is, on pages where some states lie beside no reference voltage. Interference counts
// for more the less wear there is: noise drowns it.
//
// coupling 0.08 is CALIBRATED: with charge_loss 0.1 (A) EP-LDPC lives the published 57 % longer
// than BCH. Channel models commonly take 0.08 to 0.1 for a neighbour (B). Leaves out: cells of the
// word lines above and below, as the code does; misread neighbours; that states are unlike in width
// and distance; tuned reference voltages.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "models/flash/ecc/error_prediction.h"
#include "models/flash/ecc/mixture_channel.h"

namespace tlmssd {

struct CellInterferenceConfig {
  double coupling = 0.08;
  double charge_loss = 0.1;
  static const ParameterTable<CellInterferenceConfig>& parameters();
};

/// Classes of bits of a page type that a decoder can tell apart, at one width of the states'
/// voltages.
std::vector<BitClass> bit_classes(const CellInterferenceConfig& config, std::uint32_t cell_bits,
                                  std::uint32_t type, double sigma, SideInformation side);

class CellInterference final : public ErrorPrediction {
 public:
  static constexpr std::string_view k_name = "cell-interference";
  static constexpr std::string_view k_summary =
      "from wear, the state a cell is read in and its neighbours in the word line (Yamaga et al.)";
  using Config = CellInterferenceConfig;
  /// InputError when cells are shifted past their reference voltages.
  CellInterference(const Config& config, const PlainDecoder& plain);

  [[nodiscard]] double correctable(SideInformation side, const PageRead& page) const override;

 private:
  /// A number of wrong bits by the logarithm of the page's error rate, ascending; straight between
  /// its points.
  struct Point {
    double log_rate;
    double correctable;
  };
  using Curve = std::vector<Point>;
  static constexpr std::size_t k_most_bits = 4;
  struct Cells {
    std::array<Curve, k_most_bits> page;  ///< by page type
    std::array<Curve, k_most_bits> word_line;
  };

  [[nodiscard]] Cells curves(std::uint32_t cell_bits) const;
  /// Computed when first asked for, which takes up to a second: who only looks whether a drive can
  /// be made never asks.
  const Cells& cells(std::uint32_t cell_bits) const;

  Config config_;
  PlainDecoder plain_;
  mutable std::optional<Cells> native_;
  mutable std::optional<Cells> slc_;
};

}  // namespace tlmssd
