// Drives whose cache of map entries lies in the host memory buffer: latencies to the picosecond
// against those with the cache in DRAM, traffic on the link, refusals.
#include <systemc>

#include <catch2/catch.hpp>

#include "models/base/input_error.h"
#include "platform/drive_check.h"
#include "testbench/tests/drive/latency_parts.h"
#include "testbench/tests/drive/mixed_load.h"
#include "testbench/tests/support/given.h"
#include "testbench/tests/support/statistics_of.h"

namespace tlmssd::drive_tests {
namespace {

constexpr Bytes k_cached = 8;  // of an entry in the cache
constexpr std::uint32_t k_lines = 16;

/// The drive of the latency tests with a cache of so many entries.
struct Cached {
  SsdConfig config;
  Given values;
  explicit Cached(const char* place, std::int64_t lines = k_lines, SsdConfig with = drive("pcie3x4", 4096))
      : config(std::move(with)),
        values({{"cache", whole(static_cast<std::int64_t>(k_cached) * lines)},
                {"cache_in", Value(std::string(place))}}) {
    config.host.memory_buffer = 1_MiB;
    config.firmware.mapping.scheme = "dftl";
    config.firmware.mapping_policy = borrowed(values);
  }
  Cached(const Cached&) = delete;
};

Step read_of(std::uint64_t unit) {
  return {HostOpcode::read, unit * 4096, 4096};
}

struct Costs {
  Picoseconds miss;
  Picoseconds hit;
  Picoseconds miss_map;
  Picoseconds hit_map;
};

/// Latencies of a read that misses and of the same one again, with the map page in flash and
/// nothing dirty.
Costs costs(const char* place) {
  Cached cached(place);
  Simulation simulation(cached.config);
  run_untimed(simulation, {.rw = "write", .bs = 64_KiB, .size = 512_KiB});
  std::vector<Step> steps;
  for (std::uint64_t unit = 0; unit < 2 * k_lines; ++unit) steps.push_back(read_of(unit));
  steps.push_back({HostOpcode::flush, 0, 0});
  steps.push_back(read_of(100));
  steps.push_back(read_of(100));
  const std::vector<Seen> seen = run_unloaded(simulation, steps);
  const Seen& miss = seen.at(seen.size() - 2);
  const Seen& hit = seen.back();
  for (const Seen* const one : {&miss, &hit}) {
    if (one->ledger.total() != one->latency) throw std::logic_error("the ledger does not sum up");
  }
  return {miss.latency, hit.latency, miss.ledger.spent(Cause::map_fetch), hit.ledger.spent(Cause::map_fetch)};
}

/// What a run comes to.
struct Outcome {
  Picoseconds ended;
  double wire[2];
  double host_memory[2];
  double payload[2];
  double reads;
  double read_bytes;
  double written_bytes;
  double misses;
  double dirty;
  bool operator==(const Outcome&) const = default;
};

Outcome run_mixed(const char* place, bool timed = true) {
  Cached cached(place, 64);
  Simulation simulation(cached.config);
  run_untimed(simulation, {.rw = "write", .bs = 64_KiB});
  simulation.ssd().reset_statistics();
  if (timed) {
    std::vector<Load> loads = one(mixed_load({.requests = 3000, .depth = 8, .reads = 60, .hot_blocks = 400},
                                             simulation.drive_size(), 3));
    Measurement measurement({"mixed"});
    simulation.run(loads, measurement);
    simulation.drain();
    if (simulation.driver().failed() != 0) throw std::logic_error("a command failed");
  } else {
    run_untimed(simulation, {.rw = "randrw", .amount = 8_MiB});
  }
  const auto numbers = test::statistics_of(simulation.ssd());
  Outcome outcome{};
  outcome.ended = simulation.ssd().event_queue().now();
  const char* const directions[] = {"to device", "to host"};
  for (int d = 0; d < 2; ++d) {
    const std::string link = std::string("host/link/") + directions[d] + "/";
    outcome.wire[d] = numbers.at(link + "wire bytes");
    outcome.host_memory[d] = numbers.at(link + "host memory bytes");
    outcome.payload[d] = numbers.at(link + "payload");
  }
  outcome.reads = numbers.at("host memory/reads");
  outcome.read_bytes = numbers.at("host memory/bytes read");
  outcome.written_bytes = numbers.at("host memory/bytes written");
  for (const auto& [name, value] : numbers) {
    if (name.ends_with("mapping/misses")) outcome.misses = value;
    if (name.ends_with("mapping/dirty evictions")) outcome.dirty = value;
  }
  return outcome;
}

std::string refused(const SsdConfig& config) {
  try {
    check_values(config);
    check_drive(config);
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

}  // namespace

TEST_CASE("unloaded reads with the map's cache in host memory", "[drive]") {
  Cached cached("host", 64);
  Check check(cached.config);
  check.fill(128_KiB);  // pages 0 to 3 of one block on each channel: the cache holds all of their entries
  const auto begin = [&](std::uint32_t units) { return check.parts().fetch().command().translate(units); };
  check.step("one unit", {HostOpcode::read, 4096, 4096},
             begin(1).map_in_host(1).flash(1).sense(k_page0, 1, 1).complete(4096));
  check.step("a whole page", {HostOpcode::read, 16_KiB, 16_KiB},
             begin(4).map_in_host(4).flash(1).sense(k_page0, 0, 4).complete(16_KiB));
  check.step("a write that stays in the buffer", {HostOpcode::write, 4096, 4096},
             check.parts().fetch(4096, true).command().buffer(1).complete());
}

TEST_CASE("unloaded reads behind a slow link with the map's cache in host memory", "[drive]") {
  SsdConfig config = drive("pcie1x1", 4096);
  config.host.memory_latency = 333_ns;
  Cached cached("host", 64, config);
  Check check(cached.config);
  check.fill(128_KiB);
  check.step("one unit", {HostOpcode::read, 4096, 4096},
             check.parts()
                 .fetch()
                 .command()
                 .translate(1)
                 .map_in_host(1)
                 .flash(1)
                 .sense(k_page0, 1, 1)
                 .complete(4096));
}

TEST_CASE("a hit in host memory costs a round trip, a miss the line's time on the controller's bus",
          "[drive]") {
  const Costs host = in_child<Costs>([] { return costs("host"); });
  const Costs dram = in_child<Costs>([] { return costs("dram"); });
  const SsdConfig config = drive("pcie3x4", 4096);
  Parts in_host(config);
  in_host.map_in_host(1);
  Parts in_dram(config);
  in_dram.map(1);
  CHECK(host.hit_map == in_host.of(Cause::map_fetch));
  CHECK(dram.hit_map == in_dram.of(Cause::map_fetch));
  CHECK(host.hit - dram.hit == in_host.total() - in_dram.total());
  CHECK(dram.miss_map > 50_us);  // a read of flash
  // The line that is written there goes over the controller's bus just before the entry is looked
  // at.
  const Picoseconds on_bus = transfer_time(k_cached, config.bus.bandwidth());
  CHECK(on_bus < 1_ns);
  CHECK(host.miss_map - dram.miss_map == on_bus);
  CHECK(host.miss - dram.miss == on_bus);
}

TEST_CASE("the link carries what the host memory buffer moves, beside what it carried before", "[drive]") {
  const Outcome host = in_child<Outcome>([] { return run_mixed("host"); });
  const Outcome dram = in_child<Outcome>([] { return run_mixed("dram"); });
  CHECK(host.misses > 100);
  CHECK(host.dirty > 50);
  CHECK(host.reads > 1000);
  for (int d = 0; d < 2; ++d) {
    CHECK(dram.host_memory[d] == 0);
    CHECK(host.host_memory[d] > 0);
    CHECK(host.payload[d] == dram.payload[d]);
    CHECK(host.wire[d] - host.host_memory[d] == dram.wire[d]);
  }
  CHECK(dram.reads == 0);
  CHECK(dram.written_bytes == 0);
  // Every access is at most one packet of completion, request or write.
  CHECK(host.host_memory[0] == host.read_bytes + 22 * host.reads);
  CHECK(host.written_bytes >= k_cached * host.misses);
}

TEST_CASE("drives with a host memory buffer: same seed, same run", "[drive]") {
  const Outcome first = in_child<Outcome>([] { return run_mixed("host"); });
  const Outcome second = in_child<Outcome>([] { return run_mixed("host"); });
  CHECK(first == second);
}

TEST_CASE("what takes no time moves nothing in the host memory buffer", "[drive]") {
  const Outcome untimed = in_child<Outcome>([] { return run_mixed("host", false); });
  CHECK(untimed.misses > 100);
  CHECK(untimed.reads == 0);
  CHECK(untimed.written_bytes == 0);
  CHECK(untimed.host_memory[0] == 0);
  CHECK(untimed.host_memory[1] == 0);
}

TEST_CASE("base protocol on every socket: a host memory buffer", "[drive]") {
  Cached cached("host", 64);
  cached.config.check_protocol = true;
  Simulation simulation(cached.config);
  run_untimed(simulation, {.rw = "write", .bs = 64_KiB});
  std::vector<Load> loads = one(mixed_load({.requests = 3000, .depth = 12}, simulation.drive_size(), 1));
  Measurement measurement({"mixed"});
  simulation.run(loads, measurement);
  simulation.drain();
  CHECK_NOTHROW(simulation.ssd().finish_checks());
  CHECK(simulation.ssd().silent_sockets() == std::vector<std::string>{});
}

TEST_CASE("a drive without a host memory buffer says nothing of one", "[drive]") {
  Simulation simulation(drive("pcie3x4", 4096));
  for (const auto& [name, value] : test::statistics_of(simulation.ssd())) {
    INFO(name);
    CHECK(name.find("host memory") == std::string::npos);
  }
}

TEST_CASE("a cache that the host memory buffer does not hold is refused", "[drive]") {
  using Catch::Contains;
  Cached cached("host", 1024);
  cached.config.host.memory_buffer = 8_KiB;
  CHECK(refused(cached.config).empty());
  cached.config.host.memory_buffer = 8_KiB - 1;
  CHECK_THAT(refused(cached.config), Contains("ssd.host.memory_buffer") && Contains("8 KiB"));
  cached.config.host.memory_buffer = 0;
  CHECK_THAT(refused(cached.config), Contains("ssd.host.memory_buffer") && Contains("0 B do not hold"));
  cached.config.host.protocol = "sata";
  cached.config.host.link = "sata6";
  CHECK_THAT(refused(cached.config), Contains("firmware.mapping.cache_in") && Contains("SATA"));
  cached.config.host.memory_buffer = 1_MiB;
  CHECK_THAT(refused(cached.config), Contains("ssd.host.memory_buffer") && Contains("sata"));
}

}  // namespace tlmssd::drive_tests
