// How busy resources were between two instants.
#include "testbench/measure/busy_series.h"

#include <catch2/catch.hpp>
#include <cmath>

namespace tlmssd {
namespace {

/// Two cores of which one works all the time from 400 us on, and a link that works in every other
/// millisecond.
struct Drive {
  Picoseconds started = 0;
  Picoseconds now = 0;
  void tell(BusySink& sink) const {
    constexpr Picoseconds k_ms = 1'000'000'000;
    const Picoseconds passed = now - started;
    sink.busy("cores", std::max<Picoseconds>(passed - 400'000'000, 0), 2);
    sink.busy("link", passed / (2 * k_ms) * k_ms + std::min(passed % (2 * k_ms), k_ms), 1);
  }
};

}  // namespace

TEST_CASE("resources are as busy between two instants as they have been at work there") {
  Drive drive;
  BusySeries series;
  CHECK(std::isnan(series.utilisation(0, 0, 100)));
  series.set_source([&](BusySink& sink) { drive.tell(sink); });
  REQUIRE(series.kinds().size() == 2);
  CHECK(series.kinds()[0].label == "cores");
  CHECK(series.kinds()[0].parts == 2);
  const Picoseconds start = 7'000'000;  // a ramp has passed
  drive.started = start;
  series.start(start);
  const Picoseconds length = GENERATE(Picoseconds{20'000'000'000}, Picoseconds{4'000'000'000'000});
  for (Picoseconds passed = 0; passed < length; passed += length / 20'000) {
    drive.now = start + passed;
    series.look(drive.now);
  }
  drive.now = start + length;
  series.finish(drive.now);

  const std::vector<Picoseconds> ends = series.ends();
  CHECK(ends.size() > 50);
  CHECK(ends.size() <= 129);
  CHECK(ends.back() == length);
  CHECK(series.utilisation(0, 0, length) ==
        Approx(0.5 * static_cast<double>(length - 400'000'000) / static_cast<double>(length)));
  CHECK(series.utilisation(1, 0, length) == Approx(0.5).epsilon(1e-9));
  CHECK(series.utilisation(0, length / 2, length) == Approx(0.5).epsilon(1e-9));
  CHECK(std::isnan(series.utilisation(0, 5, 5)));
  // Within an interval, and across several.
  if (length < 1'000'000'000'000) {
    CHECK(series.utilisation(1, 0, 1'000'000'000) == Approx(1).epsilon(1e-3));
    CHECK(series.utilisation(1, 1'000'000'000, 2'000'000'000) < 1e-3);
    CHECK(series.utilisation(1, 500'000'000, 1'500'000'000) == Approx(0.5).epsilon(0.02));
    CHECK(series.utilisation(0, 0, 400'000'000) < 1e-3);
    CHECK(series.utilisation(0, 1'000'010'000, 1'000'020'000) == Approx(0.5).epsilon(1e-3));
  }
}

TEST_CASE("measurement that starts anew forgets how busy resources were") {
  Drive drive;
  BusySeries series;
  series.set_source([&](BusySink& sink) { drive.tell(sink); });
  drive.now = 900'000'000;
  series.look(drive.now);
  drive.started = 1'000'000'000;
  series.start(drive.started);
  drive.now = 1'600'000'000;
  series.finish(drive.now);
  CHECK(series.ends() == std::vector<Picoseconds>{600'000'000});
  CHECK(series.utilisation(0, 0, 600'000'000) == Approx(1.0 / 6));
}

TEST_CASE("of each load its first command and its last rest are noted, of the first 32") {
  Drive drive;
  BusySeries series;
  int told = 0;
  series.set_source([&](BusySink& sink) {
    ++told;
    drive.tell(sink);
  });
  series.start(0);
  told = 0;
  // Untimed, everything happens at once: whatever a load does, it is noted once.
  for (int i = 0; i < 1000; ++i) {
    series.load_begins(1, drive.now);
    series.load_rests(1, drive.now);
  }
  CHECK(told == 2);
  series.load_begins(32, drive.now);
  series.load_rests(32, drive.now);
  CHECK(told == 2);
  drive.now = 10'000'000'000;
  series.load_rests(1, drive.now);
  drive.now = 20'000'000'000;
  series.finish(drive.now);
  CHECK(series.ends() == std::vector<Picoseconds>{10'000'000'000, 20'000'000'000});
}

}  // namespace tlmssd
