// Read dies: what is only read goes there, once, what is written goes elsewhere, and
// all of the capacity can be used.
#include "firmware/features/partition/partition.h"

#include <cmath>
#include <map>

#include "models/base/input_error.h"
#include "testbench/tests/firmware/feature_rig.h"

using namespace tlmssd;
using namespace tlmssd::firmware;
using namespace tlmssd::firmware::testing;

namespace {

struct PartitionOptions {
  double read_dies = 0.5;
  double placement_from = 0.05;
  double keep_room = 0.1;
  std::uint64_t units = 200;
  std::uint32_t channels = 2;
};

/// Four dies of 14 blocks that keep data, of 32 units each.
struct PartitionRig : FeatureRig<Partition> {
  explicit PartitionRig(const PartitionOptions& how = {})
      : FeatureRig([&](FeatureSetup& setup) {
          setup.shape.geometry = {how.channels, how.channels, 1, 1, 20, 8, 16384, 0};
          setup.shape.logical_blocks = how.units * k_unit;
          choose(setup.config, "firmware.partition", "read-write",
                 {{"list", whole(1 << 20)},
                  {"reads", whole(2)},
                  {"read_dies", Value(how.read_dies)},
                  {"placement_from", Value(how.placement_from)},
                  {"keep_room", Value(how.keep_room)}});
        }),
        units(how.units) {
    hw.flash.watch = [this](const FlashOp& op) {
      if (op.command != FlashCommand::program) return;
      programs[op.die] += 1;
      for (std::uint32_t n = 0; n < op.slots; ++n) {
        if (op.spare[n] < units) written_on[op.spare[n]] = op.die;
      }
    };
  }
  void read_units(std::uint64_t first, std::uint64_t count) {
    for (std::uint64_t unit = first; unit < first + count; ++unit) read(unit);
    host.let_end();
  }
  /// Dies on which these units lie.
  [[nodiscard]] std::map<DieId, std::uint32_t> dies_of(std::uint64_t first, std::uint64_t count) const {
    std::map<DieId, std::uint32_t> dies;
    for (std::uint64_t unit = first; unit < first + count; ++unit)
      ++dies[written_on.at(static_cast<Lpn>(unit))];
    return dies;
  }

  std::uint64_t units;
  std::map<DieId, std::uint32_t> programs;
  std::map<Lpn, DieId> written_on;  ///< a unit was last
};

}  // namespace

TEST_CASE("what is read again moves to the read dies, once") {
  PartitionRig rig;
  rig.write_units(0, 200);
  CHECK(rig.dies_of(0, 200).size() == 4);  // written before anybody read
  rig.read_units(0, 64);
  CHECK(rig.counters().units_moved == 0);
  CHECK(rig.counters().units_read_there == 32);  // two dies of four
  CHECK(rig.counters().units_read_elsewhere == 32);
  rig.read_units(0, 64);
  rig.read_units(0, 64);
  const auto moved = rig.counters().units_moved;
  CHECK(moved >= 24);  // of the half that lay elsewhere, whole program units of 8
  CHECK(moved <= 32);
  const auto dies = rig.dies_of(0, 64);
  REQUIRE(dies.size() <= 4);
  std::vector<std::uint32_t> counts;
  for (const auto& [die, count] : dies) counts.push_back(count);
  std::sort(counts.rbegin(), counts.rend());
  CHECK(counts[0] + counts[1] >= 56);
  rig.read_units(0, 64);
  rig.read_units(0, 64);
  CHECK(rig.counters().units_moved <= 40);
  CHECK(rig.stats().units_programmed[static_cast<std::size_t>(Purpose::migration)] ==
        rig.counters().units_moved);
  rig.host.verify_all();
}

TEST_CASE("writes keep away from the read dies while there are reads") {
  PartitionRig rig({.units = 800});
  rig.write_units(0, 400);
  CHECK(rig.counters().programs_kept_away == 0);
  for (int n = 0; n < 10; ++n) rig.read_units(0, 40);
  rig.programs.clear();
  rig.write_units(100, 100);
  CHECK(rig.programs.size() == 2);
  CHECK(rig.counters().programs_kept_away > 0);
  for (const auto& [die, count] : rig.dies_of(0, 40)) {
    if (count >= 10) CHECK_FALSE(rig.programs.contains(die));
  }
  // Enough writes, and the reads are forgotten.
  for (int n = 0; n < 30; ++n) rig.write_units(100, 600);
  rig.programs.clear();
  rig.write_units(100, 100);
  CHECK(rig.programs.size() == 4);
  rig.host.verify_all();
}

TEST_CASE("the partition tells where units were read, what moved and where programs went") {
  PartitionRig rig({.placement_from = 0.015});
  rig.write_units(0, 200);  // a program unit of 8 on each die in turn, the first two of which are read dies
  // Twice each, so that they are to move. Two program units are gathered at a time, a third is not.
  for (int n = 0; n < 2; ++n) {
    rig.read(16, 8);
    rig.read(24, 8);
    rig.read(48, 8);
  }
  rig.host.let_end();
  rig.read(0, 8);
  rig.read(16, 16);  // which lie there now
  rig.host.let_end();
  rig.write_units(104, 24);
  const auto reported = rig.reported();
  CHECK(reported.at("partition/reading parallel units") == 2);
  CHECK(reported.at("partition/units moved") == 16);
  CHECK(reported.at("partition/refused") == 8);
  CHECK(reported.at("partition/units read there") == 8 + 16);
  CHECK(reported.at("partition/units read elsewhere") == 2 * 24);
  CHECK(reported.at("partition/programs kept away") == 3);
  CHECK(reported.at("partition/programs let in") == 25);
  // Of the last 4096, exponentially weighted: 72 units were read, and 24 written after them.
  CHECK(reported.at("partition/share of reads") ==
        Approx((1 - std::pow(4095.0 / 4096, 72)) * std::pow(4095.0 / 4096, 24)));
}

TEST_CASE("all of the capacity can be written beside reads") {
  for (const double read_dies : {0.25, 0.5, 0.75}) {
    for (const double keep_room : {0.0, 0.1, 0.9}) {
      INFO(read_dies << " for reading, " << keep_room << " kept");
      PartitionOptions how{.read_dies = read_dies, .placement_from = 0, .keep_room = keep_room};
      how.units = Ftl::largest_logical_blocks(PartitionRig(how).shape, PartitionRig(how).config) / k_unit;
      PartitionRig rig(how);
      for (std::uint64_t n = 0; n < 3; ++n) {
        for (std::uint64_t unit = 0; unit < how.units; unit += 20) {
          rig.write_units(unit, std::min<std::uint64_t>(20, how.units - unit));
          rig.read_units(unit / 2, 10);
        }
      }
      CHECK_FALSE(rig.ftl.read_only());
      rig.host.verify_all();
    }
  }
}

TEST_CASE("the share of read dies is to the die") {
  for (const auto& [share, dies] : {std::pair{0.25, 1U}, {0.5, 2U}, {0.75, 3U}}) {
    PartitionRig rig({.read_dies = share, .placement_from = 0, .keep_room = 0, .units = 100});
    rig.write_units(0, 100);
    CHECK(rig.programs.size() == 4 - dies);
  }
}

TEST_CASE(
    "data written or trimmed while they are on their way to the read dies stay as the host has "
    "them") {
  std::uint64_t parted = 0;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    PartitionRig rig;
    rig.host.random = RandomStream(seed, "moves");
    rig.write_units(0, 200);
    for (int n = 0; n < 600; ++n) {
      const std::uint64_t unit = rig.host.random.below(40);
      const std::uint64_t dice = rig.host.random.below(8);
      if (dice == 0) rig.host.write(unit * k_unit, k_unit);
      if (dice == 1) rig.host.write(unit * k_unit + 2, 3);
      if (dice == 2 && n % 8 == 0) rig.host.trim({{unit * k_unit, k_unit}});
      if (dice > 2) rig.host.read(unit * k_unit, k_unit);
      rig.host.wait_below(12);
    }
    rig.host.drain();
    parted += rig.counters().units_moved;
    rig.host.verify_all();
    rig.ftl.power_cycle();
    rig.host.verify_all();
  }
  CHECK(parted > 100);
}

TEST_CASE("read dies go on from a snapshot as if nothing had been") {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const auto work = [seed](PartitionRig& rig, const char* stream) {
      rig.host.random = RandomStream(seed, stream);
      for (int n = 0; n < 1000; ++n) {
        const std::uint64_t unit = rig.host.random.below(rig.host.random.below(2) == 0 ? 200 : 30);
        if (rig.host.random.below(3) == 0) {
          rig.host.write((30 + rig.host.random.below(170)) * k_unit, k_unit);
        } else {
          rig.host.read(unit * k_unit, k_unit);
        }
        rig.host.wait_below(4);
      }
      rig.host.drain();
    };
    PartitionRig straight;
    straight.write_units(0, 200);
    work(straight, "before");
    REQUIRE(straight.counters().units_moved > 0);
    PartitionRig restored;
    restore(straight, restored);
    work(straight, "after");
    work(restored, "after");
    CHECK(straight.hw.event_queue.now() == restored.hw.event_queue.now());
    CHECK((saved(straight.ftl) == saved(restored.ftl)));
  }
}

TEST_CASE("read dies that cannot be say so in one line") {
  CHECK_THROWS_WITH(
      PartitionRig({.read_dies = 0.1}),
      Catch::Contains("firmware.partition.read_dies: 10 % of 4 dies leaves no die to reading") &&
          Catch::Contains("nearest valid: 25.00 %"));
  CHECK_THROWS_WITH(PartitionRig({.read_dies = 0.9}),
                    Catch::Contains("no die to writing") && Catch::Contains("nearest valid: 75.00 %"));
  CHECK_THROWS_WITH(PartitionRig({.channels = 1}),
                    Catch::Contains("firmware.partition.policy: one die cannot be divided") &&
                        Catch::Contains("nearest valid: none"));
  PartitionRig rig;
  rig.config.mapping.scheme = "dftl";
  CHECK_THROWS_WITH(Ftl(rig.hw.ports, rig.shape, rig.config),
                    Catch::Contains("firmware.mapping.scheme is dftl"));
  rig.config.mapping.scheme = "page";
  rig.config.allocation.stripe = "C";
  CHECK_THROWS_WITH(Ftl(rig.hw.ports, rig.shape, rig.config), Catch::Contains("firmware.allocation.stripe"));
}
