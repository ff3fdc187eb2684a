// Retention at one temperature counted as retention at another.
#include "models/nand/reliability/retention_clock.h"

#include <catch2/catch.hpp>

#include "models/base/memory_archive.h"

using namespace tlmssd;
using namespace tlmssd::literals;

TEST_CASE("13 hours at 85 degrees are about a year at 30") {
  RetentionClock clock({.temperature = 30, .reference_temperature = 30});
  clock.age(13.0 * 3600, 85);
  CHECK(RetentionClock::days(clock.at(0)) == Approx(365).epsilon(0.06));
}

TEST_CASE("at the reference temperature time is time") {
  const RetentionClock clock(RetentionConfig{});
  CHECK(clock.acceleration(40) == 1);
  CHECK(clock.at(0) == 0);
  CHECK(clock.at(1_us) == 1000);
  CHECK(clock.at(86'400_s) == 86'400'000'000'000);
  CHECK(RetentionClock::days(clock.at(86'400_s)) == 1);
}

TEST_CASE("a hot drive ages faster, time never runs back, and no energy is no difference") {
  const RetentionClock hot({.temperature = 70, .reference_temperature = 40});
  const double times = hot.acceleration(70);
  CHECK(times > 20);
  CHECK(hot.acceleration(20) < 1);
  CHECK(static_cast<double>(hot.at(10_s)) == Approx(1e10 * times));
  std::int64_t before = 0;
  for (Picoseconds now = 0; now < 1_ms; now += 997) {
    const std::int64_t then = hot.at(now);
    REQUIRE(then >= before);
    before = then;
  }
  CHECK(RetentionClock({.temperature = 85, .activation_energy = 0}).acceleration(85) == 1);
}

TEST_CASE("no data are younger than the least that is given") {
  RetentionClock clock({.least_retention = 3 * 86'400});
  CHECK(clock.days_since(0, 1_s) == 3);
  clock.age(2 * 86'400, 40);
  CHECK(clock.days_since(0, 0) == 3);
  clock.age(2 * 86'400, 40);
  CHECK(clock.days_since(0, 0) == 4);
  CHECK(clock.days_since(clock.at(0), 0) == 3);
}

TEST_CASE("skipped time adds up, is kept in a snapshot, and ends rather than overflowing") {
  RetentionClock clock(RetentionConfig{});
  clock.age(3600, 40);
  clock.age(0.5, 40);
  CHECK(clock.at(1_s) == 3'601'500'000'000);
  MemoryArchive archive;
  clock.archive(archive, 20_s);
  archive.rewind();
  RetentionClock restored(RetentionConfig{});
  restored.archive(archive, 5_s);  // the restored drive's event queue stands elsewhere
  CHECK(restored.at(5_s) == clock.at(20_s));
  CHECK(restored.at(6_s) == clock.at(21_s));
  clock.age(1e12, 150);
  const std::int64_t end = clock.at(0);
  clock.age(1e12, 150);
  CHECK(clock.at(0) == end);
  CHECK(clock.at(k_never) == end);
}

TEST_CASE("the clock ends at 126 years, and says so") {
  RetentionClock clock({.reference_temperature = 40});
  clock.age(125 * 365 * 86'400.0, 40);
  CHECK_FALSE(clock.has_ended(0));
  clock.age(365 * 86'400.0, 85);
  CHECK(clock.has_ended(0));
  CHECK(RetentionClock::days(clock.at(86'400_s)) == RetentionClock::k_most_days);
}
