// The bound on untimed work of a whole drive: how far below it commands stay, and that firmware
// which goes in circles meets it.
#include <systemc>

#include <catch2/catch.hpp>

#include "firmware/features/partition/partition.h"
#include "models/base/input_error.h"
#include "models/base/stalled.h"
#include "testbench/tests/drive/support.h"
#include "testbench/tests/support/given.h"

namespace tlmssd::drive_tests {
namespace {

/// Collection that is never content with what is free, and a pSLC past which writes go when it is
/// full.
SsdConfig greedy_for_room() {
  SsdConfig config;
  config.flash.channels = 1;
  config.flash.ways = 3;
  config.part.pages_per_block = 16;
  config.part.blocks_per_plane = 23;
  config.part.slc_read_latency = 5_us;
  config.part.slc_program_latency = 197_us;
  config.part.slc_erase_latency = 2_ms;
  config.capacity.over_provisioning = 4;
  config.firmware.gc.policy = "windowed-greedy";
  config.firmware.gc.background_stop = 0.9;
  config.firmware.pslc.policy = "lru-count";
  config.firmware.pslc.when_full = "bypass";
  config.firmware.pslc.dynamic_share = 0.1;
  config.firmware.pslc.gone_at = 2;
  choose(config.firmware, firmware::Partition::k_path, "read-write", {{"placement_from", Value(0.0)}});
  return config;
}

std::uint64_t units(Simulation& simulation) {
  const firmware::DriveShape& shape = simulation.ssd().shape();
  return shape.geometry.bytes() / shape.mapping_page_bytes;
}

}  // namespace

// Native blocks without a invalid unit were collected for ever beside a block in SLC mode that
// could have been folded.
TEST_CASE("collection does not move full blocks to no gain") {
  Simulation simulation(greedy_for_room());
  const Bytes all = simulation.drive_size().bytes;
  run_untimed(simulation, {.rw = "randwrite", .bs = 4096, .size = all, .amount = 2 * all});
  const firmware::FtlStatistics& s = simulation.ssd().ftl().statistics();
  CHECK(s.gc_victims > 0);
  CHECK(s.erases < 40 * simulation.ssd().shape().geometry.blocks);
  CHECK(simulation.ssd().cpu().most_untimed() < 4 * units(simulation));
}

TEST_CASE("no command of a full drive comes near the bound on untimed work") {
  SsdConfig config = greedy_for_room();
  config.firmware.features.clear();
  config.firmware.wear.policy = "static";
  Simulation simulation(config);
  const Bytes all = simulation.drive_size().bytes;
  run_untimed(simulation, {.rw = "write", .bs = 65536, .size = all});
  run_untimed(simulation, {.rw = "randwrite", .bs = 4096, .size = all, .amount = 2 * all});
  simulation.idle();
  run_untimed(simulation, {.rw = "trim", .bs = all, .size = all});
  ControllerCpu& cpu = simulation.ssd().cpu();
  CHECK(cpu.most_untimed() > 0);
  CHECK(cpu.most_untimed() < 4 * units(simulation));
  CHECK(cpu.untimed_limit() > 100 * units(simulation));
}

TEST_CASE("a warm-up of requests that become several commands each is counted in requests") {
  SsdConfig config = small_drive();
  config.host.max_transfer = 4096;
  Simulation simulation(config);
  Load load = script(std::vector<Step>(10, {HostOpcode::read, 0, 8192}), simulation.drive_size());
  load.warm_up = 15;
  CHECK_THROWS_WITH(simulation.warm_up(load), "warm_up: 15 leaves none of the load's 10 requests to measure");
}

TEST_CASE("firmware of a whole drive that goes in circles is stopped, soon") {
  Simulation simulation(greedy_for_room());
  Ssd& ssd = simulation.ssd();
  ssd.set_timed(false);
  ssd.cpu().begin_untimed();
  std::uint64_t steps = 1;
  CHECK_THROWS_AS(
      [&] {
        for (;; ++steps) static_cast<void>(ssd.cpu().run(Stage::gc));
      }(),
      Stalled);
  CHECK(steps == ssd.cpu().untimed_limit());
  CHECK(steps < 1'000'000 + 200 * units(simulation));
}

}  // namespace tlmssd::drive_tests
