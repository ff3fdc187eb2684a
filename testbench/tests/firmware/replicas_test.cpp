// Replicas: read while the die of the original writes, never old, gone when they have to be.
#include "firmware/features/replicas/replicas.h"

#include "models/base/input_error.h"
#include "testbench/tests/firmware/feature_rig.h"

using namespace tlmssd;
using namespace tlmssd::firmware;
using namespace tlmssd::firmware::testing;

namespace {

constexpr std::uint64_t k_written_units = 200;

struct ReplicaOptions {
  std::int64_t reads = 2;
  Bytes capacity = Bytes{32} * 4096;
  std::string ecc = "none";
  std::uint32_t channels = 2;
};

struct ReplicaRig : FeatureRig<Replicas> {
  explicit ReplicaRig(const ReplicaOptions& how = {})
      : FeatureRig([&](FeatureSetup& setup) {
          setup.shape.geometry = {how.channels, 1, 1, 1, 16, 8, 16384, 0};
          setup.shape.logical_blocks = k_written_units * k_unit;
          setup.config.ecc.policy = how.ecc;
          choose(setup.config, "firmware.replicas", "hot-reads",
                 {{"list", whole(1 << 20)},
                  {"reads", whole(how.reads)},
                  {"capacity", whole(static_cast<std::int64_t>(how.capacity))}});
        }) {}
  void fill() { write_units(0, k_written_units); }
  void read_some(std::uint64_t units, int times) {
    read_each(units, times);
    host.let_end();
  }
  /// Reads units while now one die, now the other writes elsewhere.
  void read_beside_writes(std::uint64_t units) {
    for (std::uint64_t unit = 0; unit < units; ++unit) {
      if (unit % 3 == 0) host.write((100 + host.random.below(100)) * k_unit, k_unit);
      host.read(unit * k_unit, k_unit);
      host.wait_below(3);
    }
    host.wait_below(1);
  }
};

}  // namespace

TEST_CASE("what is read often gets a copy on another die, once, and nothing else does") {
  ReplicaRig rig;
  rig.fill();
  rig.read_some(40, 1);
  CHECK(rig.counters().units_copied == 0);
  std::map<Lpn, DieId> dies;  // by unit number
  rig.hw.flash.watch = [&](const FlashOp& op) {
    for (std::uint32_t n = 0; op.command == FlashCommand::program && n < op.slots; ++n)
      dies[op.spare[n]] = op.die;
  };
  rig.read_some(24, 1);
  // Three program units of 8, or two and a rest that waits for others.
  CHECK(rig.counters().units_copied >= 8);
  CHECK(rig.counters().units_copied <= 24);
  CHECK(dies.size() == rig.counters().units_copied);
  for (const auto& [number, die] : dies) CHECK(number >= k_written_units);
  const auto copied = rig.counters().units_copied;
  rig.read_some(8, 5);
  CHECK(rig.counters().units_copied <= copied + 16);
  CHECK(rig.stats().host_units_written == k_written_units);
  CHECK(rig.stats().units_programmed[static_cast<std::size_t>(Purpose::host)] == k_written_units);
  rig.hw.flash.watch = nullptr;
  rig.host.verify_all();
}

TEST_CASE("a read whose die writes goes to the copy, and holds what was written last") {
  ReplicaRig rig({.capacity = Bytes{64} * 4096});
  rig.fill();
  rig.read_some(64, 3);
  REQUIRE(rig.counters().units_copied >= 32);
  const auto idle = rig.counters().reads_of_copies;
  rig.read_some(64, 1);
  CHECK(rig.counters().reads_of_copies == idle);  // nothing was in the way
  rig.read_beside_writes(64);
  CHECK(rig.counters().conflicts > 0);
  CHECK(rig.counters().reads_of_copies > idle);
  CHECK(rig.counters().reads_of_copies <= rig.counters().conflicts_with_copy);
  CHECK(rig.counters().rewritten == 0);
  // Rewritten data have no copy any more.
  const auto before = rig.counters().reads_of_copies;
  for (std::uint64_t unit = 0; unit < 64; ++unit) {
    rig.host.write(unit * k_unit + 1, 2);
    rig.host.wait_below(8);
  }
  rig.host.drain();
  CHECK(rig.counters().rewritten > 0);
  rig.read_beside_writes(64);
  CHECK(rig.counters().reads_of_copies == before);
  rig.host.drain();
  rig.host.verify_all();
}

TEST_CASE("copies are gone with their data, and forgotten when power fails") {
  ReplicaRig rig;
  rig.fill();
  rig.read_some(32, 3);
  const auto copied = rig.counters().units_copied;
  REQUIRE(copied >= 16);
  rig.host.trim({{0, 16 * k_unit}});
  rig.host.wait_below(1);
  CHECK(rig.counters().rewritten > 0);
  rig.host.drain();
  rig.host.let_end();
  rig.ftl.power_cycle();
  const auto before = rig.counters().reads_of_copies;
  rig.read_beside_writes(32);
  rig.host.drain();
  CHECK(rig.counters().reads_of_copies == before);
  rig.host.verify_all();
}

TEST_CASE("the copy used longest ago makes room for another") {
  ReplicaRig rig({.capacity = Bytes{16} * 4096});
  rig.fill();
  rig.read_some(100, 4);
  CHECK(rig.counters().displaced > 20);
  rig.read_beside_writes(100);
  rig.host.drain();
  rig.host.verify_all();
}

TEST_CASE("a copy that cannot be decoded is no loss: the original is read") {
  ReplicaRig rig({.capacity = Bytes{64} * 4096, .ecc = "fixed"});
  rig.fill();
  rig.read_some(64, 3);
  REQUIRE(rig.counters().units_copied >= 32);
  const auto before = rig.counters().reads_of_copies;
  rig.hw.flash.fails = [&](const FlashOp& op) {
    return op.command == FlashCommand::read && op.slots == 1 && op.spare[0] >= k_written_units &&
           op.spare[0] != k_no_unit;
  };
  rig.read_beside_writes(64);
  CHECK(rig.stats().lost_reads > 0);
  CHECK(rig.counters().reads_of_copies == before);
  CHECK(rig.host.media_errors == 0);
  rig.host.verify_all();
}

TEST_CASE("copies go on from a snapshot as if nothing had been") {
  std::uint64_t served = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto work = [seed](ReplicaRig& rig, const char* stream) {
      rig.host.random = RandomStream(seed, stream);
      for (int n = 0; n < 1000; ++n) {
        const std::uint64_t unit =
            rig.host.random.below(rig.host.random.below(2) == 0 ? k_written_units : 30);
        if (rig.host.random.below(3) == 0) {
          rig.host.write((30 + rig.host.random.below(k_written_units - 30)) * k_unit, k_unit);
        } else {
          rig.host.read(unit * k_unit, k_unit);
        }
        rig.host.wait_below(4);
      }
      rig.host.drain();
    };
    ReplicaRig straight;
    straight.fill();
    work(straight, "before");
    ReplicaRig restored;
    restore(straight, restored);
    work(straight, "after");
    work(restored, "after");
    CHECK(straight.hw.event_queue.now() == restored.hw.event_queue.now());
    CHECK((saved(straight.ftl) == saved(restored.ftl)));
    served += restored.counters().reads_of_copies;
  }
  CHECK(served > 100);
}

TEST_CASE("copies that cannot be say so in one line") {
  CHECK_THROWS_WITH(ReplicaRig({.capacity = Bytes{1} << 30U}),
                    Catch::Contains("firmware.replicas.capacity: 1073741824 B of copies do not fit") &&
                        Catch::Contains("nearest valid: "));
  CHECK_THROWS_WITH(ReplicaRig({.channels = 1}), Catch::Contains("firmware.replicas.policy") &&
                                                     Catch::Contains("one die") &&
                                                     Catch::Contains("nearest valid: none"));
  CHECK_THROWS_WITH(ReplicaRig({.capacity = Bytes{15} * 4096}),
                    Catch::Contains("firmware.replicas.capacity: 61440 B are less") &&
                        Catch::Contains("nearest valid: 65536 B"));
  CHECK_THROWS_WITH(ReplicaRig({.capacity = Bytes{32} * 4096 + 1}),
                    Catch::Contains("firmware.replicas.capacity: 131073 B are no whole mapping pages") &&
                        Catch::Contains("nearest valid: 135168 B"));
  ReplicaRig rig;
  rig.config.mapping.scheme = "dftl";
  CHECK_THROWS_WITH(Ftl(rig.hw.ports, rig.shape, rig.config),
                    Catch::Contains("firmware.mapping.scheme is dftl"));
  rig.config.mapping.scheme = "page";
  rig.config.allocation.stripe = "C";
  CHECK_THROWS_WITH(Ftl(rig.hw.ports, rig.shape, rig.config), Catch::Contains("firmware.allocation.stripe"));
}
