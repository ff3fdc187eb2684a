// Timed and untimed operation do the same work: the same load on the same preconditioned drive ends
// with the same counts of programs, victims and erases. At queue depth 1 with write-through they
// agree exactly.
#include <systemc>

#include <array>
#include <catch2/catch.hpp>

#include "testbench/tests/drive/support.h"

namespace tlmssd::drive_tests {
namespace {

/// The counts that must agree.
struct Counts {
  std::array<std::uint64_t, k_purposes> units{};
  std::array<std::uint64_t, k_purposes> padded{};
  std::array<std::uint64_t, k_purposes> programs{};
  std::uint64_t reads = 0;
  std::uint64_t erases = 0;
  std::uint64_t victims = 0;
  std::uint64_t victim_valid = 0;
  std::uint64_t blocks_written = 0;
  double amplification = 0;
};

Counts counts(const Simulation& simulation) {
  const firmware::Ftl& ftl = const_cast<Simulation&>(simulation).ssd().ftl();
  const firmware::FtlStatistics& s = ftl.statistics();
  return {s.units_programmed,
          s.units_padded,
          s.programs,
          s.reads[static_cast<std::size_t>(Purpose::gc)],
          s.erases,
          s.gc_victims,
          s.gc_victim_valid,
          s.host_blocks_written,
          ftl.write_amplification()};
}

SsdConfig collecting_drive(const std::string& policy, const std::string& mode) {
  SsdConfig config;
  config.host.lba_size = 4096;
  config.cpu.cores = 4;
  config.dram.capacity = 32_MiB;
  config.flash.channels = 2;
  config.flash.ways = 2;
  config.part.planes = 1;
  config.part.page_size = 4096;
  config.part.pages_per_block = 32;
  config.part.blocks_per_plane = 96;
  config.part.read_latency = {static_cast<std::int64_t>(50_us)};
  config.part.program_latency = {static_cast<std::int64_t>(200_us)};
  config.part.erase_latency = 2_ms;
  config.capacity.over_provisioning = 0.25;
  config.firmware.buffer.mode = mode;
  config.firmware.buffer.capacity = 256_KiB;
  config.firmware.gc.policy = policy;
  config.firmware.gc.background_start = 0;  // collection when it must be, not when there is time for it
  return config;
}

Counts counts_of_run(const SsdConfig& config, bool timed, std::uint32_t depth, std::uint32_t rounds) {
  Simulation simulation(config);
  const Bytes all = simulation.drive_size().bytes;
  run_untimed(simulation, {.rw = "write", .bs = 64_KiB});
  run_untimed(simulation, {.rw = "randwrite", .amount = 2 * all}, 2);
  std::vector<Load> loads =
      make_loads({.rw = "randwrite", .depth = depth, .amount = rounds * all}, simulation.drive_size(), 3);
  if (timed) {
    Measurement measurement({"load"});
    simulation.run(loads, measurement);
    simulation.drain();
  } else {
    simulation.ssd().reset_statistics();
    simulation.run_untimed(loads);
  }
  return counts(simulation);
}

void exactly_equal(const std::string& policy) {
  const SsdConfig config = collecting_drive(policy, "write-through");
  const Counts untimed = in_child<Counts>([&] { return counts_of_run(config, false, 1, 1); });
  const Counts timed = counts_of_run(config, true, 1, 1);
  CHECK(timed.units == untimed.units);
  CHECK(timed.padded == untimed.padded);
  CHECK(timed.programs == untimed.programs);
  CHECK(timed.reads == untimed.reads);
  CHECK(timed.erases == untimed.erases);
  CHECK(timed.victims == untimed.victims);
  CHECK(timed.victim_valid == untimed.victim_valid);
  CHECK(timed.blocks_written == untimed.blocks_written);
  CHECK(untimed.victims > 100);
  CHECK(untimed.amplification > 1.5);
}

/// Deep queues: several collections and host programs are under way at once. A victim is then
/// chosen somewhat earlier relative to the overwrites than untimed, where each collection is over
/// before the next command is looked at: the last overwrites that would have hit the victim come
/// too late. The order in which the host's units reach flash differs, too, so the samples of two
/// random processes are compared: 3 rounds over some 9,800 units leave a spread of about half a per
/// cent.
void nearly_equal(const std::string& policy) {
  const SsdConfig config = collecting_drive(policy, "write-back");
  const Counts untimed = in_child<Counts>([&] { return counts_of_run(config, false, 1, 3); });
  const Counts timed = counts_of_run(config, true, 32, 3);
  CHECK(timed.blocks_written == untimed.blocks_written);
  CHECK(timed.amplification == Approx(untimed.amplification).epsilon(0.02));
  CHECK(static_cast<double>(timed.erases) == Approx(static_cast<double>(untimed.erases)).epsilon(0.02));
}

}  // namespace

TEST_CASE("timed as untimed at queue depth 1: greedy", "[drive]") {
  exactly_equal("greedy");
}
TEST_CASE("timed as untimed at queue depth 1: fifo", "[drive]") {
  exactly_equal("fifo");
}
TEST_CASE("timed as untimed at queue depth 1: random", "[drive]") {
  exactly_equal("random");
}
TEST_CASE("timed as untimed at queue depth 1: d-choices", "[drive]") {
  exactly_equal("d-choices");
}
TEST_CASE("timed about as untimed at queue depth 32: greedy", "[drive]") {
  nearly_equal("greedy");
}
TEST_CASE("timed about as untimed at queue depth 32: fifo", "[drive]") {
  nearly_equal("fifo");
}
TEST_CASE("timed about as untimed at queue depth 32: random", "[drive]") {
  nearly_equal("random");
}
TEST_CASE("timed about as untimed at queue depth 32: d-choices", "[drive]") {
  nearly_equal("d-choices");
}

}  // namespace tlmssd::drive_tests
