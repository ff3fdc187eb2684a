// The file cache in front of real drives: what is not for files goes through as if there were no
// cache, the limit follows the drive's free pSLC, a snapshot holds all of it, and neither checkers
// nor the quantum change anything.
#include <systemc>

#include <array>
#include <catch2/catch.hpp>

#include "models/base/memory_archive.h"
#include "testbench/app/load_space.h"
#include "testbench/tests/drive/latency_parts.h"
#include "testbench/tests/drive/mixed_load.h"
#include "testbench/tests/support/given.h"

namespace tlmssd::filecache_tests {
namespace {

using namespace literals;
using drive_tests::in_child;
using drive_tests::one;
using drive_tests::Seen;
using drive_tests::Step;

FileCacheConfig cache(const std::string& admission, std::uint32_t files, double space) {
  FileCacheConfig config;
  config.admission = admission;
  config.files = files;
  config.file_size = 256_KiB;
  config.space = space;
  config.latency = 2_ms;
  config.bandwidth = 200'000'000;
  return config;
}

/// Reads of whole files drawn at random, some much more often than others.
Load accesses(const Simulation& simulation, std::uint64_t count, std::uint32_t depth, std::uint64_t seed) {
  LoadConfig config;
  config.kind.name = "files";
  config.generator.rw = "randread";
  config.generator.bs = "256k";
  config.generator.io_size = std::to_string(count * 256_KiB);
  config.generator.iodepth = depth;
  config.generator.random_distribution = simulation.files_size().apps ? "lives" : "zipf:1.1";
  return std::move(make_loads(config, simulation.files_size(), seed).front());
}

/// One die pair of QLC with a small pSLC.
SsdConfig pslc_drive() {
  SsdConfig config;
  config.host.lba_size = 4096;
  config.dram.capacity = 256_MiB;
  config.flash.channels = 1;
  config.flash.ways = 2;
  config.part.cell = "qlc";
  config.part.program_unit = "word-line";
  config.part.planes = 2;
  config.part.page_size = 16384;
  config.part.pages_per_block = 64;
  config.part.blocks_per_plane = 64;
  config.part.read_latency = {static_cast<std::int64_t>(98_us)};
  config.part.program_latency = {static_cast<std::int64_t>(2185_us)};
  config.part.erase_latency = 10_ms;
  config.part.slc_read_latency = 28_us;
  config.part.slc_program_latency = 200_us;
  config.part.slc_erase_latency = 5_ms;
  config.capacity.over_provisioning = 0.4;
  config.firmware.allocation.multi_plane = true;
  config.firmware.buffer.capacity = 4_MiB;
  config.firmware.gc.idle_after = 1000_s;
  config.firmware.pslc.policy = "all";
  config.firmware.pslc.static_bytes = 4_MiB;
  config.firmware.pslc.dynamic_bytes = 16_MiB;
  return config;
}

}  // namespace

TEST_CASE("commands for the drive go through a file cache as if it were not there") {
  static const std::vector<Step> steps = {
      {HostOpcode::write, 0, 4_KiB},     {HostOpcode::write, 8_KiB, 64_KiB},
      {HostOpcode::flush, 0, 0},         {HostOpcode::read, 8_KiB, 512},
      {HostOpcode::read, 8_KiB, 64_KiB}, {HostOpcode::write, 4_KiB, 4_KiB, true},
      {HostOpcode::trim, 0, 32_KiB},     {HostOpcode::read, 0, 64_KiB}};
  using Answers = std::array<Seen, 8>;
  const auto run = [&](bool cached) {
    return in_child<Answers>([&] {
      SimulationConfig config;
      if (cached) config.file_cache = cache("all", 10, 0.2);
      Simulation simulation(drive_tests::drive("pcie3x4", 512), config);
      const std::vector<Seen> seen = drive_tests::run_unloaded(simulation, steps);
      Answers answers;
      std::copy_n(seen.begin(), answers.size(), answers.begin());
      return answers;
    });
  };
  const Answers plain = run(false);
  const Answers cached = run(true);
  for (std::size_t i = 0; i < plain.size(); ++i) {
    INFO("step " << i);
    CHECK(cached[i].status == HostStatus::success);
    CHECK(cached[i].latency == plain[i].latency);
    for (std::size_t c = 0; c < k_causes; ++c)
      CHECK(cached[i].ledger.spent(static_cast<Cause>(c)) == plain[i].ledger.spent(static_cast<Cause>(c)));
  }
}

TEST_CASE("the limit of DFCache is the drive's free pSLC") {
  SimulationConfig config;
  config.file_cache = cache("dfcache", 200, 0.25);
  Simulation simulation(pslc_drive(), config);
  const Bytes space = simulation.file_cache()->store().slots() * 256_KiB;
  REQUIRE(simulation.ssd().ftl().pslc_room().value().free == 20_MiB);  // all of it, nothing is written yet
  REQUIRE(space > 20_MiB);
  CHECK(simulation.file_cache()->limit() == 20_MiB);
  drive_tests::run_untimed(simulation, {.rw = "write", .bs = 128_KiB, .size = 12_MiB});
  const Bytes free = simulation.ssd().ftl().pslc_room().value().free;
  CHECK(free > 4_MiB);
  CHECK(free <= 8_MiB);
  CHECK(simulation.ssd().ftl().pslc_room().value().size >= 16_MiB);
  CHECK(simulation.file_cache()->limit() == free);
  std::vector<Load> loads = one(accesses(simulation, 400, 1, 3));
  simulation.run_untimed(loads);
  const FileCache::Statistics& s = simulation.file_cache()->statistics();
  CHECK(s.hits > 100);
  CHECK(s.written > 10);
  CHECK(s.evicted > 5);
  CHECK(s.rejected > 10);
  CHECK(simulation.file_cache()->store().used() * 256_KiB < free);
}

TEST_CASE("files of more than 2^32 blocks are seen by loads as what they are") {
  SsdConfig drive = drive_tests::drive("pcie3x4", 512);
  drive.firmware.mapping.unit = 4096;
  SimulationConfig config;
  config.file_cache = cache("none", 4'200'000, 0.25);
  config.file_cache->file_size = 1_MiB;
  CHECK(load_space(drive, config).files.bytes == 4'200'000 * 1_MiB);
  CHECK(Simulation(drive, config).files_size().bytes == 4'200'000 * 1_MiB);
}

TEST_CASE("without a pSLC the space is the limit") {
  SimulationConfig config;
  config.file_cache = cache("dfcache", 200, 0.25);
  Simulation simulation(drive_tests::drive("pcie3x4", 512), config);
  CHECK_FALSE(simulation.ssd().ftl().pslc_room().has_value());
  CHECK(simulation.file_cache()->limit() == simulation.file_cache()->store().slots() * 256_KiB);
}

namespace {

struct Outcome {
  FileCache::Statistics statistics;
  Picoseconds end = 0;
  std::uint64_t units = 0;
};

Outcome stress(bool checked, Picoseconds quantum) {
  SsdConfig drive = pslc_drive();
  drive.check_protocol = checked;
  SimulationConfig config;
  config.quantum = quantum;
  config.file_cache = cache("dfcache", 100, 0.3);
  Simulation simulation(drive, config);
  std::vector<Load> loads = one(accesses(simulation, 600, 6, 4));
  loads.push_back(drive_tests::mixed_load({.requests = 4000, .depth = 8}, simulation.drive_size(), 5));
  Measurement measurement({"files", "local"});
  simulation.run(loads, measurement);
  const Outcome outcome{simulation.file_cache()->statistics(), simulation.ssd().event_queue().now(),
                        simulation.ssd().ftl().statistics().host_units_written};
  simulation.drain();
  simulation.finish_checks();
  if (simulation.driver().failed() > 0) throw std::runtime_error(simulation.driver().take_first_failure());
  if (outcome.statistics.hits < 50 || outcome.statistics.written < 20)
    throw std::runtime_error("hardly used");
  return outcome;
}

}  // namespace

TEST_CASE("neither checkers nor the quantum change what a file cache does") {
  const auto outcome = [](bool checked, Picoseconds quantum) {
    return in_child<Outcome>([=] { return stress(checked, quantum); });
  };
  const Outcome checked = outcome(true, 0);
  for (const Picoseconds quantum : {Picoseconds{0}, Picoseconds{1'000'000'000}}) {
    const Outcome plain = outcome(false, quantum);
    CHECK(std::memcmp(&plain, &checked, sizeof plain) == 0);
  }
}

TEST_CASE("a file cache restored goes on as the one saved") {
  for (const char* admission : {"all", "dfcache", "cachesifter", "file-classes"}) {
    INFO(admission);
    CHECK(in_child<bool>([&] {
      SimulationConfig config;
      config.file_cache = cache(admission, 100, 0.2);
      if (admission == std::string("file-classes")) {
        config.file_cache->apps = AppFilesConfig{};
        config.file_cache->apps->number = 2;
        config.file_cache->apps->told = 1;
        config.file_cache->apps->burst = 8;
        config.file_cache->apps->transient = 50;
        config.file_cache->apps->rest = 50;
      }
      const Given given(std::map<std::string, Value, std::less<>>{
          {"memory", whole(2_MiB)}, {"burst", whole(8)}, {"transient", whole(50)}});
      config.file_cache->admission_policy = borrowed(given);
      SsdConfig drive = drive_tests::drive("pcie3x4", 4096);
      drive.part.blocks_per_plane = 256;
      Simulation simulation(drive, config);
      const auto run = [&](std::uint64_t seed) {
        std::vector<Load> loads = one(accesses(simulation, 300, 1, seed));
        simulation.run_untimed(loads);
      };
      run(7);
      MemoryArchive saved;
      simulation.archive(saved);
      const auto after = [&] {
        simulation.reset_statistics();
        run(8);
        return simulation.file_cache()->statistics();
      };
      const FileCache::Statistics first = after();
      saved.rewind();
      simulation.archive(saved);
      if (!saved.at_end()) throw std::runtime_error("not all was read");
      const FileCache::Statistics second = after();
      if (first.hits + first.memory_hits == 0 || first.written == 0) throw std::runtime_error("hardly used");
      return std::memcmp(&first, &second, sizeof first) == 0;
    }));
  }
}

}  // namespace tlmssd::filecache_tests
