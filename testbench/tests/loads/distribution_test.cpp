// Random positions against their closed forms.
#include "testbench/loads/requests/distribution.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <numeric>
#include <set>
#include <stdexcept>
#include <utility>

using namespace tlmssd;

namespace {

constexpr int k_draws = 400'000;

/// Sum of (seen - expected)^2 / expected.
double chi_square(const std::vector<double>& seen, const std::vector<double>& expected) {
  double sum = 0;
  for (std::size_t i = 0; i < seen.size(); ++i)
    sum += (seen[i] - expected[i]) * (seen[i] - expected[i]) / expected[i];
  return sum;
}

/// Counts per position, most popular first.
std::vector<double> popularity(Positions& positions, std::uint64_t blocks) {
  std::vector<double> counts(blocks);
  for (int i = 0; i < k_draws; ++i) counts.at(positions.draw(0)) += 1;
  std::sort(counts.rbegin(), counts.rend());
  return counts;
}

double share(const std::vector<double>& counts, std::size_t first) {
  return std::accumulate(counts.begin(), counts.begin() + static_cast<long>(first), 0.0) / k_draws;
}

}  // namespace

TEST_CASE("a permutation hits every block exactly once") {
  for (const std::uint64_t size : {1ULL, 2ULL, 3ULL, 5ULL, 64ULL, 1000ULL, 4097ULL, 100003ULL}) {
    const Permutation permutation(size, 7);
    std::vector<bool> seen(size);
    for (std::uint64_t i = 0; i < size; ++i) {
      const std::uint64_t to = permutation.at(i);
      REQUIRE(to < size);
      REQUIRE_FALSE(seen[to]);
      seen[to] = true;
    }
  }
}

TEST_CASE("zipf ranks follow 1 / rank^theta") {
  for (const double theta : {0.5, 0.9, 1.0, 1.2, 2.0}) {
    INFO(theta);
    constexpr std::uint64_t k_ranks = 1000;
    const ZipfRanks zipf(k_ranks, theta);
    RandomStream random(1, "zipf");
    double zeta = 0;
    for (std::uint64_t k = 1; k <= k_ranks; ++k) zeta += std::pow(static_cast<double>(k), -theta);
    // the first 20 ranks one by one, the rest together
    std::vector<double> seen(21);
    std::vector<double> expected(21);
    for (int i = 0; i < k_draws; ++i) seen[std::min<std::uint64_t>(zipf.draw(random), 20)] += 1;
    for (std::size_t k = 0; k < 20; ++k)
      expected[k] = k_draws * std::pow(static_cast<double>(k + 1), -theta) / zeta;
    expected[20] = k_draws - std::accumulate(expected.begin(), expected.begin() + 20, 0.0);
    CHECK(chi_square(seen, expected) < 45.3);  // 20 degrees of freedom, 0.1 %
  }
}

TEST_CASE("jobs of one hot set prefer the same positions, those of others and of none do not") {
  constexpr std::uint64_t k_blocks = 10'000;
  const auto hottest = [](const char* text, std::uint64_t hot_set, std::uint64_t seed) {
    DistributionSpec spec = parse_distribution(text);
    spec.hot_set = hot_set;
    Positions positions(spec, k_blocks, true, seed);
    std::vector<std::pair<int, std::uint64_t>> seen(k_blocks);
    for (std::uint64_t i = 0; i < k_blocks; ++i) seen[i].second = i;
    for (int i = 0; i < 200'000; ++i) ++seen[positions.draw(0)].first;
    std::partial_sort(seen.begin(), seen.begin() + 50, seen.end(), std::greater<>());
    std::set<std::uint64_t> most;
    for (std::size_t i = 0; i < 50; ++i) most.insert(seen[i].second);
    return most;
  };
  const auto common = [](const std::set<std::uint64_t>& one, const std::set<std::uint64_t>& other) {
    return std::count_if(one.begin(), one.end(), [&](std::uint64_t at) { return other.contains(at); });
  };
  for (const char* const text : {"zipf:1.1", "pareto:0.1"}) {
    INFO(text);
    CHECK(common(hottest(text, 5, 1), hottest(text, 5, 2)) >= 35);  // draws differ, and so do ties
    CHECK(common(hottest(text, 5, 1), hottest(text, 6, 1)) <= 5);
    CHECK(common(hottest(text, 0, 1), hottest(text, 0, 2)) <= 5);
  }
}

TEST_CASE("zipf positions keep the popularity of their ranks") {
  constexpr std::uint64_t k_blocks = 5000;
  Positions positions(parse_distribution("zipf:1.1"), k_blocks, true, 3);
  const auto counts = popularity(positions, k_blocks);
  double zeta = 0;
  double hundred = 0;
  for (std::uint64_t k = 1; k <= k_blocks; ++k) {
    zeta += std::pow(static_cast<double>(k), -1.1);
    if (k == 100) hundred = zeta;
  }
  CHECK(share(counts, 100) == Approx(hundred / zeta).epsilon(0.01));
}

TEST_CASE("pareto 0.2: a fifth of the positions gets four fifths of the requests") {
  Positions positions(parse_distribution("pareto:0.2"), 5000, true, 3);
  const auto counts = popularity(positions, 5000);
  CHECK(share(counts, 1000) == Approx(0.8).epsilon(0.01));
  // The share of the first part p is p^k, of which k makes the above 0.8.
  const double k = std::log(0.8) / std::log(0.2);
  for (const double part : {0.01, 0.05, 0.5})
    CHECK(share(counts, static_cast<std::size_t>(part * 5000)) == Approx(std::pow(part, k)).epsilon(0.02));
}

TEST_CASE("every position of a zone is drawn, none but those of zones with accesses") {
  for (const std::uint64_t blocks : {10U, 97U}) {
    Positions positions(parse_distribution("zoned:50/30:0/40:50/30"), blocks, true, 3);
    std::set<std::uint64_t> seen;
    for (int i = 0; i < 5000; ++i) seen.insert(positions.draw(0));
    std::set<std::uint64_t> expected;
    for (std::uint64_t at = 0; at < blocks; ++at) {
      if (at < blocks * 30 / 100 || at >= blocks * 70 / 100) expected.insert(at);
    }
    CHECK(seen == expected);
  }
}

TEST_CASE("zoned shares, also by direction") {
  Positions positions(parse_distribution("zoned:60/10:30/20:8/30:2/40,100/100"), 1000, true, 3);
  std::vector<double> seen(4);
  double writes_in_first = 0;
  for (int i = 0; i < k_draws; ++i) {
    const std::uint64_t at = positions.draw(0);
    seen[at < 100 ? 0 : at < 300 ? 1 : at < 600 ? 2 : 3] += 1;
    writes_in_first += positions.draw(1) < 100 ? 1 : 0;
  }
  CHECK(chi_square(seen, {k_draws * 0.6, k_draws * 0.3, k_draws * 0.08, k_draws * 0.02}) <
        16.3);  // 3 degrees, 0.1 %
  CHECK(writes_in_first / k_draws == Approx(0.1).epsilon(0.02));
}

// Shares of the accesses as counted by fio 3.33 on as many blocks.
TEST_CASE("normal prefers a part of the region, scattered over it, as fio does") {
  constexpr std::uint64_t k_blocks = 4000;
  const auto hottest = [](const char* text, std::uint64_t blocks) {
    Positions positions(parse_distribution(text), k_blocks, true, 3);
    std::vector<std::uint64_t> counts(k_blocks);
    double sum = 0;
    for (int i = 0; i < k_draws; ++i) {
      const std::uint64_t at = positions.draw(0);
      ++counts.at(at);
      sum += static_cast<double>(at);
    }
    CHECK(sum / k_draws == Approx(k_blocks / 2.0).epsilon(0.05));
    // As many in either half, and not side by side.
    const auto half = counts.begin() + k_blocks / 2;
    const auto middle = std::accumulate(counts.begin() + k_blocks * 3 / 8, counts.begin() + k_blocks * 5 / 8,
                                        std::uint64_t{0});
    CHECK(static_cast<double>(middle) / k_draws == Approx(0.25).margin(0.03));
    CHECK(static_cast<double>(std::accumulate(counts.begin(), half, std::uint64_t{0})) / k_draws ==
          Approx(0.5).margin(0.05));
    std::sort(counts.rbegin(), counts.rend());
    return static_cast<double>(std::accumulate(counts.begin(), counts.begin() + blocks, std::uint64_t{0})) /
           k_draws;
  };
  CHECK(hottest("normal:1", 1000) == Approx(0.866).margin(0.01));
  CHECK(hottest("normal:15", 1000) == Approx(0.815).margin(0.01));
  CHECK(hottest("normal:40", 1000) == Approx(0.585).margin(0.01));
  CHECK(hottest("normal:90", 1000) == Approx(0.496).margin(0.01));
  CHECK(hottest("normal:90", 1000) == hottest("normal:50", 1000));
}

TEST_CASE("random without repeats covers every block each pass, in another order") {
  Positions positions(parse_distribution("random"), 777, false, 3);
  std::vector<std::uint64_t> order[2];
  for (auto& pass : order) {
    std::vector<bool> seen(777);
    for (int i = 0; i < 777; ++i) {
      pass.push_back(positions.draw(0));
      REQUIRE_FALSE(seen.at(pass.back()));
      seen[pass.back()] = true;
    }
  }
  CHECK(order[0] != order[1]);
}

TEST_CASE("distributions that are not understood") {
  for (const char* text : {"zip:1", "zipf:0", "zipf:x", "pareto:1", "normal", "zoned:", "zoned:50/50",
                           "zoned:60/10:50/90", "random:1"}) {
    INFO(text);
    CHECK_THROWS_AS(parse_distribution(text), std::invalid_argument);
  }
}
