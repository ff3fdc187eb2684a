// The drive with a cache in SCM: latencies to the picosecond, what a hit leaves alone, wear,
// snapshots, repeatability.
#include <systemc>

#include <catch2/catch.hpp>
#include <cstdio>
#include <filesystem>
#include <fmt/format.h>
#include <numeric>
#include <unistd.h>

#include "firmware/cache/cache.h"
#include "models/base/memory_archive.h"
#include "testbench/app/scenario_catalogue.h"
#include "testbench/report/files/snapshot.h"
#include "testbench/report/json_sink.h"
#include "testbench/tests/drive/latency_parts.h"
#include "testbench/tests/drive/mixed_load.h"

namespace tlmssd::drive_tests {
namespace {

constexpr Bytes k_scm_capacity = 2_MiB;

/// The drive of the latency tests with SCM for a twentieth of its flash.
SsdConfig hybrid(const std::string& link, Bytes lba) {
  SsdConfig config = drive(link, lba);
  config.check_protocol = true;
  config.scm = ScmConfig{};
  config.scm->capacity = k_scm_capacity;
  config.scm->wear_region = 64_KiB;
  config.firmware.cache.policy = "nv-wb";
  return config;
}

/// Writes and read hits of one block and of 16 KiB, each at rest.
void hits(const SsdConfig& config) {
  Check check(config);
  const Bytes lba = config.host.lba_size;
  const auto write = [&](Bytes bytes, std::uint32_t units) {
    return check.parts().fetch(bytes, true).command().buffer(units).scm_copy(bytes, true).complete();
  };
  const auto read = [&](Bytes bytes, std::uint32_t units) {
    return check.parts().fetch().command().buffer(units).scm_copy(bytes, false).complete(bytes);
  };
  check.step("a write of one block", {HostOpcode::write, 1_MiB, lba}, write(lba, 1));
  check.step("its read", {HostOpcode::read, 1_MiB, lba}, read(lba, 1));
  check.step("a write of four units", {HostOpcode::write, 32_KiB, 16_KiB}, write(16_KiB, 4));
  check.step("their read", {HostOpcode::read, 32_KiB, 16_KiB}, read(16_KiB, 4));
  check.step("the same written again, in place", {HostOpcode::write, 32_KiB, 16_KiB}, write(16_KiB, 4));
  check.step("a flush: SCM keeps what it has", {HostOpcode::flush, 0, 0},
             check.parts().fetch().command().complete());
  check.step("a write with force unit access", {HostOpcode::write, 64_KiB, lba, true}, write(lba, 1));
  check.simulation().ssd().finish_checks();
  CHECK(check.simulation().ssd().checked_transactions() > 0);
}

std::uint64_t programmed(const Ssd& ssd) {
  return std::accumulate(ssd.scm()->wear().begin(), ssd.scm()->wear().end(), std::uint64_t{0});
}

/// A drive that is small beside its load: evictions, collection and copies into the SCM all the
/// time.
SsdConfig busy(std::uint64_t seed) {
  SsdConfig config = hybrid("pcie3x4", 512);
  config.seed = config.firmware.seed = seed;
  config.firmware.buffer.capacity = 256_KiB;
  config.scm->capacity = 512_KiB;
  return config;
}

/// What two runs that are the same must have in common.
struct LastWork {
  firmware::FtlStatistics ftl;
  firmware::CacheStatistics cache;
  std::uint64_t wear = 0;        ///< hash of the SCM's wear, region by region
  std::uint64_t statistics = 0;  ///< hash of all that the drive reports
  std::uint64_t state = 0;       ///< hash of all that a snapshot holds, instants of programs among it
  Picoseconds span = 0;          ///< of the last load
};

std::uint64_t hash(const void* data, std::size_t bytes) {
  return std::hash<std::string_view>{}({static_cast<const char*>(data), bytes});
}

Picoseconds work(Simulation& simulation, std::uint64_t seed) {
  const DriveSize size = simulation.drive_size();
  std::vector<Load> loads = one(mixed_load({.requests = 4000, .hot_blocks = 6000}, size, seed));
  Measurement measurement({"mixed"});
  measurement.reset(simulation.ssd().event_queue().now());
  simulation.run(loads, measurement);
  simulation.drain();
  return measurement.span();
}

void fill(Simulation& simulation) {
  run_untimed(simulation, {.rw = "write", .bs = 64_KiB});
}

LastWork last_work(Simulation& simulation, std::uint64_t seed) {
  LastWork end;
  end.span = work(simulation, seed);
  const Ssd& ssd = simulation.ssd();
  end.ftl = ssd.ftl().statistics();
  end.cache = ssd.ftl().cache()->statistics();
  end.wear = hash(ssd.scm()->wear().data(), ssd.scm()->wear().size() * sizeof(std::uint64_t));
  JsonSink sink;
  ssd.report(sink);
  const std::string report = sink.take().dump();
  end.statistics = hash(report.data(), report.size());
  MemoryArchive archive;
  simulation.archive(archive);
  end.state = hash(archive.content().data(), archive.content().size());
  simulation.ssd().finish_checks();
  return end;
}

void same_work(const LastWork& a, const LastWork& b) {
  CHECK(std::memcmp(&a.ftl, &b.ftl, sizeof a.ftl) == 0);
  CHECK(std::memcmp(&a.cache, &b.cache, sizeof a.cache) == 0);
  CHECK(a.wear == b.wear);
  CHECK(a.span == b.span);
}

/// A file that is gone when the test ends.
struct TemporaryFile {
  explicit TemporaryFile(const char* name)
      : path(
            (std::filesystem::temp_directory_path() / fmt::format("tlmssd_{}_{}", getpid(), name)).string()) {
  }
  ~TemporaryFile() { std::remove(path.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;
  std::string path;
};

/// Saves a snapshot of busy(1) and tries it on `other`; returns the complaint.
std::string snapshot_refusal(const SsdConfig& other) {
  const TemporaryFile file("hybrid.snap");
  in_child<bool>([&] {
    Simulation simulation(busy(1));
    save_snapshot(file.path, simulation.ssd().identity(), [&](Archive& a) { simulation.archive(a); });
    return true;
  });
  Simulation simulation(other);
  try {
    load_snapshot(file.path, simulation.ssd().identity(), [&](Archive& a) { simulation.archive(a); });
  } catch (const SnapshotMismatch& mismatch) {
    return mismatch.what();
  }
  return "";
}

}  // namespace

TEST_CASE("unloaded hits in SCM, NVMe, 512 B blocks", "[drive]") {
  hits(hybrid("pcie3x4", 512));
}
TEST_CASE("unloaded hits in SCM, NVMe, 4 KiB blocks", "[drive]") {
  hits(hybrid("pcie4x2", 4096));
}
TEST_CASE("unloaded hits in SCM, SATA, 512 B blocks", "[drive]") {
  hits(hybrid("sata6", 512));
}
TEST_CASE("unloaded hits in SCM, all sectors in one slow bank", "[drive]") {
  SsdConfig config = hybrid("pcie5x16", 512);
  config.scm->banks = 1;
  config.scm->read_latency = 1'300'001;
  config.scm->program_latency = 2'700'007;
  hits(config);
}
TEST_CASE("unloaded hits in SCM behind a slow interface", "[drive]") {
  SsdConfig config = hybrid("pcie5x16", 512);
  config.scm->banks = 3;
  config.scm->bandwidth = 70'000'003;
  hits(config);
}
TEST_CASE("unloaded hits in SCM where DRAM is slower", "[drive]") {
  SsdConfig config = hybrid("pcie5x16", 512);
  config.dram.bandwidth = 30'000'001;
  config.dram.latency = 777'777;
  hits(config);
}

TEST_CASE("unloaded hits in a cache in DRAM, which is read once, by the host interface", "[drive]") {
  SsdConfig config = drive("pcie3x4", 512);
  config.dram.bandwidth = 400'000'003;  // slower than the link, so that its time shows
  config.firmware.cache.policy = "lru";
  config.firmware.cache.medium = "dram";
  config.firmware.cache.capacity = 256_KiB;
  config.check_protocol = true;
  Check check(config);
  Ssd& ssd = check.simulation().ssd();
  check.step("a write", {HostOpcode::write, 32_KiB, 16_KiB},
             check.parts().fetch(16_KiB, true).command().buffer(4).complete());
  CHECK(ssd.dram()->counters().written_bytes == 16_KiB);
  check.step("its read", {HostOpcode::read, 32_KiB, 16_KiB},
             check.parts().fetch().command().buffer(4).complete(16_KiB));
  CHECK(ssd.dram()->counters().read_bytes == 16_KiB);  // of this step alone
  CHECK(ssd.dram()->counters().written_bytes == 0);
  check.step("a read of a part", {HostOpcode::read, 36_KiB, 512},
             check.parts().fetch().command().buffer(1).complete(512));
  ssd.finish_checks();
}

TEST_CASE("a read hit in SCM touches neither map nor flash", "[drive]") {
  Simulation simulation(hybrid("pcie3x4", 512));
  run_untimed(simulation, {.rw = "write", .bs = 64_KiB, .size = 4_MiB});
  const auto flash_reads = [&] {
    const auto& reads = simulation.ssd().ftl().statistics().reads;
    return std::accumulate(reads.begin(), reads.end(), std::uint64_t{0});
  };
  const Bytes newest = 4_MiB - 64_KiB;
  const std::vector<Seen> hit = run_unloaded(simulation, {{HostOpcode::read, newest, 32_KiB}});
  CHECK(simulation.ssd().ftl().cache()->statistics().read_hits == 8);
  CHECK(flash_reads() == 0);
  CHECK(hit[0].ledger.spent(Cause::map_fetch) == 0);
  // In DRAM nothing but the data: from SCM into the buffer, from the buffer to the host.
  CHECK(simulation.ssd().dram()->counters().written_bytes == 32_KiB);
  CHECK(simulation.ssd().dram()->counters().read_bytes == 32_KiB);
  CHECK(simulation.ssd().scm()->counters().read_bytes == 32_KiB);
  // What has been evicted takes the other way.
  const std::vector<Seen> miss = run_unloaded(simulation, {{HostOpcode::read, 0, 32_KiB}});
  CHECK(simulation.ssd().ftl().cache()->statistics().read_hits == 0);
  CHECK(flash_reads() > 0);
  CHECK(miss[0].ledger.spent(Cause::map_fetch) > 0);
  CHECK(miss[0].ledger.spent(Cause::sense) > 0);
  simulation.drain();
  simulation.ssd().finish_checks();
}

TEST_CASE("wear of the SCM is what the host wrote and what was copied in", "[drive]") {
  Simulation simulation(hybrid("pcie3x4", 512));
  const Ssd& ssd = simulation.ssd();
  const firmware::Cache& cache = *ssd.ftl().cache();
  // 3 sectors beginning at sector 5 of a unit take the first three grains: region 0, whatever their
  // address.
  run_unloaded(simulation, {{HostOpcode::write, 1_MiB + 5 * 512, 3 * 512}});
  CHECK(ssd.scm()->wear()[0] == 3);
  CHECK(programmed(ssd) == 3);
  // Grains are given out in order: 64 KiB more fill the rest of region 0 and 3 sectors of region 1.
  run_unloaded(simulation, {{HostOpcode::write, 0, 64_KiB}});
  CHECK(ssd.scm()->wear()[0] == 128);
  CHECK(ssd.scm()->wear()[1] == 3);
  // Overwriting stays in place.
  run_unloaded(simulation, {{HostOpcode::write, 0, 1024}});
  CHECK(ssd.scm()->wear()[0] == 130);
  CHECK(ssd.scm()->wear()[1] == 3);
  // Reads of flash program the sectors asked for, and nothing else does.
  run_untimed(simulation, {.rw = "write", .bs = 64_KiB, .size = 4_MiB});
  std::uint64_t expected = programmed(ssd);
  CHECK(expected == 133 + 4_MiB / 512);
  REQUIRE_FALSE(cache.covers(0, 16));
  run_unloaded(simulation, {{HostOpcode::read, 512, 7 * 512}});
  CHECK(programmed(ssd) == expected + 7);
  run_unloaded(simulation, {{HostOpcode::read, 512, 7 * 512}});
  CHECK(programmed(ssd) == expected + 7);
  expected += 7;
  // A load that evicts: statistics and wear agree.
  simulation.ssd().reset_statistics();
  const std::uint64_t before = cache.store().dirty_sectors();
  std::vector<Load> writes =
      make_loads({.rw = "randwrite", .bs = 1536, .depth = 8, .amount = 3_MiB}, simulation.drive_size());
  Measurement measurement({"load"});
  simulation.run(writes, measurement);
  CHECK(before > 0);
  CHECK(cache.statistics().evictions > 0);
  CHECK(cache.statistics().sectors_written == 3_MiB / 512);
  CHECK(programmed(ssd) == expected + 3_MiB / 512);
}

TEST_CASE("a hybrid drive restored from a snapshot goes on as one that was not", "[drive]") {
  const TemporaryFile file("goes_on.snap");
  const LastWork straight = in_child<LastWork>([&] {
    Simulation simulation(busy(1));
    fill(simulation);
    work(simulation, 1);
    save_snapshot(file.path, simulation.ssd().identity(), [&](Archive& a) { simulation.archive(a); });
    return last_work(simulation, 2);
  });
  Simulation simulation(busy(1));
  load_snapshot(file.path, simulation.ssd().identity(), [&](Archive& a) { simulation.archive(a); });
  REQUIRE(simulation.ssd().ftl().cache()->store().dirty_sectors() > 0);
  const LastWork restored = last_work(simulation, 2);
  CHECK(restored.cache.evictions > 0);
  CHECK(restored.cache.copies_in > 0);
  same_work(restored, straight);
}

TEST_CASE("a snapshot of a hybrid drive is refused by one with another cache policy", "[drive]") {
  SsdConfig other = busy(1);
  other.firmware.cache.policy = "lru";
  CHECK_THAT(snapshot_refusal(other),
             Catch::Contains("firmware.cache.policy") && Catch::Contains("nv-wb") && Catch::Contains("lru"));
}
TEST_CASE("a snapshot of a hybrid drive is refused by one with another SCM", "[drive]") {
  SsdConfig other = busy(1);
  other.scm->capacity = 1_MiB;
  const std::string complaint = snapshot_refusal(other);
  CHECK_THAT(complaint, Catch::Contains("ssd.scm.capacity") && Catch::Contains("firmware.cache.capacity"));
  CHECK_THAT(complaint, !Catch::Contains("firmware.cache.policy"));
}
TEST_CASE("a snapshot of a hybrid drive is refused by one with other grains", "[drive]") {
  SsdConfig other = busy(1);
  other.firmware.cache.grain = 4096;
  CHECK_THAT(snapshot_refusal(other), Catch::Contains("firmware.cache.grain"));
}
TEST_CASE("a snapshot of a hybrid drive is refused by one with the cache in DRAM", "[drive]") {
  SsdConfig other = busy(1);
  other.firmware.cache.medium = "dram";
  other.firmware.cache.capacity = 512_KiB;
  const std::string complaint = snapshot_refusal(other);
  CHECK_THAT(complaint, Catch::Contains("firmware.cache.medium"));
  CHECK_THAT(complaint, !Catch::Contains("firmware.cache.capacity"));
}

TEST_CASE("the same seed gives the same hybrid run, another seed another", "[drive]") {
  const auto run = [](std::uint64_t seed) {
    return in_child<LastWork>([seed] {
      Simulation simulation(busy(seed));
      fill(simulation);
      return last_work(simulation, seed);
    });
  };
  const LastWork first = run(1);
  const LastWork again = run(1);
  const LastWork other = run(2);
  CHECK(first.cache.evictions > 0);
  same_work(first, again);
  CHECK(first.statistics == again.statistics);
  CHECK(first.state == again.state);
  CHECK(first.statistics != other.statistics);
  CHECK(first.state != other.state);
  CHECK(first.span != other.span);
}

TEST_CASE("the SCM's capacity as a share of the flash", "[drive]") {
  for (const auto& [share, expected] : {std::pair{"10 %", 0.1}, {"2.5 %", 0.025}, {"0.5x", 0.5}}) {
    INFO(share);
    const Scenario scenario = parse_scenario(
        fmt::format("title: share\nssd:\n  scm: {{capacity: {}}}\n  flash: {{channels: 2, ways: 2, "
                    "user_capacity: 1 GiB, over_provisioning: 25 %}}\nload: {{rw: read}}\n",
                    share),
        "s.yaml", scenario_catalogue());
    const SsdConfig config = SsdConfig::from(scenario);
    const auto flash = static_cast<double>(config.geometry().bytes());
    CHECK(flash >= 1.25 * static_cast<double>(1_GiB));
    CHECK(static_cast<double>(config.scm->capacity) <= expected * flash);
    CHECK(static_cast<double>(config.scm->capacity) > expected * flash - static_cast<double>(64_KiB));
    CHECK(config.scm->capacity % 4096 == 0);
    CHECK(config.shape().scm_bytes == config.scm->capacity);
  }
}

}  // namespace tlmssd::drive_tests
