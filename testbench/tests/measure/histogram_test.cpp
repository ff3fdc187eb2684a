// The latency histogram against sorting.
#include "testbench/measure/histogram.h"

#include <catch2/catch.hpp>
#include <ctime>

#include "models/base/random.h"

namespace tlmssd {

TEST_CASE("percentiles agree with sorting within 0.2 %") {
  RandomStream random(1, "histogram");
  for (const double spread : {0.01, 1.0, 6.0}) {
    Histogram histogram;
    Histogram half;
    std::vector<Picoseconds> values;
    for (int i = 0; i < 20000; ++i) {
      const auto value = static_cast<Picoseconds>(std::exp(18 + spread * random.normal()));
      values.push_back(value);
      (i % 2 == 0 ? histogram : half).record(value);
    }
    histogram.merge(half);
    std::sort(values.begin(), values.end());
    for (const double share : {0.0, 0.001, 0.01, 0.25, 0.5, 0.9, 0.95, 0.99, 0.999, 0.9999}) {
      const auto rank = static_cast<std::size_t>(std::max(1.0, std::ceil(share * 20000 - 1e-9)));
      const auto exact = static_cast<double>(values[rank - 1]);
      CHECK(std::abs(static_cast<double>(histogram.percentile(share)) - exact) <= exact * 0.002 + 0.5);
    }
    CHECK(histogram.percentile(1) == values.back());
    CHECK(histogram.minimum() == values.front());
    CHECK(histogram.maximum() == values.back());
    CHECK(histogram.count() == values.size());
    double mean = 0;
    for (const Picoseconds value : values) mean += static_cast<double>(value) / 20000;
    double variance = 0;
    for (const Picoseconds value : values) variance += std::pow(static_cast<double>(value) - mean, 2) / 20000;
    CHECK(histogram.mean() == Approx(mean));
    CHECK(histogram.deviation() == Approx(std::sqrt(variance)).epsilon(1e-6));
    std::uint64_t sum = 0;
    Picoseconds previous = -1;
    histogram.for_each([&](Picoseconds low, Picoseconds high, std::uint64_t count) {
      CHECK(low > previous);
      CHECK(high >= low);
      previous = high;
      sum += count;
    });
    CHECK(sum == values.size());
  }
}

TEST_CASE("equal values, extremes and emptiness") {
  Histogram histogram;
  CHECK(histogram.percentile(0.5) == 0);
  CHECK(histogram.mean() == 0);
  CHECK(histogram.minimum() == 0);
  for (int i = 0; i < 1000; ++i) histogram.record(123'456'789'012'345);
  CHECK(histogram.deviation() == 0);
  CHECK(histogram.percentile(0.5) == 123'456'789'012'345);
  CHECK(histogram.mean() == 123'456'789'012'345.0);
  histogram.clear();
  CHECK(histogram.count() == 0);
  histogram.record(0);
  histogram.record(k_never);
  CHECK(histogram.maximum() == k_never);
  CHECK(histogram.percentile(0.5) == 0);
  for (int i = 0; i < 10; ++i) histogram.record(k_never);  // squares no longer fit 128 bits
  CHECK(histogram.deviation() > 0);
  CHECK(histogram.deviation() < static_cast<double>(k_never));
}

TEST_CASE("a percentile among equal values is exact, whatever others there are") {
  Histogram histogram;
  for (int i = 0; i < 3998; ++i) histogram.record(172'020'000);
  histogram.record(171'000'000);
  histogram.record(900'000'000);
  for (const double share : {0.01, 0.5, 0.99}) CHECK(histogram.percentile(share) == 172'020'000);
}

TEST_CASE("histogram speed", "[.speed]") {
  Histogram histogram;
  RandomStream random(1, "speed");
  std::vector<Picoseconds> values(4096);
  for (auto& value : values) value = 50'000'000 + static_cast<Picoseconds>(random.below(100'000'000));
  const auto begin = std::clock();
  for (int round = 0; round < 10000; ++round) {
    for (const Picoseconds value : values) histogram.record(value);
  }
  const double spent = static_cast<double>(std::clock() - begin) * 1e9 / CLOCKS_PER_SEC;
  WARN(spent / 10000 / 4096 << " ns per value");
}

}  // namespace tlmssd
