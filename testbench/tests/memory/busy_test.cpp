// Busy time of memories and bus: what is booked counts in the window in which it happens.
#include <algorithm>
#include <catch2/catch.hpp>

#include "models/base/random.h"
#include "testbench/tests/memory/memory_rig.h"
#include "testbench/tests/support/statistics_of.h"

namespace tlmssd {
namespace {

using namespace literals;

constexpr Bytes k_write = 256_KiB;
constexpr BytesPerSecond k_slow = 100_MBps;

double utilisation(const auto& module, const char* group, const char* of = "") {
  return test::statistics_of(module).at(std::string(group) + "/" + of + "utilisation");
}
double share(Picoseconds busy, Picoseconds span) {
  return static_cast<double>(busy) / static_cast<double>(span);
}

/// A write of 256 KiB to each memory at 1 us, a report and a reset at 1 ms and a report at 10 ms.
struct WriteEach {
  WriteEach(const DramConfig& on_dram, const ScmConfig& on_scm, const SystemBusConfig& on_bus)
      : rig(on_dram, on_scm, on_bus) {
    rig.event_queue.at(
        1_us,
        [](void* self) {
          MemoryClient& client = static_cast<WriteEach*>(self)->rig.first.client;
          client.access(k_dram_base, k_write, true, nullptr, nullptr);
          client.access(k_scm_base, k_write, true, nullptr, nullptr);
        },
        this);
    rig.event_queue.at(
        1_ms,
        [](void* self) {
          static_cast<WriteEach*>(self)->look(0);
          static_cast<WriteEach*>(self)->reset();
        },
        this);
    rig.event_queue.at(
        10_ms, [](void* self) { static_cast<WriteEach*>(self)->look(1); }, this);
    rig.run();
  }
  void look(std::size_t window) {
    dram[window] = utilisation(rig.dram, "dram");
    scm[window] = utilisation(rig.scm, "scm");
    banks[window] = utilisation(rig.scm, "scm", "banks ");
    bus[window] = utilisation(rig.bus, "bus");
  }
  void reset() {
    rig.dram.reset_statistics();
    rig.scm.reset_statistics();
    rig.bus.reset_statistics();
  }
  MemoryRig rig;
  double dram[2] = {};
  double scm[2] = {};
  double banks[2] = {};
  double bus[2] = {};
};

TEST_CASE("of a write to slow banks of an SCM a window has what happens in it") {
  ScmConfig scm;
  scm.program_latency = 50_us;
  const SystemBusConfig bus;
  const WriteEach seen({}, scm, bus);
  const Picoseconds on_banks = static_cast<Picoseconds>(k_write / 512 / scm.banks) * 50_us;
  REQUIRE(on_banks > 1_ms);
  const Picoseconds start = 1_us + bus.latency + transfer_time(k_write, bus.bandwidth());
  CHECK(seen.banks[0] == Approx(share(1_ms - start, 1_ms)).epsilon(1e-12));
  CHECK(seen.banks[1] == Approx(share(start + on_banks - 1_ms, 9_ms)).epsilon(1e-12));
  CHECK(seen.scm[0] < 0.1);
}

TEST_CASE("of a write to a slow DRAM or SCM a window has what happens in it") {
  DramConfig dram;
  dram.bandwidth = k_slow;
  ScmConfig scm;
  scm.bandwidth = k_slow;
  const SystemBusConfig bus;
  const WriteEach seen(dram, scm, bus);
  const Picoseconds on_memory = transfer_time(k_write, k_slow);
  const Picoseconds on_bus = transfer_time(k_write, bus.bandwidth());
  REQUIRE(on_memory > 2_ms);
  const Picoseconds dram_start = 1_us + bus.latency;
  const Picoseconds scm_start = dram_start + on_bus;
  CHECK(seen.dram[0] == share(1_ms - dram_start, 1_ms));
  CHECK(seen.scm[0] == share(1_ms - scm_start, 1_ms));
  CHECK(seen.bus[0] == share(2 * on_bus, 1_ms));
  CHECK(seen.dram[1] == share(dram_start + on_memory - 1_ms, 9_ms));
  CHECK(seen.scm[1] == share(scm_start + on_memory - 1_ms, 9_ms));
  CHECK(seen.bus[1] == 0);
}

TEST_CASE("of writes over a slow bus a window has what happens in it") {
  SystemBusConfig bus;
  bus.width = 8;
  bus.clock = 100_MHz;
  REQUIRE(bus.bandwidth() == k_slow);
  const WriteEach seen({}, {}, bus);
  CHECK(seen.bus[0] == share(1_ms - 1_us, 1_ms));
  CHECK(seen.bus[1] == share(1_us + 2 * transfer_time(k_write, k_slow) - 1_ms, 9_ms));
}

/// Every booking, and how much of them lies in a window.
struct Bookings final : MemoryObserver {
  std::vector<std::pair<Picoseconds, Picoseconds>> spans;
  Picoseconds longest = 0;
  void occupied(Picoseconds start, Picoseconds end, Bytes /*bytes*/, bool /*write*/) override {
    spans.emplace_back(start, end);
    longest = std::max(longest, end - start);
  }
  [[nodiscard]] Picoseconds within(Picoseconds from, Picoseconds to) const {
    Picoseconds sum = 0;
    for (const auto& [start, end] : spans)
      sum += std::max<Picoseconds>(std::min(end, to) - std::max(start, from), 0);
    return sum;
  }
};

/// Accesses of many lengths in bursts, cut into windows anywhere. The bus is exact; a DRAM is wrong
/// by at most `tolerance` at either edge of a window, by the model's own words: the bus's latency
/// where the DRAM is the slower of the two (it rests until its first data come), else one access.
struct Windows {
  explicit Windows(BytesPerSecond bandwidth) : rig(config_of(bandwidth)) {
    rig.dram.set_feed(SystemBusConfig{}.bandwidth());
    rig.dram.set_observer(&on_dram);
    rig.bus.set_observer(&on_bus);
    Picoseconds now = 0;
    for (int i = 0; i < 400; ++i) {
      now += static_cast<Picoseconds>(random.below(i % 50 == 0 ? 50'000'000 : 2'000'000));
      rig.event_queue.at(
          now, [](void* self) { static_cast<Windows*>(self)->access(); }, this);
      if (i % 7 == 6)
        rig.event_queue.at(
            now + 1, [](void* self) { static_cast<Windows*>(self)->cut(); }, this);
    }
    rig.run();
  }
  static DramConfig config_of(BytesPerSecond bandwidth) {
    DramConfig config;
    config.bandwidth = bandwidth;
    return config;
  }
  void access() { rig.first.client.access(k_dram_base, 64 + random.below(32'768), true, nullptr, nullptr); }
  void cut() {
    edges.push_back(rig.event_queue.now());
    dram.push_back(test::statistics_of(rig.dram).at("dram/busy"));
    bus.push_back(test::statistics_of(rig.bus).at("bus/busy"));
    rig.dram.reset_statistics();
    rig.bus.reset_statistics();
  }
  void check(Picoseconds tolerance) const {
    Picoseconds before = 0;
    std::size_t booked_beyond = 0;
    for (std::size_t i = 0; i < edges.size(); ++i) {
      CHECK(bus[i] == Approx(static_cast<double>(on_bus.within(before, edges[i])) * 1e-12).margin(1e-15));
      CHECK(dram[i] == Approx(static_cast<double>(on_dram.within(before, edges[i])) * 1e-12)
                           .margin(static_cast<double>(2 * tolerance) * 1e-12));
      for (const auto& [start, end] : on_dram.spans) booked_beyond += start < edges[i] && end > edges[i];
      before = edges[i];
    }
    CHECK(booked_beyond > 10);  // there was something to see
  }
  MemoryRig rig;
  RandomStream random{1, "windows"};
  Bookings on_dram;
  Bookings on_bus;
  std::vector<Picoseconds> edges;
  std::vector<double> dram;
  std::vector<double> bus;
};

TEST_CASE("windows over a DRAM that is slower than the bus have what happens in them") {
  Windows(6'400'000'000).check(SystemBusConfig{}.latency);
}

TEST_CASE("windows over a DRAM that is faster than the bus have what happens in them but for an access") {
  const Windows windows(25'600'000'000);
  windows.check(windows.on_dram.longest);
}

}  // namespace
}  // namespace tlmssd
