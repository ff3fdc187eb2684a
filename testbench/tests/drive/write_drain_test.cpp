// Scheduling write-drain on a whole drive: firmware tells which programs begin while writes wait
// for room in the write buffer, and only then are programs not suspended for reads.
#include <systemc>

#include <catch2/catch.hpp>

#include "testbench/tests/drive/support.h"

namespace tlmssd::drive_tests {
namespace {

/// Suspends while 16 MiB of random writes go beside reads, one at a time.
std::uint64_t suspends(const char* scheduling, Bytes buffer) {
  SsdConfig config;
  config.dram.capacity = 64_MiB;
  config.flash.channels = 2;
  config.flash.ways = 1;
  config.flash.suspend = "program";
  config.scheduling = scheduling;
  config.part.planes = 2;
  config.part.blocks_per_plane = 96;
  config.part.pages_per_block = 64;
  config.part.page_size = 8192;
  config.firmware.buffer.capacity = buffer;
  Simulation simulation(config);
  run_untimed(simulation, {.rw = "write", .bs = 131072});
  const auto loads_of = [&](const char* rw, std::uint32_t outstanding, Bytes amount) {
    return make_loads({.rw = rw, .depth = outstanding, .amount = amount}, simulation.drive_size());
  };
  std::vector<Load> loads = loads_of("randwrite", 512, 16_MiB);
  for (Load& load : loads_of("randread", 1, 2_MiB)) loads.push_back(std::move(load));
  Measurement measurement({"writes", "reads"});
  simulation.run(loads, measurement);
  std::uint64_t sum = 0;
  for (std::uint32_t c = 0; c < config.flash.channels; ++c)
    sum += simulation.ssd().flash().channel(ChannelId{c}).counts().suspends;
  return sum;
}

}  // namespace

// The buffer holds all of them.
TEST_CASE("write-drain suspends as long as writes find room", "[drive]") {
  CHECK(suspends("write-drain", 24_MiB) > 300);
}

// 512 at a time are twice what the buffer holds: all programs begin while writes wait, but for
// those while it fills, each of which may be suspended several times.
TEST_CASE("write-drain suspends next to nothing while writes wait for room", "[drive]") {
  CHECK(suspends("write-drain", 1_MiB) < 100);
}

TEST_CASE("read-first goes on suspending while writes wait for room", "[drive]") {
  CHECK(suspends("read-first", 1_MiB) > 300);
}

}  // namespace tlmssd::drive_tests
