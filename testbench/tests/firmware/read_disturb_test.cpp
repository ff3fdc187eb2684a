// Remedies against read disturb: regions of blocks that are refreshed by themselves, blocks that
// are chosen for read-hot data, and pass voltages that follow the errors of a block.
#include <algorithm>
#include <map>
#include <set>

#include "firmware/features/pass_voltage/tuned.h"
#include "firmware/features/placement/little_worn.h"
#include "firmware/features/refresh/refresher.h"
#include "testbench/tests/firmware/refresh_rig.h"
#include "testbench/tests/support/statistics_of.h"

using namespace tlmssd;
using namespace tlmssd::firmware;
using namespace tlmssd::firmware::testing;

namespace {

struct Remedies {
  std::int64_t regions = 4;
  std::int64_t region_reads = 50;
  std::int64_t block_reads = 0;
  std::string placement = "none";
  std::string pass_voltage = "none";
  std::string wear = "dynamic";
  std::string victims = "greedy";
  std::uint32_t low_water = 2;
  bool timed = false;
  double fill = 0.7;
};

struct DisturbRig : RefreshRig {
  explicit DisturbRig(const Remedies& how)
      : RefreshRig(how.timed, how.fill, [&](FirmwareConfig& chosen) {
          choose(chosen, "firmware.refresh", "read-regions",
                 {{"retention", Value(0.0)},
                  {"reads", whole(how.block_reads)},
                  {"errors", whole(0)},
                  {"patrol", Value(0.0)},
                  {"regions", whole(how.regions)},
                  {"region_reads", whole(how.region_reads)}});
          choose(chosen, "firmware.placement", how.placement);
          choose(chosen, "firmware.pass_voltage", how.pass_voltage,
                 {{"samples", whole(4)}, {"interval", Value(0.0)}});
          chosen.wear.policy = how.wear;
          chosen.gc.policy = how.victims;
          chosen.gc.low_water = how.low_water;
        }) {}
};

// ---------------------------------------------------------------------------------------------------------------- pass voltage

FirstRead sample(const TunedPassVoltage& /*policy*/, BlockNumber block, float voltage, std::uint32_t worst,
                 std::int64_t now = 0) {
  return {.block = block, .erases = 1, .pass_voltage = voltage, .decoded = true, .worst = worst, .now = now};
}

/// Reads block 3 `times` at the voltage that the policy asks for.
void read(TunedPassVoltage& policy, int times, std::uint32_t worst, std::int64_t now = 1) {
  for (int i = 0; i < times; ++i)
    policy.read(sample(policy, BlockNumber(3), policy.voltage(BlockNumber(3), 1), worst, now));
}

}  // namespace

// --------------------------------------------------------------------------------------------------------------------- regions

TEST_CASE("the read that reaches a region's limit moves the region, and nothing else of its block") {
  for (const bool timed : {false, true}) {
    DisturbRig rig({.timed = timed});
    rig.fill();
    rig.watch();
    rig.read(5, 49);
    CHECK(rig.stats().feature_part_moves() == 0);
    rig.read(5);
    rig.host.drain();
    CHECK(rig.stats().feature_part_moves() == 1);
    CHECK(rig.stats().feature_moves() == 0);
    CHECK(rig.moved.contains(5));
    CHECK(rig.moved.size() == k_block_units / 4);
    CHECK(rig.stats().units_programmed[k_refresh] == k_block_units / 4);
    rig.hw.flash.watch = nullptr;
    rig.host.verify_all();
  }
}

TEST_CASE("reads spread over a block's regions do not add up, unless the block has a limit of its own") {
  DisturbRig apart({.regions = 4, .region_reads = 50});
  apart.fill();
  apart.watch();
  std::set<Lpn> of_block;
  apart.read(5, 50);
  of_block = apart.moved;  // one region
  CHECK(of_block.size() == 4);

  DisturbRig whole_block({.regions = 4, .region_reads = 1000, .block_reads = 120});
  whole_block.fill();
  whole_block.watch();
  whole_block.read(5, 119);
  CHECK(whole_block.stats().feature_moves() == 0);
  whole_block.read(5);
  whole_block.host.drain();
  CHECK(whole_block.stats().feature_moves() == 1);
  CHECK(whole_block.stats().feature_part_moves() == 0);
  CHECK(whole_block.moved.size() == k_block_units);
}

TEST_CASE("one hot unit costs a region for every so many reads, however long it is read") {
  for (const bool timed : {false, true}) {
    INFO((timed ? "timed" : "untimed"));
    DisturbRig rig({.timed = timed});
    rig.fill();
    std::uint64_t reads = 0;  // since the unit was written last
    std::uint64_t refreshed = 0;
    std::uint64_t collected = 0;
    rig.hw.flash.watch = [&](const FlashOp& op) {
      if (op.command == FlashCommand::read && op.purpose == Purpose::host) ++reads;
      if (op.command != FlashCommand::program) return;
      if (std::find(op.spare, op.spare + op.slots, 5U) == op.spare + op.slots) return;
      // Blocks that were ended early for it are collected, which moves it, too, and begins the
      // count anew. Where time passes it is also read while it is moved.
      const bool refresh = op.purpose == Purpose::refresh;
      ++(refresh ? refreshed : collected);
      if (refresh) CHECK(reads >= 50);
      if (!timed) CHECK(reads <= 50);
      reads = 0;
    };
    rig.read(5, 50 * 40);
    rig.host.drain();
    rig.hw.flash.watch = nullptr;
    const FtlStatistics& s = rig.stats();
    CHECK(s.feature_moves() == 0);
    CHECK(s.feature_part_moves() == refreshed);
    CHECK(refreshed <= 40);
    if (!timed) CHECK(refreshed + collected >= 40);
    CHECK(s.units_programmed[k_refresh] <= refreshed * k_block_units / 4);
    rig.host.verify_all();
  }
}

TEST_CASE("regions are at least a program unit and at most a block") {
  for (const std::int64_t regions : {1, 3, 8, 60'000}) {
    INFO(regions << " regions");
    DisturbRig rig({.regions = regions});
    rig.fill();
    rig.watch();
    rig.read(5, 50);
    rig.host.drain();
    CHECK(rig.moved.contains(5));
    CHECK(rig.moved.size() == (regions == 1 ? k_block_units : regions == 3 ? 6U : 2U));
  }
}

TEST_CASE("a full drive whose regions are always due goes on, whatever the host does") {
  for (const bool timed : {false, true}) {
    for (const char* placement : {"none", "little-worn"}) {
      for (const char* wear : {"dynamic", "static"}) {
        INFO((timed ? "timed, " : "untimed, ") << placement << ", " << wear);
        DisturbRig rig({.region_reads = 3,
                        .block_reads = 9,
                        .placement = placement,
                        .wear = wear,
                        .timed = timed,
                        .fill = 1.0});
        rig.fill();
        for (int i = 0; i < 4000; ++i) {
          rig.host.anything(30);
          rig.host.wait_below(8);
        }
        rig.host.drain();
        CHECK(rig.stats().feature_part_moves() + rig.stats().feature_moves() > 50);
        rig.host.verify_all();
      }
    }
  }
}

// Blocks that are ended early for a region, and the places that regions take, must not be those
// that collection counts on.
TEST_CASE("regions that are always due leave collection its last free block") {
  for (const bool timed : {false, true}) {
    for (const char* victims : {"greedy", "random"}) {
      for (const char* placement : {"none", "little-worn"}) {
        for (std::uint64_t seed = 0; seed < 5; ++seed) {
          INFO((timed ? "timed, " : "untimed, ") << victims << ", " << placement << ", seed " << seed);
          DisturbRig rig({.regions = 2,
                          .region_reads = 5,
                          .placement = placement,
                          .victims = victims,
                          .low_water = 1,
                          .timed = timed,
                          .fill = 1.0});
          rig.host.random = RandomStream(seed, "last free block");
          rig.fill();
          for (int i = 0; i < 3000; ++i) {
            rig.host.anything(30);
            rig.host.wait_below(8);
          }
          rig.host.drain();
          CHECK_FALSE(rig.ftl.read_only());
          CHECK(rig.stats().feature_part_moves() + rig.stats().feature_moves() > 50);
          rig.host.verify_all();
        }
      }
    }
  }
}

TEST_CASE("remedies go on from a snapshot where they were") {
  const Remedies how{.region_reads = 6,
                     .block_reads = 30,
                     .placement = "little-worn",
                     .pass_voltage = "tuned",
                     .timed = true};
  const auto after = [](DisturbRig& rig) {
    rig.host.random = RandomStream(9, "after the snapshot");
    for (int i = 0; i < 1500; ++i) {
      rig.host.anything(20);
      rig.host.wait_below(4);
    }
    rig.host.drain();
  };
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    DisturbRig straight(how);
    straight.fill();
    straight.host.random = RandomStream(seed, "before");
    for (int i = 0; i < 500; ++i) {
      straight.host.anything(20);
      straight.host.wait_below(4);
    }
    straight.host.drain();
    DisturbRig restored(how);
    restore(straight, restored);
    after(straight);
    after(restored);
    CHECK(straight.stats().feature_part_moves() == restored.stats().feature_part_moves());
    CHECK((saved(straight.ftl) == saved(restored.ftl)));
  }
}

TEST_CASE("figures of remedies begin anew with the statistics, what they know of blocks does not") {
  DisturbRig rig({.region_reads = 30, .placement = "little-worn", .pass_voltage = "tuned"});
  const auto figures = [&] {
    auto numbers = test::statistics_of(*rig.ftl.feature("firmware.pass_voltage"));
    numbers.merge(test::statistics_of(*rig.ftl.feature("firmware.placement")));
    return numbers;
  };
  rig.fill();
  rig.read(5, 40);
  rig.host.drain();
  CHECK(figures().at("pass voltage/lowered") > 0);
  CHECK(figures().at("placement/blocks") > 0);
  rig.ftl.reset_statistics();
  CHECK(figures().at("pass voltage/lowered") == 0);
  CHECK(figures().at("pass voltage/mean") == 1);
  CHECK(figures().at("placement/blocks") == 0);
  CHECK(figures().at("placement/mean cycles") == 0);
  std::vector<float> seen;
  rig.hw.flash.watch = [&](const FlashOp& op) {
    if (op.command == FlashCommand::read) seen.push_back(op.pass_voltage);
  };
  rig.read(5);
  REQUIRE(seen.size() == 1);
  CHECK(seen.front() < 1);  // as low as it was
  CHECK(figures().at("pass voltage/mean") == Approx(seen.front()));
}

// ------------------------------------------------------------------------------------------------------------------- placement

TEST_CASE("read-hot data go to the free block with the least erases, other data where they always went") {
  struct Opened {
    std::uint64_t blocks = 0;  ///< for what refresh moves
    std::uint64_t least = 0;   ///< of these, blocks with as few erases as any that was free
  };
  const auto opened_with = [](const char* placement) {
    DisturbRig rig({.region_reads = 40, .placement = placement, .wear = "none"});
    rig.fill();
    // Wear that is uneven: a few units are written over and over.
    for (int i = 0; i < 6000; ++i) rig.host.write(rig.host.random.below(rig.units() / 8) * k_unit, k_unit);
    rig.host.drain();
    const BlockPool& pool = rig.ftl.blocks();
    Opened opened;
    rig.hw.flash.watch = [&](const FlashOp& op) {
      if (op.command != FlashCommand::program || op.purpose != Purpose::refresh || index(op.page) > 0) return;
      const std::uint32_t pu = pool.layout().pu_at(op.die, index(op.plane));
      const BlockNumber taken(pu * pool.layout().blocks + index(op.block));
      // With a placement, it is the block that is open for such data: where there is none free for
      // that, they go where all moved data go.
      bool own = placement == std::string("none");
      pool.for_each_target(pu, [&](WriteTarget target, const BlockPool::Frontier& front) {
        own = own || (target == WriteTarget::move && front.block == taken);
      });
      if (!own) return;
      std::uint32_t least = pool.info(taken).erases;
      for (std::uint32_t n = 0; n < pool.layout().blocks; ++n) {
        const BlockInfo& info = pool.info(BlockNumber(pu * pool.layout().blocks + n));
        if (info.state == BlockState::free) least = std::min(least, info.erases);
      }
      ++opened.blocks;
      if (pool.info(taken).erases == least) ++opened.least;
    };
    for (int i = 0; i < 4000; ++i) rig.read(rig.units() - 1 - rig.host.random.below(8));
    rig.host.drain();
    rig.hw.flash.watch = nullptr;
    rig.host.verify_all();
    return opened;
  };
  const Opened placed = opened_with("little-worn");
  REQUIRE(placed.blocks > 20);
  CHECK(placed.least == placed.blocks);
  const Opened anywhere = opened_with("none");
  REQUIRE(anywhere.blocks > 20);
  CHECK(anywhere.least < anywhere.blocks);
}

TEST_CASE("reads in a block's life speak against it as cycles do") {
  LittleWornPlacement policy({.reads_per_cycle = 100}, 4);
  for (int i = 0; i < 250; ++i) policy.read(BlockNumber(1));
  CHECK(policy.burden(BlockNumber(0), 7) == 7);
  CHECK(policy.burden(BlockNumber(1), 7) == Approx(9.5));
  const LittleWornPlacement erases_only({.reads_per_cycle = 0}, 4);
  CHECK(erases_only.burden(BlockNumber(1), 7) == 7);
}

TEST_CASE("a placement without data to be placed is refused") {
  DisturbRig rig(Remedies{});
  FirmwareConfig config = rig.config;
  config.features.erase("firmware.refresh");
  choose(config, "firmware.placement", "little-worn");
  CHECK_THROWS_WITH(Ftl(rig.hw.ports, rig.shape, config), Catch::Contains("firmware.refresh.policy is none"));
  choose(config, "firmware.placement", "little-wornn");
  choose(config, "firmware.refresh", "limits");
  CHECK_THROWS_WITH(Ftl(rig.hw.ports, rig.shape, config), Catch::Contains("known: little-worn"));
}

// ---------------------------------------------------------------------------------------------------------------- pass voltage

TEST_CASE("a block's pass voltage goes down a step at a time, as far as is allowed") {
  TunedPassVoltage policy({.lowest = 0.95, .step = 0.02, .samples = 10, .interval = 0}, 8);
  CHECK(policy.voltage(BlockNumber(3), 1) == 1.0F);
  read(policy, 9, 48);
  CHECK(policy.voltage(BlockNumber(3), 1) == 1.0F);
  read(policy, 1, 48);
  CHECK(policy.voltage(BlockNumber(3), 1) == Approx(0.98));
  read(policy, 30, 0);
  CHECK(policy.voltage(BlockNumber(3), 1) == Approx(0.96));  // 0.94 would be too low
  CHECK(policy.voltage(BlockNumber(4), 1) == 1.0F);
  CHECK(policy.voltage(BlockNumber(3), 2) == 1.0F);  // erased
}

TEST_CASE("errors beyond the reserve take a block's pass voltage up for good, failures to nominal") {
  // 60 bits less a fifth: 48 may be wrong.
  TunedPassVoltage policy({.samples = 2, .interval = 0}, 8);
  read(policy, 6, 20);
  CHECK(policy.voltage(BlockNumber(3), 1) == Approx(0.97));
  read(policy, 1, 49);
  CHECK(policy.voltage(BlockNumber(3), 1) == Approx(0.98));
  read(policy, 100, 20);
  CHECK(policy.voltage(BlockNumber(3), 1) == Approx(0.98));
  FirstRead failed = sample(policy, BlockNumber(3), policy.voltage(BlockNumber(3), 1), 0);
  failed.decoded = false;
  policy.read(failed);
  CHECK(policy.voltage(BlockNumber(3), 1) == 1.0F);
}

TEST_CASE("the bits that a reserve leaves are as many as it says") {
  for (const std::uint32_t correctable : {10U, 20U, 40U, 60U}) {
    INFO(correctable << " bits");
    const std::uint32_t allowed = correctable / 5;  // less 80 %
    TunedPassVoltage policy({.correctable = correctable, .reserve = 0.8, .samples = 1, .interval = 0}, 8);
    read(policy, 1, allowed);
    CHECK(policy.voltage(BlockNumber(3), 1) == Approx(0.99));
    read(policy, 1, allowed + 1);
    CHECK(policy.voltage(BlockNumber(3), 1) == 1.0F);
  }
}

TEST_CASE("a read that was under way while the pass voltage changed says nothing of the new one") {
  TunedPassVoltage policy({.samples = 1, .interval = 0}, 8);
  read(policy, 2, 0);
  for (int i = 0; i < 5; ++i) policy.read(sample(policy, BlockNumber(3), 1.0F, 60));
  CHECK(policy.voltage(BlockNumber(3), 1) == Approx(0.98));
}

TEST_CASE("a block's pass voltage goes down once in an interval") {
  constexpr std::int64_t k_day = 86'400'000'000'000;
  TunedPassVoltage policy({.samples = 3}, 8);
  read(policy, 50, 0, 1000);
  CHECK(policy.voltage(BlockNumber(3), 1) == 1.0F);
  read(policy, 1, 0, k_day + 1000);
  CHECK(policy.voltage(BlockNumber(3), 1) == Approx(0.99));
  read(policy, 50, 0, k_day + 2000);
  CHECK(policy.voltage(BlockNumber(3), 1) == Approx(0.99));
}

TEST_CASE("pages are read with the block's pass voltage, and with the nominal one after a failure") {
  for (const std::string policy : {"fixed", "retry-only"}) {
    INFO(policy);
    DisturbRig rig({.region_reads = 1'000'000, .pass_voltage = "tuned"});
    rig.config.ecc.policy = policy;
    Ftl ftl(rig.hw.ports, rig.shape, rig.config);
    ModelHost host(rig.hw, ftl, rig.shape, 1);
    host.write(0, k_unit);
    host.drain();
    std::vector<float> seen;
    std::vector<int> level;
    bool fail = false;
    rig.hw.flash.watch = [&](const FlashOp& op) {
      if (op.command != FlashCommand::read) return;
      seen.push_back(op.pass_voltage);
      level.push_back(op.retry_level);
    };
    rig.hw.flash.fails = [&](const FlashOp& op) { return fail && op.pass_voltage < 1; };
    host.flush();
    host.drain();
    for (int i = 0; i < 9; ++i) {
      host.read(0, k_unit);
      host.wait_below(1);
    }
    REQUIRE(seen.size() == 9);
    CHECK(seen.front() == 1.0F);
    CHECK(seen.back() == Approx(0.98));
    seen.clear();
    level.clear();
    fail = true;
    host.read(0, k_unit);
    host.drain();
    CHECK(host.last_status == HostStatus::success);
    REQUIRE(seen.size() == 2);
    CHECK(seen.front() == Approx(0.98));
    CHECK(seen.back() == 1.0F);
    CHECK(level == std::vector<int>{0, 0});  // only the voltage is another
    CHECK(ftl.statistics().retries == 1);
    host.read(0, k_unit);  // and the block from now on
    host.drain();
    CHECK(seen.back() == 1.0F);
  }
}

TEST_CASE("steps of the pass voltage that lead nowhere, or are too many, are refused") {
  CHECK_THROWS_WITH(TunedPassVoltage({.lowest = 0.94, .step = 0.07}, 8),
                    Catch::Contains("goes below `lowest`"));
  CHECK_THROWS_WITH(TunedPassVoltage({.lowest = 0.5, .step = 0.001}, 8), Catch::Contains("500 steps"));
  CHECK_NOTHROW(TunedPassVoltage({.lowest = 0.94, .step = 0.06}, 8));
  CHECK_NOTHROW(TunedPassVoltage({.lowest = 1}, 8));
}

TEST_CASE("a pass voltage that nothing is known about is refused") {
  DisturbRig rig(Remedies{});
  FirmwareConfig config = rig.config;
  config.ecc.policy = "none";
  choose(config, "firmware.pass_voltage", "tuned");
  CHECK_THROWS_WITH(Ftl(rig.hw.ports, rig.shape, config), Catch::Contains("firmware.ecc.policy is none"));
}
