// Replicas: read while the die of the original writes, never old, gone when they have to be; of
// what is read or blocked often, made at once or in predicted idle time.
#include "firmware/features/replicas/replicas.h"

#include "models/base/input_error.h"
#include "testbench/tests/firmware/feature_rig.h"

using namespace tlmssd;
using namespace tlmssd::firmware;
using namespace tlmssd::firmware::testing;
using namespace tlmssd::literals;

namespace {

constexpr std::uint64_t k_written_units = 200;

struct ReplicaOptions {
  std::int64_t reads = 2;
  Bytes capacity = Bytes{32} * 4096;
  std::string ecc = "none";
  std::uint32_t channels = 2;
  std::string policy = "hot-reads";
  bool idle_only = false;
};

struct ReplicaRig : FeatureRig<Replicas> {
  explicit ReplicaRig(const ReplicaOptions& how = {})
      : FeatureRig([&](FeatureSetup& setup) {
          setup.shape.geometry = {how.channels, 1, 1, 1, 16, 8, 16384, 0};
          setup.shape.logical_blocks = k_written_units * k_unit;
          setup.config.ecc.policy = how.ecc;
          choose(setup.config, "firmware.replicas", how.policy,
                 {{"list", whole(1 << 20)},
                  {"reads", whole(how.reads)},
                  {"capacity", whole(static_cast<std::int64_t>(how.capacity))},
                  {"idle_only", Value(how.idle_only)}});
        }) {}
  void fill() { write_units(0, k_written_units); }
  void read_some(std::uint64_t units, int times) {
    read_each(units, times);
    host.let_end();
  }
  /// Writes to the last units until a die is programming.
  void program_on(std::uint32_t die) {
    while (hw.flash.writing(DieId{die}) == 0) {
      if (host.outstanding < 8) {
        host.write((k_written_units - 40 + next_written_++ % 40) * k_unit, k_unit);
      } else {
        hw.event_queue.run_until(hw.event_queue.next());
      }
    }
  }
  /// The first so many units that lie on a die.
  [[nodiscard]] std::vector<std::uint64_t> units_on(std::uint32_t die, std::size_t count) const {
    std::vector<std::uint64_t> units;
    for (std::uint64_t unit = 0; units.size() < count; ++unit) {
      if (die_of(unit) == die) units.push_back(unit);
    }
    return units;
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

 private:
  std::uint64_t next_written_ = 0;
};

}  // namespace

TEST_CASE("bits that the host got from a copy are bits that it read, and none twice") {
  ReplicaRig rig({.capacity = Bytes{64} * 4096, .ecc = "fixed"});
  std::uint64_t copies = 0;  // that were read; every other one cannot be decoded
  rig.hw.flash.fails = [&](const FlashOp& op) {
    return op.slots == 1 && op.spare[0] >= k_written_units && op.spare[0] != k_no_unit && copies++ % 2 == 0;
  };
  rig.fill();
  rig.read_some(64, 3);
  rig.ftl.reset_statistics();
  copies = 0;
  rig.read_beside_writes(64);
  REQUIRE(copies > 3);
  CHECK(rig.counters().reads_of_copies == copies / 2);
  CHECK(rig.stats().lost_reads == copies - copies / 2);
  CHECK(rig.stats().host_decoded_bits == (64 - rig.stats().buffer_read_hits) * 4096 * 8);
}

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
  // One after another, so that every program of copies has ended before the next could begin: of
  // each die whole program units of 8; the rest waits for others.
  std::uint64_t of_die[2] = {};
  for (std::uint64_t unit = 0; unit < 24; ++unit) {
    rig.read(unit);
    rig.host.let_end();
    ++of_die[rig.die_of(unit)];
  }
  const std::uint64_t copied = of_die[0] / 8 * 8 + of_die[1] / 8 * 8;
  REQUIRE(copied >= 16);
  CHECK(rig.counters().refused == 0);
  CHECK(rig.counters().units_copied == copied);
  CHECK(dies.size() == copied);
  for (const auto& [number, die] : dies) CHECK(number >= k_written_units);
  rig.read_some(24, 5);
  CHECK(rig.counters().units_copied == copied);
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
    const ReplicaOptions how{
        .reads = 1, .policy = seed % 2 == 0 ? "hot-reads" : "blocked-reads", .idle_only = seed % 3 == 0};
    ReplicaRig straight(how);
    straight.fill();
    work(straight, "before");
    ReplicaRig restored(how);
    restore(straight, restored);
    work(straight, "after");
    work(restored, "after");
    CHECK(straight.hw.event_queue.now() == restored.hw.event_queue.now());
    CHECK((saved(straight.ftl) == saved(restored.ftl)));
    served += restored.counters().reads_of_copies;
  }
  CHECK(served > 100);
}

TEST_CASE("a moving average predicts idle time: what is left of it, or as long again as it has lasted") {
  EventQueue time;
  const auto pass = [&](Picoseconds much) { time.run_until(time.now() + much); };
  const double weight = 0.25;
  IdleTime idle(time, 2, weight);
  const DieId die{1};
  CHECK(idle.rest(die) == 0);
  pass(7_us);
  CHECK(idle.rest(die) == 7_us);  // of which nothing is known yet
  double expected = weight * 7e6;
  idle.die_busy(die);
  for (const Picoseconds gap : {100_us, 60_us, 20_us, 200_us, 200_us, 3_us}) {
    CHECK(static_cast<double>(idle.average(die)) == Approx(expected).margin(1));
    pass(11_us);
    CHECK(idle.rest(die) == 0);  // it works
    idle.die_idle(die);
    CHECK(idle.rest(die) == idle.average(die));
    pass(gap);
    CHECK(idle.rest(die) == (gap < idle.average(die) ? idle.average(die) - gap : gap));
    idle.die_busy(die);
    expected = (1 - weight) * expected + weight * static_cast<double>(gap);
  }
  CHECK(static_cast<double>(idle.average(die)) == Approx(expected).margin(1));
  CHECK(idle.average(DieId{0}) == 0);  // dies are told apart
  CHECK(idle.rest(DieId{0}) == time.now());
  CHECK(idle.average() == idle.average(die) / 2);
}

TEST_CASE("what is blocked often gets a copy, however often it is read otherwise") {
  ReplicaRig rig({.reads = 3, .policy = "blocked-reads"});
  rig.fill();
  const std::vector<std::uint64_t> units = rig.units_on(0, 16);  // two program units
  const auto read_all = [&] {
    for (const std::uint64_t unit : units) {
      rig.read(unit);
      rig.host.let_end();
    }
  };
  for (int n = 0; n < 20; ++n) read_all();
  CHECK(rig.counters().conflicts == 0);
  CHECK(rig.counters().units_copied == 0);
  // Blocked twice, no copy yet; at the third time each has one.
  for (std::uint64_t blocked = 1; blocked <= 3; ++blocked) {
    for (const std::uint64_t unit : units) {
      rig.program_on(0);
      rig.read(unit);
    }
    rig.host.drain();
    rig.host.let_end();
    CHECK(rig.counters().conflicts == blocked * units.size());
    read_all();
    CHECK(rig.counters().units_copied == (blocked < 3 ? 0 : units.size()));
  }
  CHECK(rig.counters().programs == 2);
  // A write makes copy and count void.
  for (const std::uint64_t unit : units) rig.host.write(unit * k_unit, k_unit);
  rig.host.drain();
  CHECK(rig.counters().rewritten == units.size());
  for (int n = 0; n < 4; ++n) read_all();
  CHECK(rig.counters().units_copied == units.size());
  rig.host.verify_all();
}

TEST_CASE("copies of drawn data are of the share that was drawn, at the first read") {
  for (const double share : {0.0, 0.1, 0.5, 1.0}) {
    const auto policy =
        make_policy(replica_family(), "firmware.replicas.policy", "drawn-data",
                    std::make_shared<Given>(Given({{"share", Value(share)}})), ReadHotContext{4096});
    double drawn = 0;
    for (Lpn unit = 0; unit < 100'000; ++unit) {
      const bool yes = policy->read(unit);
      CHECK(yes == policy->read(unit));
      drawn += yes ? 1 : 0;
    }
    CHECK(drawn / 100'000 == Approx(share).margin(5 * std::sqrt(share * (1 - share) / 100'000)));
  }
}

TEST_CASE("copies wait for a die that is predicted to stay idle for as long as a program takes") {
  ReplicaRig rig({.reads = 1, .capacity = Bytes{128} * 4096, .idle_only = true});
  rig.fill();
  const Picoseconds program = rig.hw.flash.options.program_time;
  const Picoseconds step = rig.hw.flash.options.read_time + 10_us;  // a read with all that belongs to it
  const auto originals = rig.units_on(0, 60);
  const std::uint64_t other = rig.units_on(1, 1).front();
  Picoseconds idle_from = 0;        // die 1, but for copies
  std::vector<Picoseconds> waited;  // for how long it had been idle when programs of copies began
  rig.hw.flash.watch = [&](const FlashOp& op) {
    if (index(op.die) != 1) return;
    const Picoseconds now = rig.hw.event_queue.now();
    if (op.command == FlashCommand::read) idle_from = now;
    if (op.command == FlashCommand::program && op.spare[0] >= k_written_units)
      waited.push_back(now - program - idle_from);
  };
  std::size_t next = 0;
  const auto read_originals = [&](std::size_t count) {
    for (std::size_t n = 0; n < count; ++n) rig.read(originals[next++]);
  };
  // Short idle times alone: but for the first program unit, of which it is not known how long it
  // takes, nothing is made.
  for (int n = 0; n < 60; ++n) {
    rig.read(other);
    if (n % 3 == 0) {
      read_originals(1);
    } else {
      rig.read(originals[0]);
    }
  }
  CHECK(rig.counters().refused > 0);
  REQUIRE(waited.size() == 1);
  // The die has been idle for as long as a program takes: it will be so for as long again.
  while (waited.size() < 2 && rig.hw.event_queue.now() < idle_from + 100 * program) rig.read(originals[0]);
  REQUIRE(waited.size() == 2);
  CHECK(waited[1] >= program);
  CHECK(waited[1] <= program + step);
  // Idle times are long as a rule: a program unit that is full goes at once.
  for (int n = 0; n < 20; ++n) {
    rig.read(other);
    rig.hw.event_queue.run_until(rig.hw.event_queue.now() + 4 * program);
  }
  rig.read(other);
  read_originals(7);
  rig.read(other);
  read_originals(1);
  rig.host.let_end();
  REQUIRE(waited.size() == 3);
  CHECK(waited[2] <= step);
  CHECK(rig.counters().programs == 3);
  CHECK(rig.counters().programs_in_the_way == 0);
  rig.hw.flash.watch = nullptr;
  rig.host.drain();
  rig.host.verify_all();
}

TEST_CASE("programs of copies that others wait for are counted") {
  ReplicaRig rig({.reads = 1, .capacity = Bytes{128} * 4096});
  rig.fill();
  std::uint64_t programs = 0;
  std::uint64_t in_the_way = 0;
  rig.hw.flash.watch = [&](const FlashOp& op) {
    if (op.command != FlashCommand::program || op.spare[0] < k_written_units) return;
    ++programs;
    if (rig.hw.flash.pending(op.die) > 0) ++in_the_way;
  };
  for (std::uint64_t unit = 0; unit < 150; ++unit) {
    rig.host.read(unit * 37 % 150 * k_unit, k_unit);  // now on the one die, now on the other
    rig.hw.event_queue.run_until(rig.hw.event_queue.now() + 40_us);
  }
  rig.host.let_end();
  CHECK(rig.counters().programs == programs);
  CHECK(rig.counters().programs_in_the_way == in_the_way);
  CHECK(in_the_way > 0);
  CHECK(in_the_way < programs);
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

TEST_CASE("a list remembers as many mapping pages as its size holds") {
  for (const Bytes unit : {Bytes{2048}, Bytes{4096}, Bytes{16384}}) {
    for (const std::uint32_t others : {3U, 4U}) {
      INFO(unit << " B, " << others << " others");
      const auto policy = replica_family().make(
          "hot-reads", Given({{"list", whole(static_cast<std::int64_t>(4 * unit))}, {"reads", whole(2)}}),
          ReadHotContext{unit});
      REQUIRE(policy != nullptr);
      for (Lpn number = 0; number <= others; ++number) CHECK_FALSE(policy->read(number));
      CHECK(policy->read(0) == (others < 4));
    }
  }
}
