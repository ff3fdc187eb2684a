// Curves over time: percentiles of each step against the commands themselves, and the drive's
// notes.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <random>

#include "testbench/measure/drive_series.h"
#include "testbench/measure/latency_steps.h"

namespace tlmssd {

TEST_CASE("commands of one bin are taken for spread evenly over it") {
  LatencySteps steps;
  constexpr Picoseconds k_start = Picoseconds{1} << 30U;  // of a bin as wide as an eighth of that
  constexpr Picoseconds k_width = k_start / 8;
  steps.record(0, k_start);
  for (int i = 0; i < 2; ++i) steps.record(0, k_start + k_width / 2);
  steps.record(0, k_start + k_width - 1);
  const auto at = [&steps](double share) { return (*steps.percentile(0, share) - k_start) / k_width; };
  CHECK(at(0.25) == Approx(1.0 / 8));
  CHECK(at(0.5) == Approx(3.0 / 8));
  CHECK(at(0.75) == Approx(5.0 / 8));
  CHECK(*steps.percentile(0, 1) == k_start + k_width - 1);
}

TEST_CASE("a step's percentiles are those of its commands, within a bin") {
  std::mt19937_64 random(7);
  std::lognormal_distribution<double> latency(std::log(80e6), 1.5);
  LatencySteps steps;
  std::vector<std::vector<double>> kept(9);
  for (int i = 0; i < 20'000; ++i) {
    const std::size_t step = random() % kept.size();
    if (step == 4) continue;  // a quiet one
    const auto drawn = static_cast<Picoseconds>(latency(random));
    steps.record(step, drawn);
    kept[step].push_back(static_cast<double>(drawn));
  }
  const auto agree = [&] {
    for (std::size_t i = 0; i < kept.size(); ++i) {
      std::sort(kept[i].begin(), kept[i].end());
      for (const double share : {0.5, 0.99, 0.999}) {
        if (kept[i].empty()) {
          CHECK_FALSE(steps.percentile(i, share));
          continue;
        }
        const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(kept[i].size())));
        CHECK(*steps.percentile(i, share) == Approx(kept[i][rank - 1]).epsilon(0.125));
      }
      if (!kept[i].empty()) CHECK(*steps.percentile(i, 1) == kept[i].back());
    }
  };
  agree();
  steps.widen();
  std::vector<std::vector<double>> pairs((kept.size() + 1) / 2);
  for (std::size_t i = 0; i < kept.size(); ++i)
    pairs[i / 2].insert(pairs[i / 2].end(), kept[i].begin(), kept[i].end());
  kept = pairs;
  agree();
  CHECK_FALSE(steps.percentile(99, 0.5));
}

TEST_CASE("no percentile of a step lies beyond its shortest and longest latency") {
  LatencySteps steps;
  for (const Picoseconds latency : {95'000, 95'000, 95'001}) steps.record(0, latency);
  CHECK(steps.percentile(0, 0.3) == 95'000);
  CHECK(steps.percentile(0, 0.9) == 95'001);
  steps.record(1, 0);
  CHECK(steps.percentile(1, 0.5) == 0);
  const Picoseconds beyond_all_bins = Picoseconds{1} << 60;
  steps.record(1, beyond_all_bins);
  CHECK(*steps.percentile(1, 0.5) < 5e3);
  CHECK(steps.percentile(1, 1) == static_cast<double>(beyond_all_bins));
}

TEST_CASE("the drive is noted at even intervals, at most some hundred times") {
  DriveSeries series;
  const auto count = [](Picoseconds now) {
    DriveSample sample;
    sample.when = now;
    sample.erases = static_cast<std::uint64_t>(now);
    return sample;
  };
  series.look(5);
  CHECK(series.samples().empty());  // without a source
  series.set_source(count);
  series.look(5);
  series.start(1000);
  const Picoseconds end = GENERATE(Picoseconds{3'000'000}, Picoseconds{7'000'000'000'000});
  for (Picoseconds now = 1000; now < end; now += end / 5000) series.look(now);
  series.finish(end);
  const auto& samples = series.samples();
  REQUIRE(samples.size() <= 513);
  CHECK(samples.front().when == 1000);
  CHECK(samples.back().when == end);
  if (end > 1'000'000'000) CHECK(samples.size() > 250);
  std::map<Picoseconds, int> gaps;
  for (std::size_t i = 1; i + 1 < samples.size(); ++i) {
    CHECK(samples[i].erases == static_cast<std::uint64_t>(samples[i].when));
    CHECK(samples[i].when > samples[i - 1].when);
    if (i > 1) ++gaps[samples[i].when - samples[i - 1].when];
  }
  // Even, but for the interval between two commands to either side.
  if (gaps.size() > 1) CHECK(gaps.rbegin()->first <= gaps.begin()->first + 4 * (end / 5000));
}

}  // namespace tlmssd
