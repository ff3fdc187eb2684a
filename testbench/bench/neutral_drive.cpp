// The four loads that this program and the fastest peer are measured with, one beside the other
// (docs/performance.md): 8 channels x 2 dies x 2 planes, 4 KiB pages, 8 GiB of flash. What they
// cost is guarded here; the peer is not.
//
// Reads meet a drive that was filled in order. Random writes meet one in steady state: beside the
// peer, which cannot begin there, they start on an empty one and bring it about.
#include <systemc>

#include <stdexcept>
#include <string>

#include "testbench/bench/bench.h"
#include "testbench/bench/loads.h"

namespace {

using namespace tlmssd;
using namespace tlmssd::literals;

SsdConfig neutral_drive(double over_provisioning) {
  SsdConfig config;
  config.host.lba_size = 4096;
  config.host.link = "pcie3x4";
  config.cpu.cores = 4;
  config.cpu.clock = 2'000_MHz;
  config.dram.capacity = 4_GiB;
  config.dram.bandwidth = 25'600_MBps;
  config.flash.channels = 8;
  config.flash.ways = 2;
  config.flash.bus = 500'000'000;
  config.part.cell = "tlc";
  config.part.planes = 2;
  config.part.blocks_per_plane = 256;
  config.part.pages_per_block = 256;
  config.part.page_size = 4096;
  const auto ps = [](Picoseconds time) { return static_cast<std::int64_t>(time); };
  config.part.read_latency = {ps(40_us), ps(50_us), ps(60_us)};
  config.part.program_latency = {ps(500_us), ps(600_us), ps(700_us)};
  config.part.erase_latency = 3'500_us;
  config.capacity.over_provisioning = over_provisioning;
  config.firmware.allocation.multi_plane = true;
  return config;
}

bench::Result random_reads() {
  Simulation simulation(neutral_drive(0.125));
  const Bytes size = simulation.drive_size().bytes;
  bench::fill(simulation, size);
  const std::uint64_t commands = bench::scaled(500'000);
  const double cost =
      bench::time_run(simulation, bench::make_load(simulation, "randread", 4_KiB, 32, commands, size));
  return {cost, static_cast<double>(commands), "command"};
}

bench::Result sequential(const std::string& rw) {
  Simulation simulation(neutral_drive(0.125));
  const Bytes size = simulation.drive_size().bytes / 128_KiB * 128_KiB;
  if (rw == "read") bench::fill(simulation, size);
  const std::uint64_t commands = bench::scaled(50'000, 20);
  const double cost =
      bench::time_run(simulation, bench::make_load(simulation, rw, 128_KiB, 32, commands, size));
  return {cost, static_cast<double>(commands) * 32, "page"};
}

bench::Result random_writes() {
  Simulation simulation(neutral_drive(0.25));
  std::string why_not;
  if (!simulation.make_steady(1, why_not)) throw std::logic_error(why_not);
  const Bytes size = simulation.drive_size().bytes;
  const auto writes = [&](std::uint64_t number) {
    return bench::make_load(simulation, "randwrite", 4_KiB, 32, number, size);
  };
  bench::warm_up(simulation, writes(2 * simulation.ssd().config().firmware.buffer.capacity / 4_KiB));
  const std::uint64_t commands = bench::scaled(500'000, 20);
  const double cost = bench::time_run(simulation, writes(commands));
  return {cost, static_cast<double>(commands), "command"};
}

}  // namespace

int sc_main(int argc, char* argv[]) {
  const char* const work = "the drive and the loads beside the peer";
  return bench::run_cases(argc, argv,
                          {{"neutral_random_read", random_reads, work},
                           {"neutral_sequential_read", [] { return sequential("read"); }, work},
                           {"neutral_sequential_write", [] { return sequential("write"); }, work},
                           {"neutral_random_write", random_writes, work}});
}
