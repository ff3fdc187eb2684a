// The log-structured host layer in front of real drives: everything a host can ask for while
// both clean up, protocol checkers on every socket, and the same end whatever the quantum.
#include <systemc>

#include <catch2/catch.hpp>

#include "testbench/tests/drive/mixed_load.h"

namespace tlmssd::log_structured_tests {
namespace {

using namespace literals;
using drive_tests::in_child;
using drive_tests::make_loads;
using drive_tests::mixed_load;
using drive_tests::one;
using drive_tests::read_all;

SsdConfig drive(const std::string& link, Bytes lba) {
  SsdConfig config;
  config.check_protocol = true;
  config.host.link = link;
  config.host.protocol = link.starts_with("sata") ? "sata" : "nvme";
  config.host.lba_size = lba;
  config.host.queues = 3;
  config.host.queue_depth = 8;
  config.host.max_transfer = 128_KiB;
  config.dram.capacity = 16_MiB;
  config.flash.channels = 2;
  config.flash.ways = 2;
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

SimulationConfig log_structured(Bytes segment, double spare) {
  SimulationConfig simulation;
  simulation.log_structured.emplace();
  simulation.log_structured->segment = segment;
  simulation.log_structured->spare = spare;
  simulation.log_structured->cost = 2_us;
  return simulation;
}

struct StressOutcome {
  LogStructuredLayer::Statistics statistics;
  Picoseconds end = 0;
  std::uint64_t victims = 0;
  std::uint64_t units = 0;
};

/// Throws when something is wrong.
StressOutcome stress(const SsdConfig& config, const SimulationConfig& simulation_config,
                     std::uint32_t loads_count) {
  Simulation simulation(config, simulation_config);
  drive_tests::run_untimed(simulation, {.rw = "write", .bs = 64_KiB});
  drive_tests::run_untimed(simulation, {.rw = "randwrite", .amount = 16_MiB}, 2);
  std::vector<Load> loads;
  for (std::uint32_t i = 0; i < loads_count; ++i) {
    loads.push_back(mixed_load({.requests = 5000, .depth = 12, .reads = 30, .hot_blocks = 1'000'000},
                               simulation.drive_size(), 10 + i));
  }
  Measurement measurement(std::vector<std::string>(loads_count, "mixed"));
  simulation.run(loads, measurement);
  StressOutcome outcome{simulation.log_structured()->statistics(), simulation.ssd().event_queue().now(),
                        simulation.ssd().ftl().statistics().gc_victims,
                        simulation.ssd().ftl().statistics().host_units_written};
  Measurement reading({"read"});
  std::vector<Load> all = one(read_all(simulation.drive_size(), 4));
  simulation.run(all, reading);
  simulation.drain();
  simulation.finish_checks();
  if (simulation.driver().failed() > 0) throw std::runtime_error(simulation.driver().take_first_failure());
  if (outcome.statistics.segments_cleaned < 20) throw std::runtime_error("hardly any cleaning");
  return outcome;
}

}  // namespace

TEST_CASE("log-structured host layer in front of an NVMe drive, 4 KiB blocks") {
  CHECK_NOTHROW(stress(drive("pcie3x4", 4096), log_structured(128_KiB, 0.1), 3));
}
TEST_CASE("log-structured host layer in front of an NVMe drive, 512 B blocks") {
  CHECK_NOTHROW(stress(drive("pcie4x4", 512), log_structured(256_KiB, 0.15), 4));
}
TEST_CASE("log-structured host layer in front of a SATA drive") {
  CHECK_NOTHROW(stress(drive("sata6", 512), log_structured(128_KiB, 0.1), 3));
}
TEST_CASE("log-structured host layer in front of a drive whose units are larger than its grains") {
  SsdConfig config = drive("pcie3x4", 512);
  config.firmware.mapping.unit = 8192;
  CHECK_NOTHROW(stress(config, log_structured(128_KiB, 0.1), 3));
}
TEST_CASE(
    "log-structured host layer in front of a drive with interrupt coalescing and a small limit of commands "
    "under way") {
  SsdConfig config = drive("pcie3x2", 4096);
  config.host.coalesce_count = 4;
  config.host.coalesce_time = 50_us;
  config.host.outstanding_limit = 5;
  config.firmware.buffer.mode = "write-through";
  CHECK_NOTHROW(stress(config, log_structured(128_KiB, 0.1), 3));
}

TEST_CASE("neither checkers nor the quantum change what a log-structured host layer does", "[figure]") {
  const auto outcome = [](bool checked, Picoseconds quantum) {
    return in_child<StressOutcome>([=] {
      SsdConfig config = drive("pcie3x4", 512);
      config.check_protocol = checked;
      SimulationConfig simulation = log_structured(128_KiB, 0.1);
      simulation.quantum = quantum;
      return stress(config, simulation, 3);
    });
  };
  const StressOutcome checked = outcome(true, 0);
  for (const Picoseconds quantum : {Picoseconds{0}, Picoseconds{1'000'000'000}}) {
    const StressOutcome plain = outcome(false, quantum);
    CHECK(std::memcmp(&plain, &checked, sizeof plain) == 0);
  }
}

// Random writes of one page over a quarter of a drive that is full: page mapping with little spare
// flash has to move what lies around them, a log-structured host layer turns them into what the
// drive likes best.
TEST_CASE("random writes behind a log-structured host layer are as fast as sequential ones") {
  const auto seconds = [](bool converted, const std::string& rw) {
    return in_child<double>([&] {
      SsdConfig config = drive("pcie3x4", 4096);
      config.check_protocol = false;
      config.part.blocks_per_plane = 64;
      config.capacity.over_provisioning = 0.12;
      config.firmware.gc.background_start = 0;
      Simulation simulation(config, converted ? log_structured(1_MiB, 0.1) : SimulationConfig{});
      const Bytes all = simulation.drive_size().bytes;
      drive_tests::run_untimed(simulation, {.rw = "write", .bs = 64_KiB});
      if (!converted) drive_tests::run_untimed(simulation, {.rw = "randwrite", .amount = 2 * all}, 2);
      if (converted) drive_tests::run_untimed(simulation, {.rw = "write", .bs = 64_KiB}, 2);
      std::vector<Load> trim =
          one(drive_tests::script({{HostOpcode::trim, all / 4, all / 2}}, simulation.drive_size()));
      if (converted) simulation.run_untimed(trim);
      std::vector<Load> loads =
          make_loads({.rw = rw, .bs = 4096, .depth = 8, .size = all / 4 / 4096 * 4096, .amount = 8_MiB},
                     simulation.drive_size(), 5);
      Measurement measurement({"load"});
      simulation.run(loads, measurement);
      return static_cast<double>(measurement.span()) * 1e-12;
    });
  };
  const double sequential = seconds(true, "write");
  const double random = seconds(true, "randwrite");
  CHECK(random == Approx(sequential).epsilon(0.15));
  CHECK(seconds(false, "randwrite") > 1.5 * random);
}

}  // namespace tlmssd::log_structured_tests
