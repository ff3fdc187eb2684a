// Utilisations of short runs: shares of the time measured, whatever the drive has booked beyond it.
#include <systemc>

#include <algorithm>
#include <catch2/catch.hpp>

#include "testbench/report/json_sink.h"
#include "testbench/report/statistics_view.h"
#include "testbench/tests/drive/support.h"

namespace tlmssd::drive_tests {
namespace {

/// A drive whose memories, bus, link or cores are slow, so that they are what is booked ahead.
SsdConfig slow_drive(RandomStream& random) {
  SsdConfig config;
  config.part.blocks_per_plane = 64;
  config.part.pages_per_block = 64;
  config.host.lba_size = 512;
  config.host.link = pick(random, {"sata1.5", "pcie1x1", "pcie3x4"});
  config.host.protocol = config.host.link.starts_with("sata") ? "sata" : "nvme";
  config.dram.bandwidth = pick<BytesPerSecond>(random, {100_MBps, 800_MBps, 25'600_MBps});
  config.bus.width = pick<std::uint32_t>(random, {8, 128});
  config.bus.clock = pick<Hertz>(random, {100_MHz, 800_MHz});
  config.cpu.clock = pick<Hertz>(random, {20_MHz, 500_MHz});
  config.firmware.buffer.mode = pick<const char*>(random, {"write-back", "write-through"});
  config.firmware.gc.background_start = 0;
  return config;
}

Words short_load(RandomStream& random) {
  Words words;
  words.rw = pick<const char*>(random, {"randwrite", "randwrite", "randrw", "randread", "randtrim"});
  words.bs = pick<Bytes>(random, {4_KiB, 64_KiB, 256_KiB});
  words.depth = pick<std::uint32_t>(random, {1, 8, 32});
  words.amount = words.bs * pick<Bytes>(random, {1, 8, 100});
  return words;
}

void check_shares(Simulation& simulation) {
  JsonSink sink;
  simulation.report(sink);
  for (const Utilisation& use : utilisations(sink.take())) {
    INFO(use.label);
    for (const double share : use.shares) {
      CHECK(share >= 0);
      CHECK(share <= 1);
    }
  }
}

}  // namespace

TEMPLATE_TEST_CASE_SIG("utilisations of short runs lie within 0 and 1", "[drive]", ((int Number), Number), 0,
                       1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15) {
  RandomStream random(Number, "utilisations");
  Simulation simulation(slow_drive(random));
  run_untimed(simulation, {.rw = "write", .bs = 256_KiB, .size = 16_MiB});
  // The later runs begin while what the earlier ones have booked is under way.
  for (int run = 0; run < 4; ++run) {
    std::vector<Load> loads = make_loads(short_load(random), simulation.drive_size(), Number);
    Measurement measurement({"load"});
    simulation.run(loads, measurement);
    check_shares(simulation);
  }
}

}  // namespace tlmssd::drive_tests
