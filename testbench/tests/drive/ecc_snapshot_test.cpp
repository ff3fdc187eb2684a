// A drive with errors, age and any ECC policy, saved and restored into a drive newly made, goes on
// as the one that was saved; and one without error correction does not notice that there are
// decoders.
#include <systemc>

#include <catch2/catch.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "firmware/ecc/ecc_policy.h"
#include "models/base/memory_archive.h"
#include "testbench/tests/drive/errors.h"
#include "testbench/tests/drive/latency_parts.h"
#include "testbench/tests/drive/mixed_load.h"

namespace tlmssd::drive_tests {
namespace {

/// What the second half of a drive's life comes to.
struct Half {
  firmware::FtlStatistics statistics;
  Picoseconds time = 0;
  std::uint64_t digest = 0xCBF29CE484222325U;  ///< of all completions: instants, states, ledgers
  std::uint64_t media_errors = 0;
  std::int64_t clock = 0;       ///< of retention, at the start
  std::uint64_t refreshes = 0;  ///< while it rests, of which the statistics of a run know nothing
};

void mix(std::uint64_t& digest, std::uint64_t value) {
  digest = (digest ^ value) * 0x100000001B3U;
}

void run_mix(Simulation& simulation, std::uint64_t seed) {
  std::vector<Load> loads = one(
      mixed_load({.requests = 2500, .depth = 8, .hot_blocks = 1'000'000'000}, simulation.drive_size(), seed));
  Measurement measurement({"mixed"});
  simulation.run(loads, measurement);
  simulation.drain();
}

void first_half(Simulation& simulation) {
  simulation.wear({.cycles = 1500});
  run_untimed(simulation, {.rw = "write", .bs = 32_KiB});
  run_untimed(simulation, {.rw = "randwrite", .bs = 4096, .amount = simulation.drive_size().bytes / 2});
  simulation.rest({.retention = 45 * k_day, .powered = true, .reads = 20});
  run_mix(simulation, 1);
}

Half second_half(Simulation& simulation) {
  Half half;
  const Picoseconds start = simulation.ssd().event_queue().now();
  half.clock = simulation.ssd().flash().retention_clock().at(start);
  simulation.driver().set_completion_hook([&](const Completed& command) {
    half.media_errors += command.status == HostStatus::media_error ? 1 : 0;
    mix(half.digest, static_cast<std::uint64_t>(command.completed - start));
    mix(half.digest, static_cast<std::uint64_t>(command.status));
    for (std::size_t c = 0; c < k_causes; ++c)
      mix(half.digest, static_cast<std::uint64_t>(command.ledger->spent(static_cast<Cause>(c))));
  });
  const auto rest = [&](const AgeConfig& age) {
    const std::uint64_t before = simulation.ssd().ftl().statistics().feature_moves();
    simulation.rest(age);
    half.refreshes += simulation.ssd().ftl().statistics().feature_moves() - before;
  };
  rest({.retention = 40 * k_day, .powered = false, .reads = 20});
  run_mix(simulation, 2);
  rest({.retention = 40 * k_day, .powered = true});
  run_mix(simulation, 3);
  simulation.driver().set_completion_hook(nullptr);
  half.statistics = simulation.ssd().ftl().statistics();
  half.time = simulation.ssd().event_queue().now() - start;
  return half;
}

/// A file that goes when the test does.
struct File {
  std::string path =
      (std::filesystem::temp_directory_path() / ("tlmssd_ecc_" + std::to_string(getpid()))).string();
  ~File() { std::remove(path.c_str()); }
};

void save(Simulation& simulation, const std::string& path) {
  MemoryArchive archive;
  simulation.archive(archive);
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(archive.content().data()),
             static_cast<std::streamsize>(archive.content().size()));
}

void restore(Simulation& simulation, const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<std::uint8_t> bytes((std::istreambuf_iterator<char>(file)), {});
  REQUIRE_FALSE(bytes.empty());
  MemoryArchive archive(std::move(bytes));
  simulation.archive(archive);
  REQUIRE(archive.at_end());
}

void check_same(const Half& one, const Half& other) {
  CHECK(one.time == other.time);
  CHECK(one.digest == other.digest);
  CHECK(one.media_errors == other.media_errors);
  CHECK(one.statistics.retries == other.statistics.retries);
  CHECK(one.statistics.lost_reads == other.statistics.lost_reads);
  CHECK(one.refreshes == other.refreshes);
  CHECK(std::memcmp(&one.statistics, &other.statistics, sizeof one.statistics) == 0);
}

}  // namespace

TEMPLATE_TEST_CASE_SIG("a drive with errors goes on from a snapshot as if nothing had been", "[drive]",
                       ((int Policy), Policy), 0, 1, 2, 3, 4) {
  SsdConfig config = drive("pcie3x4", 4096);
  const auto policies = firmware::ecc_family().infos();
  REQUIRE(policies.size() == 4);
  config.firmware.ecc.policy = policies[Policy == 4 ? 1 : Policy].name;
  config.reliability = Policy == 3 ? "table" : "power-law";
  for (CodeConfig& code : config.ecc.codes) {
    code.correctable = 52;
    code.waterfall = 0.05;
  }
  // The last case is the second policy once more, at the point of changing over.
  const Given parameters =
      Policy == 4 ? Given({{"switch_at", Value(25.0)}, {"window", whole(70)}})
                  : Given({{"remember", Value(true)}, {"window", whole(700)}, {"steps", whole(9)}});
  config.firmware.ecc_policy = borrowed(parameters);
  choose(config.firmware, "firmware.refresh", "limits",
         {{"retention", Value(30 * k_day)}, {"reads", whole(600)}, {"patrol", Value(5 * k_day)}});
  const File file;
  const Half straight = in_child<Half>([&] {
    Simulation simulation(config);
    first_half(simulation);
    save(simulation, file.path);
    return second_half(simulation);
  });
  Simulation simulation(config);
  restore(simulation, file.path);
  const Half restored = second_half(simulation);
  INFO(config.firmware.ecc.policy);
  CHECK(straight.statistics.retried_reads > 20);
  CHECK((straight.refreshes > 0) == has_feature("firmware.refresh"));
  CHECK(straight.clock == restored.clock);
  check_same(straight, restored);
}

TEST_CASE("a drive without error correction does not notice its decoders", "[drive]") {
  SsdConfig config = drive("pcie3x4", 4096);
  const auto life = [](const SsdConfig& drive) {
    Simulation simulation(drive);
    first_half(simulation);
    return second_half(simulation);
  };
  const Half plain = in_child<Half>([&] { return life(config); });
  config.ecc.engines = 1;
  config.ecc.frame = 512;
  for (CodeConfig& code : config.ecc.codes) code.throughput = 1'000'000;
  config.retention.temperature = 90;
  config.errors.dispersion = 0.1;
  const Half other = life(config);
  check_same(plain, other);
  CHECK(plain.statistics.retried_reads == 0);
}

TEST_CASE("decoders that take no time and find no errors change nothing", "[drive]") {
  SsdConfig config = drive("pcie3x4", 4096);
  const auto life = [](const SsdConfig& drive) {
    Simulation simulation(drive);
    first_half(simulation);
    return second_half(simulation);
  };
  const Half plain = in_child<Half>([&] { return life(config); });
  config.firmware.ecc.policy = "fixed";
  config.ecc.engines = 1024;
  for (CodeConfig& code : config.ecc.codes) code.throughput = 1'000'000'000'000;  // a nanosecond for a frame
  const Half other = life(config);
  CHECK(other.media_errors == 0);
  CHECK(other.statistics.decoded_bits > 0);
  // A nanosecond now and then, so the two do not go the same way to the last byte, but nearly.
  CHECK(static_cast<double>(other.time) == Approx(static_cast<double>(plain.time)).epsilon(0.03));
}

}  // namespace tlmssd::drive_tests
