// Resident memory of a preconditioned drive: at most 16 bytes per touched mapping page and 64 MiB,
// whatever the capacity.
#include <systemc>

#include <catch2/catch.hpp>
#include <sys/resource.h>

#include "platform/memory_estimate.h"
#include "testbench/tests/drive/support.h"

namespace tlmssd::drive_tests {
namespace {

Bytes peak_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<Bytes>(usage.ru_maxrss) * 1024;
}

SsdConfig sized_drive(Bytes user, Bytes lba) {
  SsdConfig config;
  config.host.lba_size = lba;
  config.dram.capacity = 16_GiB;
  config.flash.channels = 8;
  config.flash.ways = 4;
  config.part.planes = 2;
  config.part.page_size = 16384;
  config.part.pages_per_block = 256;
  config.capacity.user_capacity = user;
  config.capacity.over_provisioning = 0.25;
  config.firmware.mapping.unit = 4096;
  config.firmware.allocation.multi_plane = true;
  return config;
}

void stays_small(Bytes lba) {
  const Bytes before = peak_memory();
  Simulation simulation(sized_drive(4_GiB, lba));
  const Bytes size = simulation.drive_size().bytes;
  run_untimed(simulation, {.rw = "write", .bs = 128_KiB});
  run_untimed(simulation, {.rw = "randwrite", .amount = size});
  std::vector<Load> loads =
      make_loads({.rw = "randrw", .depth = 32, .amount = 64_MiB}, simulation.drive_size());
  Measurement measurement({"load"});
  simulation.run(loads, measurement);
  const std::uint64_t units = size / 4096;
  const Bytes grown = peak_memory() - before;
  INFO("grown by " << (grown >> 20U) << " MiB for " << units << " units: "
                   << static_cast<double>(grown - std::min<Bytes>(grown, 64_MiB)) / static_cast<double>(units)
                   << " B per unit beyond 64 MiB");
  CHECK(grown <= 16 * units + 64_MiB);
}

}  // namespace

TEST_CASE("memory of a filled and overwritten drive: 4 KiB blocks", "[drive][slow]") {
  stays_small(4096);
}
TEST_CASE("memory of a filled and overwritten drive: 512 B blocks", "[drive][slow]") {
  stays_small(512);
}

TEST_CASE("memory of a full drive of 1 TiB, and its reads", "[drive]") {
  const Bytes before = peak_memory();
  Simulation simulation(sized_drive(1_TiB, 4096));
  run_untimed(simulation, {.rw = "write", .bs = 128_KiB});
  std::vector<Load> loads =
      make_loads({.rw = "randread", .depth = 32, .amount = 64_MiB}, simulation.drive_size());
  Measurement measurement({"load"});
  simulation.run(loads, measurement);
  const Bytes grown = peak_memory() - before;
  INFO("grown by " << (grown >> 20U) << " MiB");
  CHECK(grown <= 200'000'000);
  CHECK(simulation.ssd().ftl().statistics().unmapped_reads == 0);
  CHECK(simulation.scoreboard().checked_blocks() == 64_MiB / 4096);
}

TEST_CASE("memory of a large drive that is hardly touched", "[drive]") {
  const Bytes before = peak_memory();
  Simulation simulation(sized_drive(4_TiB, 4096));
  CHECK(simulation.drive_size().bytes >= 4_TiB);
  run_untimed(simulation, {.rw = "write", .bs = 128_KiB, .size = 64_MiB});
  std::vector<Load> loads =
      make_loads({.rw = "randrw", .depth = 32, .size = 64_MiB, .amount = 64_MiB}, simulation.drive_size());
  Measurement measurement({"load"});
  simulation.run(loads, measurement);
  const Bytes grown = peak_memory() - before;
  INFO("grown by " << (grown >> 20U) << " MiB");
  CHECK(grown <= 64_MiB + 16 * (64_MiB / 4096));
}

#ifndef __SANITIZE_ADDRESS__  // which takes memory of its own
TEST_CASE("the estimate of memory is what a drive in steady state takes", "[drive]") {
  SsdConfig config = sized_drive(16_GiB, 4096);
  for (const double spare : {0.07, 1.0}) {
    config.capacity.over_provisioning = spare;
    struct Grown {
      double measured;
      double estimated;
    };
    const Grown grown = in_child<Grown>([&]() -> Grown {
      Simulation simulation(config);
      const Bytes before = peak_memory();
      std::string why_not;
      if (!simulation.make_steady(1, why_not)) return {};
      const auto units = static_cast<double>(simulation.drive_size().bytes / 4096);
      return {static_cast<double>(peak_memory() - before),
              static_cast<double>(memory_of_units(units, units * (1 + spare)))};
    });
    INFO(spare << " of spare flash");
    CHECK(grown.measured > grown.estimated);
    CHECK(grown.measured < 1.05 * grown.estimated + 8e6);
  }
}
#endif

TEST_CASE("a sequential fill is known before it is written, on a new drive and by pages alone", "[drive]") {
  Simulation simulation(sized_drive(1_TiB, 4096));
  const auto known = [&](const Words& words) {
    return simulation.knows_fill(make_loads(words, simulation.drive_size()).front());
  };
  const Words in_order = {.rw = "write", .bs = 128_KiB};
  CHECK(known(in_order));
  CHECK_FALSE(known({.rw = "randwrite", .bs = 128_KiB}));
  run_untimed(simulation, {.rw = "write", .bs = 128_KiB, .size = 1_MiB});
  CHECK_FALSE(known(in_order));
}

}  // namespace tlmssd::drive_tests
