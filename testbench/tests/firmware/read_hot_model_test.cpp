// Promotion, replicas of read-hot data and read dies under random commands of
// every kind: nothing is lost, and nothing waits for ever.
#include "firmware/features/partition/partition.h"
#include "firmware/features/promotion/promoter.h"
#include "firmware/features/replicas/replicas.h"
#include "firmware/victims/victim_policy.h"
#include "testbench/tests/firmware/feature_rig.h"
#include "testbench/tests/firmware/model_case.h"

using namespace tlmssd;
using namespace tlmssd::firmware;
using namespace tlmssd::firmware::testing;

namespace {

std::uint64_t moved(const CaseRig& rig) {
  return rig.moved_by_features();
}

template <class T>
typename T::Counters counters(const CaseRig& rig) {
  return dynamic_cast<const T&>(*rig.ftl.feature(T::k_path)).counters();
}

}  // namespace

TEST_CASE("promotion keeps the data, however little room there is for it") {
  std::uint64_t seed = 1300;
  std::uint64_t promoted = 0;
  std::uint64_t due = 0;
  const auto result = [&](const CaseRig& rig) {
    due += counters<Promoter>(rig).due;
    return moved(rig);
  };
  for (Case c : shapes_with_slc()) {
    for (const auto& [fixed, dynamic] : {std::pair<std::uint32_t, std::uint32_t>{1, 0}, {2, 3}, {0, 6}}) {
      c.fixed = fixed;
      c.dynamic = dynamic;
      c.when_full = seed % 2 == 0 ? "bypass" : "wait";
      c.fill = seed % 3 == 0 ? 1.0 : seed % 3 == 1 ? 0.9 : 0.4;
      c.fold_below = seed % 4 == 0 ? 0 : 0.3;
      c.gone_at = seed % 5 == 0 ? 2 : 0.75;
      c.idle_after = seed % 3 == 0 ? 100'000'000 : 0;
      c.mode = seed % 5 == 0 ? "write-through" : "write-back";
      c.wear = seed % 3 == 0 ? "static" : "dynamic";
      c.map_lines = seed % 4 == 1 ? 3 : 0;
      c.promotion = 2 + static_cast<std::int64_t>(seed % 2);
      c.keep_free = 0.2;
      const std::uint32_t depth = seed % 2 == 0 ? 64 : 12;
      promoted += run_random(c, true, 1500, depth, ++seed, result);
      promoted += run_random(c, false, 1500, 1, ++seed, result);
      ++seed;
    }
  }
  REQUIRE(promoted > 500);
  REQUIRE(due >= promoted);
}

TEST_CASE("replicas keep the data, on drives filled to the last unit too") {
  std::uint64_t seed = 1400;
  std::uint64_t served = 0;
  const auto policies = victim_family().infos();
  std::vector<Case> cases = shapes_with_slc();
  cases.push_back({geometry(2, 1, 1, 2, 14, 8, 8192)});
  cases.push_back({geometry(2, 2, 1, 1, 14, 8, 16384), 1, 512, 512});
  for (Case c : cases) {
    if (c.geometry.dies() == 1) continue;
    for (const bool slc : {false, true}) {
      if (slc && c.slc_pages == 0) continue;
      for (const double failures : {0.0, 0.05}) {
        c.fixed = slc ? 1 : 0;
        c.dynamic = slc ? 3 : 0;
        c.path = slc ? "all" : "none";
        c.promotion = slc && seed % 2 == 0 ? 2 : 0;
        c.copies_of = seed % 3 == 2 ? "blocked-reads" : "hot-reads";
        c.copies_at = 1 + static_cast<std::int64_t>(seed % 3 == 2 ? 0 : seed % 3);
        c.copies_idle = seed % 2 == 0;
        c.copies = 2 * c.program_unit * (c.multi_plane ? c.geometry.planes : 1) *
                       static_cast<std::uint32_t>(c.geometry.page_bytes / c.unit) +
                   20;
        c.fill = seed % 3 == 0 ? 1.0 : 0.8;
        c.ecc = failures > 0 ? "fixed" : "none";
        c.failures = failures;
        c.gc = policies[seed % policies.size()].name;
        c.streams = seed % 4 == 1 ? "shared" : "separate";
        c.wear = seed % 3 == 0 ? "static" : "dynamic";
        c.idle_after = seed % 5 == 0 ? 100'000'000 : 0;
        c.low_water = 1 + static_cast<std::uint32_t>(seed % 2);
        const std::uint32_t depth = seed % 2 == 0 ? 32 : 8;
        served += run_random(c, true, 2000, depth, ++seed, counters<Replicas>).reads_of_copies;
        run_random(c, false, 1500, 1, ++seed, moved);
        ++seed;
      }
    }
  }
  REQUIRE(served > 300);
}

TEST_CASE("promoted data keep their replicas, which writes of the host end") {
  constexpr std::uint64_t k_units = 100;
  FeatureRig<Replicas> rig([](FeatureSetup& setup) {
    setup.shape.geometry = {2, 1, 1, 1, 16, 16, 16384, 0};
    setup.shape.program_unit = 4;
    setup.shape.slc_pages = 4;
    setup.shape.logical_blocks = k_units * k_unit;
    setup.config.pslc.policy = "all";
    setup.config.pslc.static_bytes = Bytes{2} * 4 * 4 * 16384;
    setup.config.gc.idle_after = 1'000'000'000;
    choose(setup.config, "firmware.pslc.promotion", "lru", {{"list", whole(1 << 20)}, {"reads", whole(2)}});
    choose(setup.config, "firmware.replicas", "hot-reads",
           {{"list", whole(1 << 20)}, {"reads", whole(1)}, {"capacity", whole(std::int64_t{64} * 4096)}});
  });
  rig.write_units(0, k_units);
  rig.host.let_end();  // everything is folded
  rig.read_each(48, 1);
  rig.host.let_end();
  const std::uint64_t copied = rig.counters().units_copied;
  REQUIRE(copied > 0);
  CHECK(rig.stats().units_relocated == 0);
  rig.read_each(48, 1);
  rig.host.flush();
  rig.host.drain();
  CHECK(rig.stats().units_relocated > 0);
  CHECK(rig.counters().rewritten == 0);
  rig.write_units(0, 48);
  CHECK(rig.counters().rewritten == copied);
  rig.host.verify_all();
}

TEST_CASE("read dies keep the data, on drives filled to the last unit too") {
  std::uint64_t seed = 1500;
  std::uint64_t parted = 0;
  std::uint64_t restricted = 0;
  const auto policies = victim_family().infos();
  std::vector<Case> cases = shapes_with_slc();
  cases.push_back({geometry(2, 1, 1, 2, 14, 8, 8192)});
  cases.push_back({geometry(3, 2, 1, 1, 14, 8, 16384), 1, 512, 512});
  for (Case c : cases) {
    if (c.geometry.dies() == 1) continue;
    for (const bool slc : {false, true}) {
      if (slc && c.slc_pages == 0) continue;
      for (int n = 0; n < 4; ++n) {
        c.fixed = slc ? 1 : 0;
        c.dynamic = slc ? 3 : 0;
        c.path = slc ? (n % 2 == 0 ? "all" : "cold-bypass") : "none";
        c.when_full = seed % 2 == 0 ? "bypass" : "wait";
        c.promotion = slc && seed % 3 == 0 ? 3 : 0;
        c.parted_at = 1 + static_cast<std::int64_t>(seed % 3);
        c.placement_from = seed % 4 == 0 ? 0 : 0.05;
        c.keep_room = seed % 5 == 0 ? 0 : 0.1;
        c.copies_at = seed % 5 == 1 ? 2 : 0;
        c.copies = 2 * c.program_unit * (c.multi_plane ? c.geometry.planes : 1) *
                       static_cast<std::uint32_t>(c.geometry.page_bytes / c.unit) +
                   20;
        c.fill = seed % 3 == 0 ? 1.0 : seed % 3 == 1 ? 0.8 : 0.4;
        c.failures = n == 3 ? 0.05 : 0;
        c.ecc = c.failures > 0 ? "fixed" : "none";
        c.gc = policies[seed % policies.size()].name;
        c.streams = seed % 4 == 1 ? "shared" : "separate";
        c.wear = seed % 3 == 0 ? "static" : "dynamic";
        c.idle_after = seed % 5 == 0 ? 100'000'000 : 0;
        c.low_water = 1 + static_cast<std::uint32_t>(seed % 2);
        const std::uint32_t depth = seed % 2 == 0 ? 32 : 8;
        const Partition::Counters timed = run_random(c, true, 2000, depth, ++seed, counters<Partition>);
        parted += timed.units_moved;
        restricted += timed.programs_kept_away;
        run_random(c, false, 1500, 1, ++seed, moved);
        ++seed;
      }
    }
  }
  REQUIRE(parted > 1000);
  REQUIRE(restricted > 1000);
}

TEST_CASE(
    "a drive with promotion, replicas and read dies that is worn out becomes read-only and "
    "keeps its data") {
  std::uint64_t seed = 1600;
  for (const bool slc : {false, true}) {
    for (const double failing : {0.0, 0.01}) {
      for (const bool timed : {false, true}) {
        Case c{geometry(2, 1, 1, 2, 24, 12, 8192), 3};
        c.multi_plane = true;
        c.slc_pages = slc ? 4 : 0;
        c.fixed = c.dynamic = slc ? 2 : 0;
        c.path = slc ? "all" : "none";
        c.promotion = slc ? 2 : 0;
        c.copies_at = 1;
        c.copies = 40;
        c.parted_at = seed % 3 == 0 ? 2 : 0;
        c.endurance = 12;
        c.program_failure = failing;
        c.wear = seed % 2 == 0 ? "static" : "dynamic";
        c.fill = 0.8;
        INFO(describe(c) << (timed ? ", timed" : ", untimed") << ", seed " << seed);
        CaseRig rig(c, timed, seed++);
        const std::uint64_t units = rig.shape.logical_blocks / 8;
        std::uint64_t writes = 0;
        while (write_unit(rig, rig.host.random.below(units)) && ++writes < 1'000'000) {
          for (int n = 0; n < 4; ++n) rig.host.read(8 * rig.host.random.below(30), 1);
          rig.host.wait_below(1);
        }
        REQUIRE(rig.ftl.read_only());
        rig.finish();
        REQUIRE(rig.moved_by_features() > 30);
      }
    }
  }
}
