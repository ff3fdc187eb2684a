// What a whole drive costs per command or page: the budgets of the architecture
// (docs/performance.md).
//
// All checks are on: scoreboard on every read, ledger of every command. Pages are 4 KiB, so that a
// unit, a page and a command of the random loads are one and the same.
#include <systemc>

#include <sys/resource.h>

#include "testbench/bench/bench.h"
#include "testbench/bench/loads.h"

namespace {

using namespace tlmssd;
using namespace tlmssd::literals;
using bench::fill;
using bench::make_load;
using bench::time_run;
using bench::warm_up;

struct Drive {
  std::uint32_t channels = 8;
  std::uint32_t ways = 8;
  std::uint32_t planes = 1;
  Bytes user = 16_GiB;
  double spare_factor = 0.20;
  bool errors = false;  ///< wrong bits in what is read, decoded with BCH
  std::uint32_t lba = 4096;
  std::uint32_t queue_depth = 4096;
};

SsdConfig make_config(const Drive& drive) {
  SsdConfig config;
  config.host.lba_size = drive.lba;
  config.host.queue_depth = drive.queue_depth;
  config.host.queues = 4;
  config.host.link = "pcie5x16";
  config.cpu.cores = 4;
  config.cpu.clock = 2'000_MHz;
  config.dram.capacity = 64_GiB;
  config.dram.bandwidth = 100'000_MBps;
  config.bus.width = 1024;
  config.flash.channels = drive.channels;
  config.flash.ways = drive.ways;
  config.flash.bus = 1'200'000'000;
  config.part.planes = drive.planes;
  config.part.page_size = 4096;
  config.part.pages_per_block = 256;
  config.part.read_latency = {static_cast<std::int64_t>(40_us)};
  config.part.program_latency = {static_cast<std::int64_t>(200_us)};
  config.capacity.user_capacity = drive.user;
  config.capacity.over_provisioning = 1 / (1 - drive.spare_factor) - 1;
  if (drive.errors) {
    config.reliability = "power-law";
    config.firmware.ecc.policy = "conventional";
    config.ecc.engines = 64;  // as the link and the cores: never the bottleneck
  }
  return config;
}

/// On a drive of which so much is filled, and read.
bench::Result random_read(const Drive& drive, std::uint32_t depth, Bytes filled, double budget = 0) {
  Simulation simulation(make_config(drive));
  const Bytes region = std::min(filled, simulation.drive_size().bytes);
  fill(simulation, region);
  const std::uint64_t commands = bench::scaled(1'000'000);
  warm_up(simulation, make_load(simulation, "randread", 4_KiB, depth, commands / 10, region));
  const double cost = time_run(simulation, make_load(simulation, "randread", 4_KiB, depth, commands, region));
  return {cost, static_cast<double>(commands), "command", budget};
}

/// Reads and writes of 4 KiB within `region`, so that with many outstanding most wait for others.
bench::Result mixed(std::uint32_t depth, Bytes region) {
  Simulation simulation(make_config({.queue_depth = 65'536}));
  fill(simulation, region);
  const std::uint64_t commands = std::max<std::uint64_t>(bench::scaled(500'000), 2 * depth);
  warm_up(simulation, make_load(simulation, "randrw", 4_KiB, depth, commands / 5, region));
  const double cost = time_run(simulation, make_load(simulation, "randrw", 4_KiB, depth, commands, region));
  return {cost, static_cast<double>(commands), "command"};
}

/// 32 outstanding writes of 256 KiB to 2 MiB at any logical block of 512 B within `region`.
bench::Result large_writes(Bytes region) {
  Simulation simulation(make_config({.user = 4_GiB, .lba = 512}));
  LoadConfig config;
  config.kind.name = "writes";
  config.generator.rw = "randwrite";
  config.generator.bsrange = "256k-2m";
  config.generator.blockalign = "512";
  config.generator.iodepth = 32;
  config.generator.size = std::to_string(region);
  config.generator.number_ios = bench::scaled(3000, 10);
  config.generator.io_size = std::to_string(1024_GiB);
  Measurement measurement({"load"});
  std::vector<Load> loads = make_loads(config, simulation.drive_size(), 1);
  const double cost = bench::timed([&] { simulation.run(loads, measurement); });
  return {cost, static_cast<double>(measurement.total().bytes()) / 512, "block"};
}

/// NAND page operations: programs, and reads of garbage collection.
std::uint64_t page_operations(const Simulation& simulation) {
  const firmware::FtlStatistics& s = const_cast<Simulation&>(simulation).ssd().ftl().statistics();
  std::uint64_t sum = 0;
  for (std::size_t p = 0; p < k_purposes; ++p) {
    sum += s.programs[p];
    if (p != static_cast<std::size_t>(Purpose::host)) sum += s.reads[p];
  }
  return sum;
}

/// Filled, and overwritten in random order.
Bytes overwrite(Simulation& simulation, std::uint64_t times) {
  const Bytes region = simulation.drive_size().bytes;
  fill(simulation, region);
  std::vector<Load> loads = make_load(simulation, "randwrite", 4_KiB, 1, times * region / 4_KiB, region);
  simulation.run_untimed(loads);
  return region;
}

bench::Result random_write_steady() {
  Simulation simulation(make_config({.user = bench::scaled(4_GiB, 4)}));
  const Bytes region = overwrite(simulation, 2);
  const std::uint64_t commands = bench::scaled(400'000, 10);  // many more than fit in the write buffer
  const double cost = time_run(simulation, make_load(simulation, "randwrite", 4_KiB, 64, commands, region));
  return {cost, static_cast<double>(page_operations(simulation)), "page operation", 15};
}

bench::Result sequential(const char* rw, const Drive& drive, double budget) {
  Simulation simulation(make_config(drive));
  const bool reads = std::string(rw) == "read";
  if (reads) fill(simulation, 4_GiB);
  const std::uint64_t commands = bench::scaled(32'768, reads ? 50 : 10);
  const double cost = time_run(simulation, make_load(simulation, rw, 128_KiB, 16, commands, 4_GiB));
  return {cost, static_cast<double>(commands) * 32, "page", budget};
}

/// Page by page, even where what a fill leaves is known.
bench::Result untimed_fill(const std::function<void(SsdConfig&)>& change = {}) {
  SimulationConfig by_pages;
  by_pages.fill_by_pages = true;
  SsdConfig config = make_config({.user = 8_GiB});
  if (change) change(config);
  Simulation simulation(config, by_pages);
  const Bytes bytes = bench::scaled(4_GiB / 128_KiB, 4) * 128_KiB;
  std::vector<Load> loads = make_load(simulation, "write", 128_KiB, 1, bytes / 128_KiB, bytes);
  const double cost = bench::timed([&] { simulation.run_untimed(loads); });
  return {cost, static_cast<double>(bytes / 4_KiB), "page", 4};
}

bench::Result untimed_overwrite() {
  Simulation simulation(make_config({.user = bench::scaled(4_GiB, 4)}));
  const Bytes region = overwrite(simulation, 1);
  const std::uint64_t before = page_operations(simulation);
  std::vector<Load> loads =
      make_load(simulation, "randwrite", 4_KiB, 1, bench::scaled(region / 4_KiB, 4), region);
  const double cost = bench::timed([&] { simulation.run_untimed(loads); });
  return {cost, static_cast<double>(page_operations(simulation) - before), "page operation", 4};
}

/// A drive filled and overwritten in random order: bytes beyond the first 64 MiB.
bench::Result memory() {
  if (bench::short_run) return {0, 1, "unit", 16, "B"};  // no instructions are counted
  const auto peak = [] {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_maxrss) * 1024;
  };
  const double before = peak();
  Simulation simulation(make_config({}));
  const Bytes region = overwrite(simulation, 1);
  const double beyond = std::max(peak() - before - static_cast<double>(64_MiB), 0.0);
  return {beyond, static_cast<double>(region / 4_KiB), "unit", 16, "B"};
}

}  // namespace

int sc_main(int argc, char* argv[]) {
  const Drive eight = {.channels = 1, .ways = 8};
  const Drive thousand = {.channels = 32, .ways = 32};
  const Drive planes = {.ways = 2, .planes = 2};  // each command reads two pages in every die
  const Drive large = {.channels = 8, .ways = 8, .user = 4_TiB};
  const auto dftl = [](SsdConfig& config) { config.firmware.mapping.scheme = "dftl"; };
  const char* const random_reads = "4 KiB random read, 8 x 8 dies, QD 32 and 256";
  const char* const sequential_128k = "128 KiB sequential read / write, per page";
  const char* const untimed = "untimed fill and overwrite, per page";
  const char* const growth = "QD 1 to 4096; 8 to 1024 dies; 16 GiB to 4 TiB, full and read all over";
  return bench::run_cases(
      argc, argv,
      {{"random_read_qd32", [] { return random_read({}, 32, 16_GiB, 18); }, random_reads},
       {"random_read_qd256", [] { return random_read({}, 256, 16_GiB, 18); }, random_reads},
       {"random_write_steady", random_write_steady, "4 KiB random write, steady state, per page operation"},
       {"sequential_read_128k", [] { return sequential("read", {}, 6); }, sequential_128k},
       {"sequential_write_128k", [] { return sequential("write", {}, 8); }, sequential_128k},
       {"large_writes_apart", [] { return large_writes(4_GiB); }},
       {"large_writes_overlapping", [] { return large_writes(8_MiB); },
        "32 writes of 256 KiB and more that overlap, 512 B blocks, per block", "large_writes_apart", 2},
       {"untimed_fill", [] { return untimed_fill(); }, untimed},
       {"untimed_fill_dftl", [=] { return untimed_fill(dftl); }, untimed},
       {"untimed_overwrite", untimed_overwrite, untimed},
       {"read_qd1", [] { return random_read({}, 1, 4_GiB); }},
       {"read_qd4096", [] { return random_read({}, 4096, 4_GiB); }, growth, "read_qd1", 1.5},
       {"read_8_dies", [=] { return random_read(eight, 256, 4_GiB); }},
       {"read_1024_dies", [=] { return random_read(thousand, 256, 4_GiB); }, growth, "read_8_dies", 1.5},
       {"read_16_gib", [] { return random_read({}, 64, 16_GiB); }},
       {"full_4_tib", [=] { return random_read(large, 64, 4_TiB); }, growth, "read_16_gib", 1.5},
       {"memory", memory, "memory beyond 64 MiB, per touched unit"},
       {"read_4_tib", [=] { return random_read(large, 64, 16_GiB); }, "", "read_16_gib", 1.5},
       {"random_read_errors", [] { return random_read({.errors = true}, 256, 16_GiB); }, "",
        "random_read_qd256", 1.5},
       {"sequential_read_128k_planes", [=] { return sequential("read", planes, 0); }},
       {"mixed_qd64", [] { return mixed(64, 1_GiB); }},
       {"mixed_qd65536", [] { return mixed(65'536, 1_GiB); }, "", "mixed_qd64", 6},
       {"mixed_1_mib_qd64", [] { return mixed(64, 1_MiB); }},
       {"mixed_1_mib_qd65536", [] { return mixed(65'536, 1_MiB); }, "", "mixed_1_mib_qd64", 16}});
}
