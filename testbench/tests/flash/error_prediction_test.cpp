// Error prediction: the mixture channel against its limits, the cell model against closed forms and
// draws, and the decoders' use of both.
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>
#include <random>

#include "models/base/input_error.h"
#include "models/flash/ecc/cell_interference.h"
#include "models/flash/ecc/ecc_engines.h"

using namespace tlmssd;

namespace {

constexpr std::uint32_t k_frame_bits = 8 * (1024 + 105);
constexpr PlainDecoder k_untold{82, k_frame_bits, 2};
constexpr double k_borne_untold = 82.0 / k_frame_bits;

double error_rate(const std::vector<BitClass>& classes) {
  return std::accumulate(classes.begin(), classes.end(), 0.0,
                         [](double sum, const BitClass& bits) { return sum + bits.share * bits.crossover; });
}

double correctable(double coupling, double charge_loss, SideInformation side, std::uint32_t type,
                   double rate) {
  return CellInterference({coupling, charge_loss}, k_untold).correctable(side, {2, type, rate});
}

/// Inverse of the binary entropy below 1/2.
double rate_of_entropy(double wanted) {
  double low = 0;
  double high = 0.5;
  for (int i = 0; i < 100; ++i) (binary_entropy((low + high) / 2) < wanted ? low : high) = (low + high) / 2;
  return high;
}

}  // namespace

TEST_CASE("a mixture of one class is the channel itself, at every rate of it") {
  for (const double rate : {1e-5, 1e-3, 0.02}) {
    const std::array one{BitClass{1, rate}};
    CHECK(bearable(one, k_borne_untold) == Approx(k_borne_untold).epsilon(1e-9));
    const std::array split{BitClass{0.3, rate}, BitClass{0.7, rate}};
    CHECK(bearable(split, k_borne_untold) == Approx(k_borne_untold).epsilon(1e-9));
  }
}

TEST_CASE("bits that are never wrong leave the others the whole of the redundancy") {
  // A share q has all errors: q h(e / q) = h(plain).
  for (const double share : {0.5, 0.2}) {
    const std::array classes{BitClass{share, 0.004}, BitClass{1 - share, 0}};
    const double expected = share * rate_of_entropy(binary_entropy(k_borne_untold) / share);
    CHECK(bearable(classes, k_borne_untold) == Approx(expected).epsilon(1e-9));
  }
}

TEST_CASE("where all errors are in few bits, these are erased: half of them are wrong") {
  // Fewer of them than the redundancy can fill in: nothing more can go wrong.
  const double share = 0.9 * binary_entropy(k_borne_untold);
  const std::array classes{BitClass{share, 0.1}, BitClass{1 - share, 0}};
  CHECK(bearable(classes, k_borne_untold) == Approx(share / 2).epsilon(1e-9));
  // Just as many: the capacity of the erasure channel, 1 - share.
  const double all = binary_entropy(k_borne_untold);
  const std::array erased{BitClass{all, 0.5}, BitClass{1 - all, 0}};
  CHECK(bearable(erased, k_borne_untold) == Approx(all / 2).epsilon(1e-6));
}

TEST_CASE("the further apart the classes, the more is borne") {
  double last = k_borne_untold;
  for (const double apart : {1.5, 2.0, 4.0, 10.0, 100.0}) {
    const std::array classes{BitClass{0.5, 0.001 * apart}, BitClass{0.5, 0.001}};
    const double borne = bearable(classes, k_borne_untold);
    CHECK(borne > last);
    last = borne;
  }
}

TEST_CASE("without interference and lost charge, a page's own bits tell nothing") {
  for (const std::uint32_t type : {0U, 1U})
    for (const double rate : {1e-4, 3e-3, 1e-2})
      CHECK(correctable(0, 0, SideInformation::page, type, rate) == Approx(82).epsilon(1e-6));
  // In the lower page the outer states lie beside no reference voltage: half of the cells are never
  // wrong. In the upper page each state lies beside one.
  const double half = k_frame_bits * rate_of_entropy(2 * binary_entropy(k_borne_untold)) / 2;
  CHECK(correctable(0, 0, SideInformation::word_line, 0, 1e-3) == Approx(half).epsilon(1e-3));
  CHECK(correctable(0, 0, SideInformation::word_line, 1, 1e-3) == Approx(82).epsilon(1e-2));
  CHECK(
      CellInterference({0, 0}, {82, k_frame_bits, 1}).correctable(SideInformation::word_line, {1, 0, 1e-3}) ==
      Approx(82).epsilon(1e-6));
}

TEST_CASE("interference and lost charge make predictions worth more, wear makes them worth less") {
  for (const std::uint32_t type : {0U, 1U}) {
    double last = 0;
    for (const double coupling : {0.0, 0.03, 0.06, 0.09}) {
      const double here = correctable(coupling, 0.1, SideInformation::word_line, type, 6e-3);
      CHECK(here > last);
      last = here;
    }
    CHECK(correctable(0.08, 0.1, SideInformation::page, type, 6e-3) > 82);
    CHECK(correctable(0.08, 0.2, SideInformation::page, type, 6e-3) >
          correctable(0.08, 0.1, SideInformation::page, type, 6e-3));
    CHECK(correctable(0.08, 0.1, SideInformation::word_line, type, 3e-3) >
          correctable(0.08, 0.1, SideInformation::word_line, type, 1e-2));
  }
}

TEST_CASE("classes of bits are those of cells that are drawn one by one") {
  const CellInterferenceConfig config{0.08, 0.1};
  constexpr double k_sigma = 0.25;
  constexpr int k_cells = 400'000;
  std::mt19937_64 random(7);
  std::uniform_int_distribution<int> state(0, 3);
  std::normal_distribution<double> noise(0, k_sigma);
  constexpr std::array<std::array<int, 4>, 2> k_bits{{{0, 0, 1, 1}, {0, 1, 1, 0}}};
  for (const std::uint32_t type : {0U, 1U}) {
    double wrong = 0;
    double wrong_zeros = 0;
    double zeros = 0;
    for (int cell = 0; cell < k_cells; ++cell) {
      const int own = state(random);
      const int around = state(random) + state(random);
      const double voltage = own + 0.08 * (around - 3) - 0.1 * own / 3 + noise(random);
      const int read = voltage < 0.5 ? 0 : voltage < 1.5 ? 1 : voltage < 2.5 ? 2 : 3;
      const bool error =
          k_bits[type][static_cast<std::size_t>(own)] != k_bits[type][static_cast<std::size_t>(read)];
      const bool zero = k_bits[type][static_cast<std::size_t>(read)] == 0;
      wrong += error ? 1 : 0;
      zeros += zero ? 1 : 0;
      wrong_zeros += error && zero ? 1 : 0;
    }
    const auto pages = bit_classes(config, 2, type, k_sigma, SideInformation::page);
    REQUIRE(pages.size() == 2);
    // Four standard errors.
    const auto margin = [](double expected, double count) { return 4 * std::sqrt(expected / count); };
    CHECK(error_rate(pages) == Approx(wrong / k_cells).margin(margin(error_rate(pages), k_cells)));
    CHECK(pages[0].share == Approx(zeros / k_cells).margin(margin(0.25, k_cells)));
    CHECK(pages[0].crossover == Approx(wrong_zeros / zeros).margin(margin(pages[0].crossover, zeros)));
    CHECK(error_rate(bit_classes(config, 2, type, k_sigma, SideInformation::word_line)) ==
          Approx(error_rate(pages)));
  }
}

TEST_CASE("cells shifted past their reference voltages are refused") {
  const auto made = [](double coupling, double charge_loss, const PlainDecoder& plain) {
    return CellInterference({coupling, charge_loss}, plain).correctable(SideInformation::none, {});
  };
  const PlainDecoder three_bits{82, k_frame_bits, 3};
  CHECK_THROWS_AS(made(0.2, 0, k_untold), InputError);
  CHECK_THROWS_AS(made(0, 0.48, k_untold), InputError);
  CHECK_THROWS_AS(made(0.08, 0, three_bits), InputError);
  CHECK(made(0.04, 0.1, three_bits) == 82);
}

TEST_CASE("decoders correct what is predicted of the page, and only codes that are told something") {
  EccConfig config;
  config.prediction = std::make_shared<CellInterference>(CellInterferenceConfig{}, k_untold);
  EccEngines engines(config, 1);
  constexpr int k_pages = 2000;
  const PageRead worn{2, 1, 8e-3};
  const double limit = config.prediction->correctable(SideInformation::word_line, worn);
  const auto failed = [&](EccCode code, double wrong, const PageRead& page) {
    const std::array frame{static_cast<std::uint32_t>(std::lround(wrong))};
    std::uint32_t sum = 0;
    for (int i = 0; i < k_pages; ++i) sum += engines.decode(code, page, 1, frame).failed;
    return static_cast<double>(sum) / k_pages;
  };
  CHECK(failed(EccCode::ep_ldpc, limit, worn) == Approx(0.5).margin(0.1));
  CHECK(failed(EccCode::ep_ldpc, 0.85 * limit, worn) < 0.001);
  CHECK(failed(EccCode::ep_ldpc, 1.2 * limit, worn) == 1);
  CHECK(failed(EccCode::ep_ldpc, 1.2 * limit, {2, 1, 1e-3}) < 0.001);  // less worn, the same wrong bits
  CHECK(failed(EccCode::bch, 60, worn) == 0);
  CHECK(failed(EccCode::bch, 61, worn) == 1);
  CHECK(failed(EccCode::soft_ldpc, 126, worn) < 0.01);
}
