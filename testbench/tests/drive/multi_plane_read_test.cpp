// Reads of the host that want pages of several planes: one multi-plane read in each die, to the
// picosecond, and what switches that off.
#include "testbench/tests/drive/latency_parts.h"

namespace tlmssd::drive_tests {

using namespace literals;

namespace {

/// One die of two planes, each a parallel unit: units 0 to 3 lie in plane 0, 4 to 7 at the same
/// page of plane 1, and so on.
SsdConfig two_planes() {
  SsdConfig config = drive("pcie3x4", 4096);
  config.flash.channels = 1;
  config.part.planes = 2;
  return config;
}

std::uint64_t host_reads(Check& check) {
  return check.simulation().ssd().ftl().statistics().reads[static_cast<std::size_t>(Purpose::host)];
}

/// A read of two pages at the same place in two planes is two operations.
void check_apart(const SsdConfig& config) {
  Check check(config);
  check.fill(64_KiB);
  const std::vector<Seen> seen = run_unloaded(check.simulation(), {{HostOpcode::read, 0, 32_KiB}});
  REQUIRE(seen.size() == 1);
  CHECK(seen[0].status == HostStatus::success);
  CHECK(host_reads(check) == 2);
}

/// Eight reads of both planes outstanding on the only die: all of them take 64 times as long as
/// one, but for what comes before the first command and after the last data.
void check_sequential(bool cached) {
  SsdConfig config = two_planes();
  config.flash.cache_operations = cached;
  config.host.link = "pcie6x16";
  config.part.cell = "slc";
  config.part.read_latency = {50'000'001};
  config.part.program_latency = {400'000'003};
  const BusTiming bus(config.part, config.flash.bus_rate(), 4096);
  const Picoseconds c = bus.read_command(2);
  const Picoseconds out = bus.data_out(0, 8).total();
  const Picoseconds array = (cached ? config.part.t_rcbsy : 0) + 50'000'001;
  const Picoseconds period = cached ? c + std::max(array, out) : c + array + out;
  Simulation simulation(config);
  run_untimed(simulation, {.rw = "write", .bs = 32_KiB, .size = 2_MiB});
  std::vector<Load> loads =
      make_loads({.rw = "read", .bs = 32_KiB, .depth = 8, .size = 2_MiB}, simulation.drive_size());
  Measurement measurement({"load"});
  const Picoseconds before = simulation.ssd().event_queue().now();
  simulation.run(loads, measurement);
  const Picoseconds whole = simulation.ssd().event_queue().now() - before;
  CHECK(whole > 63 * period);
  CHECK(whole < 66 * period);
}

}  // namespace

TEST_CASE("unloaded reads of pages in two planes are one multi-plane read", "[drive]") {
  Check check(two_planes());
  check.fill(64_KiB);
  check.step(
      "both planes of the first page", {HostOpcode::read, 0, 32_KiB},
      check.parts().fetch().command().translate(8).map(8).flash(1).sense(k_page0, 0, 8, 2).complete(32_KiB));
  check.step(
      "the end of one and the beginning of the other", {HostOpcode::read, 40_KiB, 12_KiB},
      check.parts().fetch().command().translate(3).map(3).flash(1).sense(k_page1, 2, 3, 2).complete(12_KiB));
  check.step(
      "one plane", {HostOpcode::read, 16_KiB, 16_KiB},
      check.parts().fetch().command().translate(4).map(4).flash(1).sense(k_page0, 0, 4).complete(16_KiB));
  CHECK(host_reads(check) == 1);
  check.step("different pages of the planes are two reads, one after the other",
             {HostOpcode::read, 28_KiB, 8_KiB}, [&] {
               // The second is sensed when the first one's data are out, and is what ends last.
               Parts parts = check.parts().fetch().command().translate(2).map(2).flash(2);
               parts.sense(k_page1, 0, 1).complete(8_KiB);
               const BusTiming bus(two_planes().part, two_planes().flash.bus_rate(), 4096);
               parts.add(Cause::die_read, bus.read_command(1) + two_planes().part.read_time(k_page0) +
                                              bus.data_out(3, 1).total());
               return parts;
             }());
  CHECK(host_reads(check) == 2);
}

TEST_CASE("multi-plane reads can be switched off", "[drive]") {
  SsdConfig config = two_planes();
  config.flash.multi_plane_reads = false;
  check_apart(config);
}

TEST_CASE("a part without multi-plane operations reads its planes one by one", "[drive]") {
  SsdConfig config = two_planes();
  config.part.multi_plane = false;
  check_apart(config);
}

TEST_CASE("sequential reads of two planes reach the closed form of multi-plane reads", "[drive]") {
  check_sequential(false);
}

TEST_CASE("sequential reads of two planes reach the closed form of cached multi-plane reads", "[drive]") {
  check_sequential(true);
}

}  // namespace tlmssd::drive_tests
