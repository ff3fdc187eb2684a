// Loads that would go on after the last instant that can be counted, 53 days: what is known of it
// before a run, on a drive that takes no time.
#include "testbench/host/load_instants.h"

#include <systemc>

#include <catch2/catch.hpp>

#include "testbench/tests/drive/support.h"

namespace tlmssd::drive_tests {
namespace {

constexpr Picoseconds k_day = 86'400 * 1_s;

/// A read every fifty days.
Load rare_reads(std::uint64_t count) {
  Load load = make_load(
      [count, at = std::uint64_t{0}](Request& request) mutable {
        if (at == count) return false;
        request = {};
        request.bytes = 4096;
        request.time = static_cast<Picoseconds>(at++) * 50 * k_day;
        return true;
      },
      {64_MiB, 4096}, 0);
  load.pacing = Pacing::open_loop;
  return load;
}

/// Two reads, the second `think_time` after the first, within `runtime` after `ramp_time`.
Load two_reads(Picoseconds think_time, Picoseconds ramp_time, Picoseconds runtime) {
  Load load = script({{HostOpcode::read, 0, 4096}, {HostOpcode::read, 0, 4096}}, {64_MiB, 4096});
  load.think_time = think_time;
  load.ramp_time = ramp_time;
  load.runtime = runtime;
  return load;
}

bool too_long(std::vector<Load> loads) {
  try {
    look_ahead(loads);
  } catch (const LoadTooLong&) {
    return true;
  }
  return false;
}

}  // namespace

TEST_CASE("a sum of instants that is none is never") {
  CHECK(later(1_s, 2_s) == 3_s);
  CHECK(later(k_never - 1, 1) == k_never);
  CHECK(later(k_never - 1, 2) == k_never);
  CHECK(later(k_never, k_never) == k_never);
}

TEST_CASE("a request that a runtime leaves out is not too late") {
  CHECK(too_long(one(two_reads(54 * k_day, 0, k_never))));
  CHECK(too_long(one(two_reads(54 * k_day, 0, 54 * k_day + 1))));
  CHECK_FALSE(too_long(one(two_reads(54 * k_day, 0, 54 * k_day))));
}

TEST_CASE("a runtime counts from the end of a ramp time") {
  CHECK(too_long(one(two_reads(54 * k_day, 50 * k_day, 50 * k_day))));
  CHECK_FALSE(too_long(one(two_reads(54 * k_day, 50 * k_day, 4 * k_day))));
}

TEST_CASE("what makes a load shorter is said of options that it has") {
  const auto said = [](const Load& load, Picoseconds when) -> std::string {
    try {
      check_instant(load, when);
    } catch (const LoadTooLong& error) {
      return error.what();
    }
    return {};
  };
  const std::string began =
      "'made' would go on after 53 days of simulated time, the most there can be; give it ";
  Load load = two_reads(0, 0, k_never);
  CHECK(said(two_reads(0, 0, k_never), k_last_request).empty());
  CHECK(said(two_reads(0, 0, k_never), k_last_request + 1) ==
        began + "less startdelay, ramp_time or thinktime, more rate_iops, or fewer requests");
  load.kind = "trace";
  CHECK_THAT(said(load, k_last_request + 1),
             Catch::StartsWith(began + "less ") && Catch::Contains("time_scale") &&
                 Catch::EndsWith(", or fewer requests") && !Catch::Contains("thinktime") &&
                 !Catch::Contains("rate_iops"));
}

TEST_CASE("a load whose commands have taken all of the time is not told to pause less") {
  const Load load = two_reads(0, 0, k_never);
  CHECK_NOTHROW(check_clock(load, k_last_request));
  CHECK_THROWS_WITH(check_clock(load, k_last_request + 1),
                    Catch::Contains("53 days") && Catch::Contains("its commands have taken so long") &&
                        !Catch::Contains("give it"));
}

TEST_CASE("times after a warm-up count from its end") {
  CHECK_FALSE(too_long(one(rare_reads(2))));
  CHECK(too_long(one(rare_reads(3))));
  Load warm = rare_reads(3);
  warm.warm_up = 1;
  CHECK_FALSE(too_long(one(std::move(warm))));
}

TEST_CASE("a phase begins when the longest load before it has ended") {
  const auto last_starts = [](Picoseconds start) {
    std::vector<Load> loads;
    loads.push_back(rare_reads(2));
    loads.push_back(rare_reads(1));
    loads.push_back(rare_reads(1));
    loads.back().phase = 1;
    loads.back().start = start;
    return loads;
  };
  CHECK_FALSE(too_long(last_starts(3 * k_day)));
  CHECK(too_long(last_starts(4 * k_day)));
}

}  // namespace tlmssd::drive_tests
