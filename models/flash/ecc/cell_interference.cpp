#include "models/flash/ecc/cell_interference.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "models/base/input_error.h"
#include "models/base/quantity.h"

namespace tlmssd {

namespace {

constexpr double k_reference = 0.5;  // voltage between two states, above the lower

/// The bit that state `state` holds in a page of this type.
bool bit_of(std::uint32_t state, std::uint32_t cell_bits, std::uint32_t type) {
  return ((state ^ (state >> 1U)) >> (cell_bits - 1 - type) & 1U) != 0;
}

/// Chance of a standard normal deviate below `z`.
double below(double z) {
  return std::erfc(-z / std::sqrt(2.0)) / 2;
}

/// Wrong and all bits of a class, as shares of all bits.
struct Tally {
  double all = 0;
  double wrong = 0;
};

/// Cells by the state they are read in and the sum of their neighbours' states.
class Readings {
 public:
  Readings(const CellInterferenceConfig& config, std::uint32_t cell_bits, double sigma)
      : config_(config), states_(1U << cell_bits), top_(states_ - 1), sigma_(sigma) {}

  [[nodiscard]] std::uint32_t states() const { return states_; }
  [[nodiscard]] std::uint32_t sums() const { return 2 * top_ + 1; }
  /// Share of all cells that are in `state` with neighbours of that sum, and read as `read`.
  [[nodiscard]] double share(std::uint32_t state, std::uint32_t sum, std::uint32_t read) const {
    const double pairs = std::min(sum, 2 * top_ - sum) + 1;
    const double cells = states_;
    const double mean =
        state + config_.coupling * (static_cast<double>(sum) - top_) - config_.charge_loss * state / top_;
    const double upper = read == top_ ? 1 : below((read + k_reference - mean) / sigma_);
    const double lower = read == 0 ? 0 : below((read - k_reference - mean) / sigma_);
    return (upper - lower) * pairs / (cells * cells * cells);
  }

 private:
  const CellInterferenceConfig& config_;
  std::uint32_t states_;
  std::uint32_t top_;
  double sigma_;
};

double error_rate(const std::vector<BitClass>& classes) {
  double sum = 0;
  for (const BitClass& bits : classes) sum += bits.share * bits.crossover;
  return sum;
}

}  // namespace

const ParameterTable<CellInterferenceConfig>& CellInterferenceConfig::parameters() {
  using C = CellInterferenceConfig;
  static const auto table =
      ParameterTable<C>{}
          .real(
              "coupling", &C::coupling, {0, 0.5},
              "by how much of the distance between two states a neighbour in the word line shifts a cell for "
              "each state that it is programmed up")
          .real("charge_loss", &C::charge_loss, {0, 0.5},
                "by how much of that distance the highest state has sunk below where its reference voltages "
                "expect it; others in proportion");
  return table;
}

std::vector<BitClass> bit_classes(const CellInterferenceConfig& config, std::uint32_t cell_bits,
                                  std::uint32_t type, double sigma, SideInformation side) {
  const Readings cells(config, cell_bits, sigma);
  const std::size_t classes = side == SideInformation::word_line ? std::size_t{cells.states()} * cells.sums()
                                                                 : (side == SideInformation::page ? 2 : 1);
  std::vector<Tally> tallies(classes);
  for (std::uint32_t read = 0; read < cells.states(); ++read) {
    const bool bit = bit_of(read, cell_bits, type);
    for (std::uint32_t sum = 0; sum < cells.sums(); ++sum) {
      Tally& tally = tallies[side == SideInformation::word_line ? std::size_t{read} * cells.sums() + sum
                             : side == SideInformation::page    ? std::size_t{bit}
                                                                : 0];
      for (std::uint32_t state = 0; state < cells.states(); ++state) {
        const double share = cells.share(state, sum, read);
        tally.all += share;
        if (bit_of(state, cell_bits, type) != bit) tally.wrong += share;
      }
    }
  }
  std::vector<BitClass> result;
  for (const Tally& tally : tallies)
    if (tally.all > 0) result.push_back({tally.all, tally.wrong / tally.all});
  return result;
}

CellInterference::CellInterference(const Config& config, const PlainDecoder& plain)
    : config_(config), plain_(plain) {
  const double top = (1U << plain.cell_bits) - 1;
  constexpr double k_most = 0.9 * k_reference;  // beyond, fresh cells would be misread
  const double shift = config.coupling * top + config.charge_loss;
  if (shift > k_most) {
    const bool coupled = config.charge_loss < k_most;
    const double nearest = coupled ? std::floor((k_most - config.charge_loss) / top * 1000) / 1000 : 0;
    throw refusal(
        coupled ? "coupling" : "charge_loss",
        fmt::format("neighbours and lost charge shift a cell of {} bits by up to {:.3g} of the distance "
                    "between two states; it must stay within {:g}",
                    plain.cell_bits, shift, k_most),
        format_value(Kind::real, nearest));
  }
  if (2 * plain.correctable >= plain.frame_bits) {
    throw refusal("hard-ldpc.correctable", "must be less than half of the frame's bits",
                  std::to_string(plain.frame_bits / 2 - 1));
  }
}

const CellInterference::Cells& CellInterference::cells(std::uint32_t cell_bits) const {
  std::optional<Cells>& kept = cell_bits == plain_.cell_bits ? native_ : slc_;
  if (!kept) kept = curves(cell_bits == plain_.cell_bits ? cell_bits : 1);
  return *kept;
}

CellInterference::Cells CellInterference::curves(std::uint32_t cell_bits) const {
  // Widths from where no bit is wrong to where a quarter is.
  constexpr double k_narrowest = 0.01;
  constexpr double k_step = 1.02;
  constexpr double k_least_rate = 1e-9;
  constexpr double k_most_rate = 0.25;
  const double plain = static_cast<double>(plain_.correctable) / plain_.frame_bits;
  Cells cells;
  for (std::uint32_t type = 0; type < cell_bits; ++type) {
    double rate = 0;
    for (double sigma = k_narrowest; rate < k_most_rate; sigma *= k_step) {
      const auto of_page = bit_classes(config_, cell_bits, type, sigma, SideInformation::page);
      rate = error_rate(of_page);
      if (rate < k_least_rate) continue;
      const auto of_line = bit_classes(config_, cell_bits, type, sigma, SideInformation::word_line);
      const double told_page = plain_.frame_bits * bearable(of_page, plain);
      // Who is told more can leave it aside.
      const double told_line = std::max(told_page, plain_.frame_bits * bearable(of_line, plain));
      cells.page[type].push_back({std::log(rate), told_page});
      cells.word_line[type].push_back({std::log(rate), told_line});
    }
  }
  return cells;
}

double CellInterference::correctable(SideInformation side, const PageRead& page) const {
  if (side == SideInformation::none) return plain_.correctable;
  const Cells& of_cells = cells(page.cell_bits);
  const Curve& curve = (side == SideInformation::page ? of_cells.page : of_cells.word_line)[page.type];
  const double log_rate = std::log(page.rate);
  const auto above =
      std::lower_bound(curve.begin(), curve.end(), log_rate,
                       [](const Point& point, double value) { return point.log_rate < value; });
  if (above == curve.begin()) return curve.front().correctable;
  if (above == curve.end()) return curve.back().correctable;
  const Point& low = *(above - 1);
  const double share = (log_rate - low.log_rate) / (above->log_rate - low.log_rate);
  return low.correctable + share * (above->correctable - low.correctable);
}

}  // namespace tlmssd
