// Accesses without payloads: the same ends, counts and wear as with them; not granted where
// something has to see payloads.
#include <catch2/catch.hpp>
#include <optional>
#include <stdexcept>
#include <vector>

#include "models/base/random.h"
#include "testbench/tests/memory/memory_rig.h"

namespace tlmssd {
namespace {

using namespace literals;

struct Transfer {
  Picoseconds start, end;
  Bytes bytes;
  bool write;
  bool operator==(const Transfer&) const = default;
};

struct Recorder : MemoryObserver {
  std::vector<Transfer> seen;
  void occupied(Picoseconds start, Picoseconds end, Bytes bytes, bool write) override {
    seen.push_back({start, end, bytes, write});
  }
};

DramConfig random_dram(RandomStream& random) {
  DramConfig config;
  config.capacity = 1_MiB;
  config.bandwidth = 400'000'000 + random.below(6'000'000'000);
  config.latency = static_cast<Picoseconds>(random.below(200'000));
  return config;
}

ScmConfig random_scm(RandomStream& random) {
  ScmConfig config;
  config.capacity = 1_MiB;
  config.wear_region = 4096;
  config.banks = static_cast<std::uint32_t>(1 + random.below(12));
  config.read_latency = static_cast<Picoseconds>(random.below(300'000));
  config.program_latency = static_cast<Picoseconds>(random.below(900'000));
  return config;
}

/// Two masters, the bus, DRAM and SCM; `checked`: a protocol checker wherever sockets meet.
struct Side : sc_core::sc_module {
  Side(const sc_core::sc_module_name& name, std::uint64_t seed, bool checked)
      : sc_core::sc_module(name),
        random(seed, "accesses"),
        process("process", event_queue),
        bus("bus", SystemBusConfig{.width = 64, .clock = 400_MHz}, event_queue, 2),
        dram("dram", random_dram(random), event_queue),
        scm("scm", random_scm(random), event_queue),
        first("first", event_queue),
        second("second", event_queue) {
    bind(first.client.socket, bus.master_tsock(0), checked);
    bind(second.client.socket, bus.master_tsock(1), checked);
    bind(bus.add_memory("dram_isock", k_dram_base, dram.capacity()), dram.bus_tsock, checked);
    bind(bus.add_memory("scm_isock", k_scm_base, scm.capacity()), scm.bus_tsock, checked);
    bus.set_observer(&bus_seen);
    dram.set_observer(&dram_seen);
    scm.set_observer(&scm_seen);
    event_queue.at(1_us, &access, this);
  }
  void bind(tlm::tlm_initiator_socket<>& initiator, tlm::tlm_target_socket<>& target, bool checked) {
    if (!checked) {
      initiator.bind(target);
    } else {
      bind_checked(checkers, initiator, target);
    }
  }
  /// One to three at this instant, then again a little later.
  static void access(void* self) {
    auto& side = *static_cast<Side*>(self);
    RandomStream& random = side.random;
    for (std::uint64_t n = 1 + random.below(3); n > 0; --n) {
      MemoryClient& client = random.below(2) == 0 ? side.first.client : side.second.client;
      const std::uint64_t base = random.below(3) == 0 ? k_scm_base : k_dram_base;
      const Bytes bytes = 1 + random.below(random.below(2) == 0 ? 600 : 20'000);
      const std::uint64_t address = base + random.below(1_MiB - bytes + 1);
      const bool write = random.below(2) == 0;
      // What takes no time wears the SCM, and changes no other access.
      if (random.below(8) == 0) {
        client.access_untimed(address, bytes, write);
        ++side.untimed;
      }
      side.ends.push_back(client.access(address, bytes, write, nullptr, nullptr));
    }
    if (side.ends.size() < 20'000)
      side.event_queue.at(side.event_queue.now() + static_cast<Picoseconds>(random.below(3'000'000)), &access,
                          self);
  }
  [[nodiscard]] std::uint64_t payloads() const {
    std::uint64_t all = 0;
    for (const auto& checker : checkers) all += checker->transactions();
    return all;
  }

  EventQueue event_queue;
  RandomStream random;
  EventQueueProcess process;
  SystemBus bus;
  Dram dram;
  Scm scm;
  MasterModule first;
  MasterModule second;
  std::vector<std::unique_ptr<ProtocolChecker>> checkers;
  Recorder bus_seen, dram_seen, scm_seen;
  std::vector<Picoseconds> ends;
  std::uint64_t untimed = 0;
};

bool equal(const MemoryCounters& a, const MemoryCounters& b) {
  return a.busy == b.busy && a.waiting == b.waiting && a.reads == b.reads && a.writes == b.writes &&
         a.read_bytes == b.read_bytes && a.written_bytes == b.written_bytes;
}

TEST_CASE("accesses without payloads end when those with payloads do, and count and wear alike") {
  std::vector<std::unique_ptr<Side>> sides;
  constexpr unsigned k_seeds = 6;
  for (unsigned seed = 0; seed < k_seeds; ++seed) {
    for (const bool checked : {false, true}) {
      const std::string name = (checked ? "checked_" : "direct_") + std::to_string(seed);
      sides.push_back(std::make_unique<Side>(name.c_str(), seed, checked));
    }
  }
  sc_core::sc_start();
  for (unsigned seed = 0; seed < k_seeds; ++seed) {
    INFO("seed " << seed);
    Side& direct = *sides[2 * seed];
    Side& checked = *sides[2 * seed + 1];
    CHECK(direct.first.client.socket.direct() != nullptr);
    CHECK(checked.first.client.socket.direct() == nullptr);
    REQUIRE(direct.ends.size() >= 20'000);
    CHECK(direct.ends == checked.ends);
    CHECK(checked.payloads() == 2 * (checked.ends.size() + checked.untimed));
    CHECK(equal(direct.bus.counters(), checked.bus.counters()));
    CHECK(equal(direct.dram.counters(), checked.dram.counters()));
    CHECK(equal(direct.scm.counters(), checked.scm.counters()));
    CHECK(direct.scm.wear() == checked.scm.wear());
    CHECK(direct.bus_seen.seen == checked.bus_seen.seen);
    CHECK(direct.dram_seen.seen == checked.dram_seen.seen);
    CHECK(direct.scm_seen.seen == checked.scm_seen.seen);
  }
}

/// A master, the bus and a DRAM, and, if there is one, a memory that answers late.
struct SmallRig {
  explicit SmallRig(bool with_late, bool storage = false)
      : process("process", event_queue),
        bus("bus", SystemBusConfig{}, event_queue, 1),
        dram("dram", dram_config(storage), event_queue),
        master("master", event_queue) {
    master.client.socket.bind(bus.master_tsock(0));
    bus.add_memory("dram_isock", k_dram_base, dram.capacity()).bind(dram.bus_tsock);
    if (with_late) {
      late.emplace("late", event_queue, 30_ns, 100_ns);
      bus.add_memory("late_isock", k_late_base, 1_MiB).bind(late->tsock);
    }
  }
  static DramConfig dram_config(bool storage) {
    DramConfig config;
    config.capacity = 1_MiB;
    config.storage = storage;
    return config;
  }
  EventQueue event_queue;
  EventQueueProcess process;
  SystemBus bus;
  Dram dram;
  std::optional<LateMemory> late;
  MasterModule master;
};

TEST_CASE("with one memory that wants payloads all accesses of the bus have them") {
  SmallRig rig(true);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  CHECK(rig.master.client.socket.direct() == nullptr);
}

TEST_CASE("a DRAM that keeps bytes wants payloads") {
  SmallRig rig(false, true);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  CHECK(rig.master.client.socket.direct() == nullptr);
}

TEST_CASE("an access without payload to no memory, past its end or of no bytes is an error that says so") {
  SmallRig rig(false);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  MemoryClient& client = rig.master.client;
  REQUIRE(client.socket.direct() != nullptr);
  const auto says = [&](std::uint64_t address, Bytes bytes, bool untimed = false) -> std::string {
    try {
      if (untimed) {
        client.access_untimed(address, bytes, false);
      } else {
        client.access(address, bytes, false, nullptr, nullptr);
      }
    } catch (const std::logic_error& error) {
      return error.what();
    }
    return "";
  };
  CHECK(says(0, 64).empty());
  CHECK(says(k_late_base, 64) == "memory access of 64 bytes at address " + std::to_string(k_late_base) +
                                     " failed: TLM_ADDRESS_ERROR_RESPONSE");
  CHECK(says(1_MiB - 32, 64) == "memory access of 64 bytes at address " + std::to_string(1_MiB - 32) +
                                    " failed: TLM_ADDRESS_ERROR_RESPONSE");
  CHECK(says(0, 0) == "memory access of 0 bytes");
  CHECK(says(0, MemoryClient::k_longest + 1) ==
        "memory access of " + std::to_string(MemoryClient::k_longest + 1) + " bytes");
  CHECK(says(0, 64, true).empty());
  for (const std::uint64_t address : {k_late_base, 1_MiB - 32})
    CHECK(says(address, 64, true) ==
          "debug access of 64 bytes at address " + std::to_string(address) + " reached no memory");
  CHECK(says(0, 0, true) == "memory access of 0 bytes");
}

}  // namespace
}  // namespace tlmssd
