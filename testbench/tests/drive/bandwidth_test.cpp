// Saturated bandwidth of one channel through the whole drive: reads and writes of a fast host, many cores and a deep queue reach the
// closed forms of flash_channel.h within 1 %. Restated here: per operation C read command, O data out, W data in, S status, R and P
// array times, B bytes, D dies:
//   read,  plain   B * min(D / (C + R + O), 1 / (C + O))        write, plain   B * min(D / (W + P + S), 1 / (W + S))
//   read,  cached  B * min(D / (C + tRCBSY + R), 1 / (C + O))   write, cached  B * min(D / (tCBSY + P), 1 / (W + S))
#include <systemc>

#include <algorithm>
#include <catch2/catch.hpp>

#include "models/nand/bus_timing.h"
#include "testbench/tests/drive/support.h"

namespace tlmssd::drive_tests {
namespace {

struct Way {
  std::uint32_t dies;
  bool multi_plane;
  bool cached;
};

SsdConfig one_channel_drive(const Way& way) {
  SsdConfig config;
  config.host.lba_size = 4096;
  config.host.link = "pcie6x16";
  config.host.queue_depth = 4096;
  config.cpu.cores = 16;
  config.cpu.clock = 2'000_MHz;
  config.dram.capacity = 256_MiB;
  config.dram.bandwidth = 50'000_MBps;
  config.bus.width = 1024;
  config.flash.channels = 1;
  config.flash.ways = way.dies;
  config.flash.bus = 333'000'000;
  config.flash.cache_operations = way.cached;
  config.part.planes = way.multi_plane ? 2 : 1;
  config.part.page_size = 16384;
  config.part.spare_size = 1872;
  config.part.pages_per_block = 64;
  config.part.blocks_per_plane = 40;
  config.part.read_latency = {static_cast<std::int64_t>(70_us)};
  config.part.program_latency = {static_cast<std::int64_t>(450_us)};
  config.capacity.over_provisioning = 0.6;
  config.firmware.allocation.multi_plane = way.multi_plane;
  config.firmware.buffer.capacity = 4_MiB;
  config.firmware.gc.background_start = 0;
  return config;
}

double expected(const SsdConfig& config, const Way& way, bool read) {
  const BusTiming bus(config.part, config.flash.bus_rate(), config.firmware.mapping.unit);
  const std::uint32_t planes = config.part.planes;
  const Bytes bytes = planes * config.part.page_size;
  const auto slots = static_cast<std::uint32_t>(bytes / config.firmware.mapping.unit);
  Picoseconds on_bus = 0;
  Picoseconds on_die = 0;
  if (read) {
    on_bus = bus.read_command(planes) + bus.data_out(0, slots).total();
    on_die =
        config.part.read_latency[0] + (way.cached ? bus.read_command(planes) + config.part.t_rcbsy : on_bus);
  } else {
    on_bus = bus.data_in(planes).total() + bus.status();
    on_die = config.part.program_latency[0] + (way.cached ? config.part.t_cbsy : on_bus);
  }
  const double per_operation = std::max(static_cast<double>(on_bus), static_cast<double>(on_die) / way.dies);
  return static_cast<double>(bytes) / per_operation * 1e12;
}

/// Bytes per second, after a tenth of the run in which buffer and queues fill.
double measured(const SsdConfig& config, const Way& way, bool read) {
  Simulation simulation(config);
  const Bytes operation = config.part.planes * config.part.page_size;
  const Bytes region = 1200 * operation;
  if (read) run_untimed(simulation, {.rw = "write", .bs = operation, .size = region});
  // Some 400 array operations on each die.
  const double seconds = static_cast<double>(operation) * 400 * way.dies / expected(config, way, read);
  std::vector<Load> loads =
      make_loads({.rw = read ? "read" : "write",
                  .bs = operation,
                  // With the buffer's 256, well below the region: no write meets its successor in
                  // the buffer.
                  .depth = 512,
                  .size = region,
                  .amount = 1000 * region},
                 simulation.drive_size());
  loads.front().ramp_time = static_cast<Picoseconds>(seconds * 1e12 * 0.4);
  loads.front().runtime = static_cast<Picoseconds>(seconds * 1e12);
  Measurement measurement({"load"});
  simulation.run(loads, measurement);
  return static_cast<double>(measurement.load(0).bytes()) / (static_cast<double>(measurement.span()) * 1e-12);
}

void saturates(bool read, bool multi_plane, bool cached) {
  for (const std::uint32_t dies : {1U, 2U, 4U, 8U}) {
    const Way way{dies, multi_plane, cached};
    const SsdConfig config = one_channel_drive(way);
    INFO(dies << " dies");
    CHECK(in_child<double>([&] { return measured(config, way, read); }) ==
          Approx(expected(config, way, read)).epsilon(0.01));
  }
}

}  // namespace

TEST_CASE("saturated reads: single plane", "[drive]") {
  saturates(true, false, false);
}
TEST_CASE("saturated reads: multi-plane", "[drive]") {
  saturates(true, true, false);
}
TEST_CASE("saturated reads: cached", "[drive]") {
  saturates(true, false, true);
}
TEST_CASE("saturated reads: multi-plane, cached", "[drive]") {
  saturates(true, true, true);
}
TEST_CASE("saturated writes: single plane", "[drive]") {
  saturates(false, false, false);
}
TEST_CASE("saturated writes: multi-plane", "[drive]") {
  saturates(false, true, false);
}
TEST_CASE("saturated writes: cached", "[drive]") {
  saturates(false, false, true);
}
TEST_CASE("saturated writes: multi-plane, cached", "[drive]") {
  saturates(false, true, true);
}

}  // namespace tlmssd::drive_tests
