// The TLM-2.0 base protocol on every socket of the drive, under mixed random load with garbage
// collection at work.
#include <systemc>

#include <catch2/catch.hpp>

#include "testbench/tests/drive/mixed_load.h"

namespace tlmssd::drive_tests {
namespace {

SsdConfig checked_drive(const std::string& link, Bytes lba) {
  SsdConfig config;
  config.check_protocol = true;
  config.host.link = link;
  config.host.protocol = link.starts_with("sata") ? "sata" : "nvme";
  config.host.lba_size = lba;
  config.host.queues = 3;
  config.host.queue_depth = 8;  // shallow: full queues hold END_REQ back
  config.host.outstanding_limit = 20;
  config.host.max_transfer = 128_KiB;
  config.dram.capacity = 16_MiB;
  config.flash.channels = 2;
  config.flash.ways = 2;
  config.flash.cache_operations = true;
  config.flash.suspend = "both";
  config.part.planes = 2;
  config.part.page_size = 8192;
  config.part.pages_per_block = 16;
  config.part.blocks_per_plane = 16;
  config.part.read_latency = {static_cast<std::int64_t>(30_us)};
  config.part.program_latency = {static_cast<std::int64_t>(300_us)};
  config.part.erase_latency = 2_ms;
  config.capacity.over_provisioning = 0.5;
  config.firmware.buffer.capacity = 256_KiB;
  return config;
}

void keeps_the_rules(const SsdConfig& config, std::uint32_t loads_count) {
  Simulation simulation(config);
  run_untimed(simulation, {.rw = "write", .bs = 64_KiB});
  std::vector<Load> loads;
  for (std::uint32_t i = 0; i < loads_count; ++i) {
    loads.push_back(mixed_load({.requests = 6000, .depth = 12, .reads = 30, .hot_blocks = 1'000'000},
                               simulation.drive_size(), 10 + i));
  }
  Measurement measurement(std::vector<std::string>(loads_count, "mixed"));
  simulation.run(loads, measurement);
  simulation.drain();
  CHECK_NOTHROW(simulation.ssd().finish_checks());
  CHECK(measurement.completed() >= 6000U * loads_count);
  CHECK(simulation.driver().failed() == 0);
  CHECK(simulation.ssd().ftl().statistics().gc_victims > 20);
  const std::vector<std::string> silent = simulation.ssd().silent_sockets();
  CHECK(silent == std::vector<std::string>{});
}

}  // namespace

TEST_CASE("base protocol on every socket: NVMe, 4 KiB blocks", "[drive]") {
  keeps_the_rules(checked_drive("pcie3x4", 4096), 3);
}
TEST_CASE("base protocol on every socket: NVMe, 512 B blocks", "[drive]") {
  keeps_the_rules(checked_drive("pcie4x4", 512), 4);  // two loads share a queue
}
TEST_CASE("base protocol on every socket: SATA, 4 KiB blocks", "[drive]") {
  keeps_the_rules(checked_drive("sata6", 4096), 1);
}
TEST_CASE("base protocol on every socket: SATA, 512 B blocks", "[drive]") {
  keeps_the_rules(checked_drive("sata3", 512), 3);
}
TEST_CASE("base protocol with interrupt coalescing, weighted queues and write-through", "[drive]") {
  SsdConfig config = checked_drive("pcie3x2", 4096);
  config.host.coalesce_count = 4;
  config.host.coalesce_time = 50_us;
  config.host.arbitration = "weighted";
  config.host.weights = {1, 2, 5};
  config.firmware.buffer.mode = "write-through";
  config.firmware.allocation.multi_plane = true;
  keeps_the_rules(config, 3);
}

}  // namespace tlmssd::drive_tests
