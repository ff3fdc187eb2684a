// end_fsync, as in fio: when all that a load asked for has completed, a flush, unless it has
// written nothing since its last.
#include <systemc>

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "firmware/cache/cache.h"
#include "testbench/tests/drive/support.h"

namespace tlmssd::drive_tests {
namespace {

struct Done {
  std::uint32_t load;
  HostOpcode opcode;
  Picoseconds submitted;
  Picoseconds completed;
};

/// In the order of completion.
std::vector<Done> run_loads(Simulation& simulation, std::vector<Load>& loads) {
  std::vector<Done> seen;
  simulation.driver().set_completion_hook([&](const Completed& command) {
    seen.push_back({command.load, command.opcode, command.submitted, command.completed});
  });
  Measurement measurement(std::vector<std::string>(loads.size(), "load"));
  measurement.reset(simulation.ssd().event_queue().now());
  simulation.run(loads, measurement);
  simulation.driver().set_completion_hook(nullptr);
  return seen;
}

std::vector<Load> flushing(const Simulation& simulation, const char* rw, std::uint64_t fsync = 0) {
  LoadConfig config;
  config.generator.rw = rw;
  config.generator.iodepth = 16;
  config.generator.number_ios = 300;
  config.generator.fsync = fsync;
  config.generator.end_fsync = true;
  return tlmssd::make_loads(config, simulation.drive_size(), 1);
}

std::size_t flushes(const std::vector<Done>& seen) {
  return static_cast<std::size_t>(std::count_if(
      seen.begin(), seen.end(), [](const Done& one) { return one.opcode == HostOpcode::flush; }));
}

/// Of this load, its only flush begins when everything else of it has completed.
void check_flush(std::vector<Done> seen, std::uint32_t load) {
  std::erase_if(seen, [load](const Done& one) { return one.load != load; });
  REQUIRE(seen.size() >= 2);
  CHECK(flushes(seen) == 1);
  const Done& last = seen.back();
  CHECK(last.opcode == HostOpcode::flush);
  CHECK(last.submitted >= seen[seen.size() - 2].completed);
  CHECK(last.completed > last.submitted);
}

}  // namespace

TEST_CASE("a load with end_fsync ends with a flush, behind all that it wrote", "[drive]") {
  Simulation simulation(small_drive());
  run_untimed(simulation, {.rw = "write"});
  for (const char* rw : {"randwrite", "write", "randrw", "randtrimwrite"}) {
    INFO(rw);
    std::vector<Load> loads = flushing(simulation, rw);
    const std::vector<Done> seen = run_loads(simulation, loads);
    const std::size_t asked = std::string(rw) == "randtrimwrite" ? 600 : 300;
    CHECK(seen.size() == asked + 1);
    check_flush(seen, 0);
    CHECK(simulation.driver().stream_ends().front().issued == asked);
  }
  std::vector<Load> ended = flushing(simulation, "randwrite");
  ended.front().runtime = 100_us;
  const std::vector<Done> before = run_loads(simulation, ended);
  CHECK(before.size() < 301);
  check_flush(before, 0);
  CHECK(simulation.driver().stream_ends().front().by_time);
  std::vector<Load> timed = flushing(simulation, "randwrite");
  timed.front().pacing = Pacing::open_loop;
  check_flush(run_loads(simulation, timed), 0);
}

TEST_CASE("a load with end_fsync sends no flush that nothing was written for", "[drive]") {
  Simulation simulation(small_drive());
  run_untimed(simulation, {.rw = "write"});
  std::vector<Load> reads = flushing(simulation, "randread");
  CHECK(flushes(run_loads(simulation, reads)) == 0);
  std::vector<Load> flushed = flushing(simulation, "randwrite", 100);
  CHECK(flushes(run_loads(simulation, flushed)) == 3);
  CHECK(simulation.driver().stream_ends().front().issued == 300);
  std::vector<Load> rest = flushing(simulation, "randwrite", 120);
  CHECK(flushes(run_loads(simulation, rest)) == 3);
  // Who stops the loads wants nothing more of them.
  std::vector<Load> stopped = flushing(simulation, "randwrite");
  std::uint64_t seen = 0;
  std::uint64_t flushes_seen = 0;
  simulation.driver().set_completion_hook([&](const Completed& command) {
    if (command.opcode == HostOpcode::flush) ++flushes_seen;
    if (++seen == 100) simulation.driver().stop_loads();
  });
  Measurement measurement({"load"});
  simulation.run(stopped, measurement);
  simulation.driver().set_completion_hook(nullptr);
  CHECK(seen < 130);
  CHECK(flushes_seen == 0);
}

TEST_CASE("a flush at a load's end waits for room in a full queue", "[drive]") {
  SsdConfig config = small_drive();
  config.host.queues = 1;
  config.host.queue_depth = 4;
  Simulation simulation(config);
  run_untimed(simulation, {.rw = "write"});
  std::vector<Load> loads = flushing(simulation, "randwrite");
  for (int more = 0; more < 2; ++more) loads.push_back(std::move(flushing(simulation, "randwrite").front()));
  std::vector<Load> reader = make_loads({.depth = 64, .amount = 3000 * Bytes{4096}}, simulation.drive_size());
  loads.push_back(std::move(reader.front()));
  const std::vector<Done> seen = run_loads(simulation, loads);
  CHECK(seen.size() == 3 * 301 + 3000);
  for (std::uint32_t load = 0; load < 3; ++load) check_flush(seen, load);
}

TEST_CASE("a flush at the end of an untimed load empties a write-back cache", "[drive]") {
  const auto dirty_after = [](bool end_fsync) {
    return in_child<std::uint64_t>([end_fsync] {
      SsdConfig config = small_drive();
      config.firmware.cache.policy = "lru";
      config.firmware.cache.medium = "dram";
      config.firmware.cache.capacity = 1_MiB;
      Simulation simulation(config);
      LoadConfig load;
      load.generator.rw = "write";
      load.generator.size = "512k";
      load.generator.end_fsync = end_fsync;
      std::vector<Load> loads = tlmssd::make_loads(load, simulation.drive_size(), 1);
      simulation.run_untimed(loads);
      return simulation.ssd().ftl().cache()->store().dirty_sectors();
    });
  };
  CHECK(dirty_after(false) == 1024);
  CHECK(dirty_after(true) == 0);
}

}  // namespace tlmssd::drive_tests
