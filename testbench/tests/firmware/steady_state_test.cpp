// The mean-field model of steady states against published write amplification and closed forms.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>

#include "firmware/steady/permutation.h"
#include "firmware/steady/stationary.h"
#include "testbench/tests/support/wa_oracle.h"

using namespace tlmssd;
using namespace tlmssd::firmware;

namespace {

constexpr std::uint32_t k_model_blocks = 2000;

StationaryBlocks model(std::uint32_t units, double spare, const StationaryChoice& choice) {
  const double valid = (1 - spare) * k_model_blocks * units;
  return {k_model_blocks, units, valid, valid, choice};
}

}  // namespace

TEST_CASE("the model's write amplification is that of the policies' own theories") {
  for (const double spare : {0.07, 0.14, 0.28}) {
    const double alpha = 1 / (1 - spare);
    for (const std::uint32_t units : {32U, 64U, 256U}) {
      INFO(spare << " spare, blocks of " << units);
      const auto of = [&](const StationaryChoice& choice) {
        return model(units, spare, choice).write_amplification();
      };
      CHECK(of({}) == Approx(oracle::greedy(alpha, units)).epsilon(0.003));
      CHECK(of({.window = 1, .draws = 1}) == Approx(oracle::fifo(alpha)).epsilon(0.003));
      CHECK(of({.window = 0, .draws = 1}) == Approx(oracle::random(alpha)).epsilon(0.001));
      CHECK(of({.window = 0, .draws = 10}) == Approx(oracle::d_choices(alpha, units, 10)).epsilon(0.003));
      // A window is between the two.
      const double window = of({.window = k_model_blocks / 4, .draws = 0});
      CHECK(window < of({.window = 1, .draws = 1}));
      CHECK(window > of({}) * 0.9999);
      CHECK(of({.window = k_model_blocks, .draws = 0}) == Approx(of({})));
    }
  }
}

TEST_CASE("drawn blocks hold together what the model was given, and few are below the victims") {
  RandomStream random(3, "blocks");
  for (const StationaryChoice choice :
       {StationaryChoice{}, StationaryChoice{.window = 1, .draws = 1},
        StationaryChoice{.window = 0, .draws = 3}, StationaryChoice{.window = 300, .draws = 0}}) {
    const StationaryBlocks blocks = model(128, 0.14, choice);
    const std::vector<std::uint32_t> counts = blocks.draw(random);
    REQUIRE(counts.size() == k_model_blocks);
    const double sum = std::accumulate(counts.begin(), counts.end(), 0.0);
    CHECK(sum == Approx(0.86 * k_model_blocks * 128).epsilon(0.002));
  }
  // Greedy takes blocks at the lowest count: nothing is far below what a victim holds.
  const StationaryBlocks greedy = model(128, 0.14, {});
  const std::vector<std::uint32_t> counts = greedy.draw(random);
  CHECK(*std::min_element(counts.begin(), counts.end()) >= std::floor(128 * (1 - greedy.gain())) - 1);
  CHECK(*std::max_element(counts.begin(), counts.end()) == 128);
}

TEST_CASE("a permutation names each number once") {
  RandomStream random(5, "permutation");
  for (const std::uint64_t size : {1U, 2U, 3U, 64U, 65U, 1000U, 4097U}) {
    const Permutation permutation(size, random);
    std::vector<bool> seen(size);
    std::uint64_t moved = 0;
    for (std::uint64_t n = 0; n < size; ++n) {
      const std::uint64_t to = permutation(n);
      REQUIRE(to < size);
      REQUIRE_FALSE(seen[to]);
      seen[to] = true;
      moved += to != n ? 1 : 0;
    }
    if (size > 60) CHECK(moved > size * 9 / 10);
  }
}
