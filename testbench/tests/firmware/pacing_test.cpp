// Write pacing under random commands: nothing is lost, and nothing waits for ever; and what it
// cannot do is refused. What it is for is tested on a whole drive (drive/pacing_test.cpp).
#include "firmware/features/pacing/pacing.h"

#include <algorithm>
#include <numeric>

#include "models/base/input_error.h"
#include "testbench/tests/firmware/model_case.h"
#include "testbench/tests/support/statistics_of.h"

using namespace tlmssd;
using namespace tlmssd::firmware;
using namespace tlmssd::firmware::testing;

namespace {

Case roomy(const std::string& policy) {
  Case c{geometry(2, 1, 1, 2, 24, 8, 8192)};
  c.pacing = policy;
  c.fill = 0.75;
  c.background_start = 0.3;
  c.low_water = 1;
  return c;
}

Pacing::Counters pacing_counters(const CaseRig& rig) {
  return dynamic_cast<const Pacing&>(*rig.ftl.feature("firmware.pacing")).counters();
}

}  // namespace

TEST_CASE("paced writes keep the data, whatever collection waits for") {
  std::uint64_t seed = 1700;
  std::uint64_t held = 0;
  for (const PolicyInfo& policy : pacing_family().infos()) {
    for (const bool map_in_flash : {false, true}) {
      for (const bool timed : {true, false}) {
        for (const char* const mode : {"write-back", "write-through"}) {
          Case c = roomy(policy.name);
          c.mode = mode;
          if (map_in_flash) c.map_lines = 3;
          c.program_failure = seed % 3 == 0 ? 0.002 : 0;
          c.wear = seed % 2 == 0 ? "static" : "dynamic";
          INFO(describe(c) << " pacing " << policy.name << (timed ? ", timed" : ", untimed"));
          CaseRig rig(c, timed, ++seed);
          rig.anything(2500 * stress(), timed ? 24 : 1);
          rig.finish();
          CHECK((timed || pacing_counters(rig).held == 0));
          held += pacing_counters(rig).held;
        }
      }
    }
  }
  CHECK(held > 100);
}

TEST_CASE("what is moved out of blocks that failed is no free space for pacing") {
  Case c{geometry(1, 1, 1, 1, 80, 8, 8192)};
  c.pacing = "credit";
  c.fill = 0.4;
  c.background_start = 0.3;
  c.low_water = 3;
  c.program_failure = 0.002;
  CaseRig rig(c, true, 1);
  const BlockPool& pool = rig.ftl.blocks();
  for (int n = 0; n < 100'000 && pool.retired() < 10; ++n) {
    rig.host.write(rig.host.random.below(rig.shape.logical_blocks / k_unit) * k_unit, k_unit);
    rig.host.wait_below(8);
  }
  REQUIRE_FALSE(rig.ftl.read_only());
  REQUIRE(pool.retired() == 10);
  rig.host.drain();
  double blocks = pool.pu(0).free - static_cast<double>(pool.reserve());
  pool.for_each_open(0, [&](const BlockPool::Frontier& open) {
    blocks += 1 - static_cast<double>(open.next) / pool.layout().programs_per_block;
  });
  const auto numbers = test::statistics_of(*rig.ftl.feature("firmware.pacing"));
  // Beside these there is one victim, moved in part, and a program since it was looked at last.
  CHECK(numbers.at("pacing/free space") >= blocks - 0.5);
  CHECK(numbers.at("pacing/free space") <= blocks + 1.5);
}

TEST_CASE("all programs of the write buffer are paced once free space is low, and none before") {
  CaseRig rig(roomy("credit"), true, 1);
  const auto write = [&] {
    rig.host.write(rig.host.random.below(rig.shape.logical_blocks / k_unit) * k_unit, k_unit);
    rig.host.wait_below(8);
  };
  const FtlStatistics& stats = rig.ftl.statistics();
  const std::uint64_t& programs = stats.programs[static_cast<std::size_t>(Purpose::host)];
  while (stats.gc_victims == 0) write();
  CHECK(pacing_counters(rig).paced <= 1);  // the one that collection began with
  for (int n = 0; n < 4000; ++n) write();
  rig.ftl.reset_statistics();
  for (int n = 0; n < 2000; ++n) write();
  CHECK(programs > 900);
  CHECK(pacing_counters(rig).paced == programs);
}

TEST_CASE("waits for collection are those from when a program is held until it goes out") {
  CaseRig rig(roomy("credit"), true, 1);
  std::vector<Picoseconds> waits;
  Pacing::Counters before;
  Picoseconds since = 0;
  const auto look = [&] {
    const Pacing::Counters now = pacing_counters(rig);
    if (now.waited > before.waited) waits.push_back(rig.hw.event_queue.now() - since);
    if (now.held > before.held) since = rig.hw.event_queue.now();
    before = now;
  };
  for (int n = 0; n < 4000; ++n) {
    rig.host.write(rig.host.random.below(rig.shape.logical_blocks / k_unit) * k_unit, k_unit);
    look();
    while (rig.host.outstanding >= 8) {
      rig.hw.event_queue.run_until(rig.hw.event_queue.next());
      look();
    }
  }
  REQUIRE(waits.size() > 10);
  const auto reported = test::statistics_of(*rig.ftl.feature("firmware.pacing"));
  CHECK(before.held - waits.size() <= 1);  // one may still be held
  CHECK(reported.at("pacing/holds") == static_cast<double>(before.held));
  CHECK(reported.at("pacing/held for") ==
        Approx(1e-6 * static_cast<double>(std::accumulate(waits.begin(), waits.end(), Picoseconds{0}))));
  CHECK(reported.at("pacing/longest hold") ==
        Approx(1e-6 * static_cast<double>(*std::max_element(waits.begin(), waits.end()))));
}

TEST_CASE("pacing is refused where collection does not work ahead of the host") {
  const auto refused = [](const Case& c, const char* why) {
    CHECK_THROWS_WITH(CaseRig(c, true, 1), Catch::Contains("firmware.pacing.policy") && Catch::Contains(why));
  };
  Case c = roomy("credit");
  c.background_start = 0;
  refused(c, "collection in the background");
  c = roomy("credit");
  c.scheme = "fast";
  c.block = 8 * 8192;
  refused(c, "log blocks");
  c = roomy("credit");
  c.slc_pages = 4;
  c.path = "all";
  c.dynamic = 2;
  refused(c, "SLC mode");
}

TEST_CASE("credit grants what is gained, and more or less of it as there is more or less free space") {
  const Given given({{"correction", Value(0.8)}, {"least", Value(0.3)}});
  const auto policy = pacing_family().make("credit", given);
  REQUIRE(policy != nullptr);
  const auto grant = [&](double level) { return policy->grant({.moved = 8, .gained = 24, .level = level}); };
  CHECK(grant(1) == Approx(24));
  CHECK(grant(1.5) == Approx(24 * 1.4));
  CHECK(grant(0.5) == Approx(24 * 0.6));
  CHECK(grant(0) == Approx(24 * 0.3));
}

TEST_CASE("proportional grants the average gain, in proportion to the free space") {
  const auto policy = pacing_family().make("proportional", Given());
  REQUIRE(policy != nullptr);
  const auto grant = [&](double gained, double level) {
    return policy->grant({.moved = 8, .gained = gained, .level = level});
  };
  CHECK(grant(24, 1) == Approx(24));
  CHECK(grant(24, 0.5) == Approx(12));
  CHECK(grant(24, 0) == Approx(24 * 0.05));
  // One victim that gives nothing hardly shows: 8 of 4096 slots.
  CHECK(grant(0, 1) == Approx(24 * (1 - 8.0 / 4096)));
}
