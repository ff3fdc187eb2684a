// Ramps: what comes before is run but not measured, to the request and to the picosecond.
#include <systemc>

#include <catch2/catch.hpp>
#include <memory>

#include "testbench/tests/drive/support.h"

namespace tlmssd::drive_tests {
namespace {

struct Part {
  std::uint64_t requests;
  std::uint64_t ramp_requests = 0;
  std::uint32_t depth = 1;
  Picoseconds ramp_time = 0;
  std::uint32_t phase = 0;
};

/// What a run of loads has measured.
struct Measured {
  std::vector<std::uint64_t> commands;  ///< of each load
  std::uint64_t hooked = 0;             ///< completions that a command log would have seen
  std::uint64_t before = 0;             ///< commands that had completed when measurement began
  std::uint32_t begun = 0;              ///< how often it began
  Picoseconds begin = 0;                ///< after the start of the run
  Picoseconds span = 0;
  Picoseconds run = 0;  ///< from start to end
};

Measured run_parts(Simulation& simulation, const std::vector<Part>& parts) {
  std::vector<Load> loads;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    loads.push_back(std::move(make_loads({.rw = i % 2 == 0 ? "randread" : "randwrite",
                                          .depth = parts[i].depth,
                                          .amount = parts[i].requests * 4096},
                                         simulation.drive_size(), i + 1)
                                  .front()));
    loads.back().ramp_requests = parts[i].ramp_requests;
    loads.back().ramp_time = parts[i].ramp_time;
    loads.back().phase = parts[i].phase;
  }
  Measured result;
  HostDriver& driver = simulation.driver();
  const Picoseconds start = simulation.ssd().event_queue().now();
  const std::uint64_t before = driver.completed();
  driver.set_measurement_hook([&] {
    ++result.begun;
    result.before = driver.completed() - before;
    result.begin = simulation.ssd().event_queue().now() - start;
  });
  Picoseconds last = start;
  driver.set_completion_hook([&](const Completed& command) {
    if (driver.measuring()) ++result.hooked;
    last = command.completed;
  });
  Measurement measurement(std::vector<std::string>(parts.size(), "load"));
  measurement.reset(start);
  simulation.run(loads, measurement);
  driver.set_measurement_hook(nullptr);
  driver.set_completion_hook(nullptr);
  for (std::size_t i = 0; i < parts.size(); ++i)
    result.commands.push_back(measurement.load(static_cast<std::uint16_t>(i)).count());
  result.span = measurement.span();
  result.run = last - start;
  return result;
}

}  // namespace

TEST_CASE("exactly the requests after the ramp are measured", "[drive]") {
  Simulation simulation(small_drive());
  for (const std::uint32_t depth : {1U, 7U, 32U}) {
    INFO("depth " << depth);
    const Measured with = run_parts(simulation, {{300, 100, depth}});
    CHECK(with.commands[0] == 200);
    CHECK(with.hooked == 200);
    CHECK(with.begun == 1);
    CHECK(with.before == 100);
    CHECK(with.begin + with.span == with.run);
    const Measured without = run_parts(simulation, {{300, 0, depth}});
    CHECK(without.commands[0] == 300);
    CHECK(without.begun == 0);
    CHECK(without.span == without.run);
  }
}

TEST_CASE("with several loads measurement begins when the last ramp is over", "[drive]") {
  Simulation simulation(small_drive());
  const Measured two = run_parts(simulation, {{600, 400, 4}, {2000, 40, 8}});
  CHECK(two.begun == 1);
  CHECK(two.commands[0] == 200);  // the last to be through
  CHECK(two.commands[1] < 1960);
  CHECK(two.commands[0] + two.commands[1] == 2600 - two.before);
  CHECK(two.hooked == 2600 - two.before);
  const Measured one_ramps = run_parts(simulation, {{500, 0, 2}, {500, 100, 2}});
  CHECK(one_ramps.commands[1] == 400);
  CHECK(one_ramps.commands[0] == 1000 - one_ramps.before - 400);
}

TEST_CASE("a ramp in requests and one in time: the later one counts", "[drive]") {
  Simulation simulation(small_drive());
  const Measured requests = run_parts(simulation, {{400, 300, 2, 1_us}});
  CHECK(requests.commands[0] == 100);
  CHECK(requests.begun == 1);
  CHECK(requests.begin > 1_us);
  const Picoseconds half = requests.run / 2;
  const Measured time = run_parts(simulation, {{400, 5, 2, half}});
  CHECK(time.begun == 1);
  CHECK(time.begin == half);
  CHECK(time.before > 5);
  CHECK(time.commands[0] == 400 - time.before);
}

TEST_CASE("a load that ends before its ramp does not hold up the others", "[drive]") {
  Simulation simulation(small_drive());
  const Measured two = run_parts(simulation, {{50, 100, 1}, {3000, 20, 2}});
  CHECK(two.begun == 1);
  CHECK(two.commands[0] == 0);
  CHECK(two.commands[1] == 3050 - two.before);
  CHECK(two.commands[1] > 0);
  // Just as long as its ramp, and shorter, alone: nothing is left.
  for (const std::uint64_t requests : {100U, 60U}) {
    const Measured alone = run_parts(simulation, {{requests, 100, 4}});
    CHECK(alone.commands[0] == 0);
    CHECK(alone.hooked == 0);
    CHECK(alone.span == 0);
  }
}

TEST_CASE("a ramp time beyond the end of the run leaves nothing, and the next run alone", "[drive]") {
  Simulation simulation(small_drive());
  const Measured first = run_parts(simulation, {{100, 0, 1, 10_ms}});
  CHECK(first.begun == 0);
  CHECK(first.commands[0] == 0);
  CHECK(first.span == 0);
  // The first run's ramp ends in the midst of this one.
  const Measured second = run_parts(simulation, {{5000, 4000, 1}});
  CHECK(second.run > 10_ms);
  CHECK(second.commands[0] == 1000);
  CHECK(second.begun == 1);
  CHECK(second.before == 4000);
}

TEST_CASE("a ramp time counts from the phase of its load", "[drive]") {
  Simulation simulation(small_drive());
  const Measured first = run_parts(simulation, {{400, 0, 2}});
  const Measured both = run_parts(simulation, {{400, 0, 2, 1_us}, {400, 0, 2, 50_us, 1}});
  CHECK(both.begun == 1);
  CHECK(both.commands[0] == 0);
  CHECK(both.commands[1] == 800 - both.before);
  CHECK(both.before > 400);
  CHECK(both.begin > 9 * first.run / 10 + 50_us);
  // The first phase's ramp lasts into the second.
  const Measured longer = run_parts(simulation, {{40, 0, 2, 2 * first.run}, {4000, 0, 2, 1_us, 1}});
  CHECK(longer.begun == 1);
  CHECK(longer.begin == 2 * first.run);
}

}  // namespace tlmssd::drive_tests
