// Refresh: what is due is moved, what is not stays; by reads, by age, by corrected bits; and it
// never stands in the way.
#include <cmath>
#include <set>

#include "firmware/features/refresh/refresher.h"
#include "testbench/tests/firmware/feature_rig.h"
#include "testbench/tests/firmware/refresh_rig.h"

using namespace tlmssd;
using namespace tlmssd::firmware;
using namespace tlmssd::firmware::testing;

namespace {

constexpr std::int64_t k_day = 86'400'000'000'000;  // nanoseconds

struct Limits {
  double days = 0;
  std::int64_t reads = 0;
  std::int64_t errors = 0;
  double patrol_days = 0;
};

struct LimitsRig : RefreshRig {
  explicit LimitsRig(const Limits& limits, bool timed = false, double fill = 0.7,
                     const std::string& wear = "dynamic", const std::string& ecc = "fixed")
      : RefreshRig(timed, fill, [&](FirmwareConfig& chosen) {
          choose(chosen, "firmware.refresh", "limits",
                 {{"retention", Value(limits.days * 86'400)},
                  {"reads", whole(limits.reads)},
                  {"errors", whole(limits.errors)},
                  {"patrol", Value(limits.patrol_days * 86'400)}});
          chosen.wear.policy = wear;
          chosen.ecc.policy = ecc;
        }) {}
  void overwrite(int writes) {
    for (int i = 0; i < writes; ++i) {
      host.write(host.random.below(units()) * k_unit, k_unit);
      host.wait_below(8);
    }
    host.drain();
  }
};

/// Two dies whose blocks hold 16 pages, or four in SLC mode, where all data go and stay.
struct SlcRig : FeatureSetup, ModelRig {
  SlcRig()
      : FeatureSetup([](FeatureSetup& setup) {
          setup.shape.geometry = {2, 1, 1, 1, 16, 16, 16384, 0};
          setup.shape.slc_pages = 4;
          setup.shape.logical_blocks = 100 * k_unit;
          setup.config.pslc.policy = "all";
          setup.config.pslc.static_bytes = Bytes{2} * 8 * 4 * 16384;  // eight blocks a parallel unit
          setup.config.pslc.fold_below = 0;
          choose(setup.config, "firmware.refresh", "limits",
                 {{"retention", Value(0.0)},
                  {"reads", whole(80)},
                  {"errors", whole(0)},
                  {"patrol", Value(86'400.0)}});
        }),
        ModelRig(static_cast<FeatureSetup&>(*this)) {}
};

}  // namespace

TEST_CASE("a block is refreshed at the read that reaches the limit, and none before") {
  for (const bool timed : {false, true}) {
    LimitsRig rig({.reads = 50}, timed);
    rig.fill();
    const auto& moved = rig.watch();
    for (int i = 0; i < 49; ++i) rig.read(5);
    CHECK(rig.stats().feature_moves() == 0);
    rig.read(5);
    rig.host.drain();
    CHECK(rig.stats().feature_moves() == 1);
    CHECK(moved.contains(5));
    CHECK(moved.size() == k_block_units);
    CHECK(rig.stats().units_programmed[k_refresh] == k_block_units);
    // Its data lie elsewhere now, in a block whose reads begin anew once it is full.
    rig.hw.flash.watch = nullptr;
    rig.host.verify_all();
  }
}

TEST_CASE("a read counts for as many senses as it took, for each of them disturbs its block") {
  const auto senses = GENERATE(2, 3, 7);
  LimitsRig rig({.reads = 50});
  rig.fill();
  rig.hw.flash.options.senses = static_cast<std::uint8_t>(senses);
  const int enough = (50 + senses - 1) / senses;
  rig.read(5, enough - 1);
  CHECK(rig.stats().feature_moves() == 0);
  rig.read(5);
  rig.host.drain();
  CHECK(rig.stats().feature_moves() == 1);
}

TEST_CASE("a read that is tried again counts for all of its attempts") {
  LimitsRig rig({.reads = 51}, false, 0.7, "dynamic", "retry-only");
  rig.fill();
  std::uint64_t attempts = 0;
  rig.hw.flash.fails = [&](const FlashOp& op) { return op.purpose == Purpose::host && ++attempts % 3 != 0; };
  rig.read(5, 16);  // three attempts each
  CHECK(rig.hw.flash.reads == 48);
  CHECK(rig.stats().feature_moves() == 0);
  rig.read(5);
  rig.host.drain();
  CHECK(rig.stats().feature_moves() == 1);
}

TEST_CASE("the erase of a block whose data were moved for refresh is for refresh, too") {
  LimitsRig rig({.reads = 50}, true);
  rig.fill();
  std::vector<Purpose> erases;
  rig.hw.flash.watch = [&](const FlashOp& op) {
    if (op.command == FlashCommand::erase) erases.push_back(op.purpose);
  };
  rig.read(5, 50);
  rig.host.drain();
  CHECK(erases == std::vector<Purpose>{Purpose::refresh});
}

TEST_CASE("a block is refreshed when a decoder corrected as many bits as the limit, not for fewer") {
  for (const bool timed : {false, true}) {
    LimitsRig rig({.errors = 30}, timed);
    rig.fill();
    const auto& moved = rig.watch();
    std::uint32_t wrong = 29;
    rig.hw.flash.wrong_bits = [&](const FlashOp& op) { return op.purpose == Purpose::host ? wrong : 0; };
    for (int i = 0; i < 100; ++i) rig.read(static_cast<std::uint64_t>(i));
    rig.host.drain();
    CHECK(rig.stats().feature_moves() == 0);
    wrong = 30;
    rig.read(7);
    rig.host.drain();
    CHECK(rig.stats().feature_moves() == 1);
    CHECK(moved.contains(7));
    rig.hw.flash.wrong_bits = nullptr;
    rig.host.verify_all();
  }
}

TEST_CASE("a block is refreshed when an attempt could not be decoded, however many bits were wrong") {
  for (const bool timed : {false, true}) {
    LimitsRig rig({.errors = 1000}, timed, 0.7, "dynamic", "retry-only");
    rig.fill();
    const auto& moved = rig.watch();
    rig.hw.flash.wrong_bits = [&](const FlashOp& /*op*/) { return 61U; };
    rig.read(7);
    rig.host.drain();
    CHECK(rig.stats().feature_moves() == 0);
    rig.hw.flash.fails = [&](const FlashOp& op) {
      return op.purpose == Purpose::host && op.retry_level == 0;
    };
    rig.read(7);
    rig.host.drain();
    CHECK(rig.stats().feature_moves() == 1);
    CHECK(moved.contains(7));
  }
}

TEST_CASE("data that reach the age are moved by the next patrol, open blocks included") {
  for (const bool timed : {false, true}) {
    LimitsRig rig({.days = 30, .patrol_days = 1}, timed);
    rig.fill();
    const auto& moved = rig.watch();
    rig.ftl.rest(0, 29 * k_day);
    rig.ftl.patrol();
    rig.host.drain();
    CHECK(rig.stats().feature_moves() == 0);
    CHECK(moved.empty());
    rig.ftl.rest(0, 1 * k_day);
    CHECK(moved.empty());
    rig.ftl.patrol();
    rig.host.drain();
    CHECK(moved.size() == rig.units());
    CHECK(rig.stats().units_programmed[k_refresh] == rig.units());
    // They are young again.
    rig.watch();
    rig.ftl.rest(0, 29 * k_day);
    rig.ftl.patrol();
    rig.host.drain();
    CHECK(moved.empty());
    rig.host.verify_all();
  }
}

TEST_CASE("what is due next is the oldest data, by what is left of their age") {
  LimitsRig rig({.days = 30, .patrol_days = 1});
  constexpr double k_day_seconds = 86'400;
  CHECK(std::isinf(rig.ftl.next_due()));  // nothing has been written
  rig.fill();
  CHECK(rig.ftl.next_due() == Approx(30 * k_day_seconds));
  rig.ftl.rest(0, 12 * k_day);
  CHECK(rig.ftl.next_due() == Approx(18 * k_day_seconds));
  rig.overwrite(200);  // others stay as old as they are
  CHECK(rig.ftl.next_due() == Approx(18 * k_day_seconds));
  rig.ftl.rest(0, 18 * k_day);
  rig.ftl.patrol();
  rig.host.drain();
  CHECK(rig.ftl.next_due() <= 30 * k_day_seconds);
  CHECK(rig.ftl.next_due() >= 12 * k_day_seconds);
  CHECK(std::isinf(LimitsRig({.reads = 80, .patrol_days = 1}).ftl.next_due()));
  CHECK(rig.ftl.patrol_interval() == Approx(k_day_seconds));
}

TEST_CASE("a patrol that is late does not bring the next ones forward") {
  LimitsRig rig({.days = 22, .patrol_days = 7});
  rig.fill();
  const auto command = [&] {  // that reads nothing, which would be looked at by itself
    rig.host.flush();
    rig.host.wait_below(1);
  };
  rig.ftl.rest(0, 20 * k_day);
  command();  // the patrols of two weeks at once
  const auto& moved = rig.watch();
  rig.ftl.rest(0, 5 * k_day);
  command();
  rig.ftl.rest(0, 1 * k_day + k_day / 2);  // not a week yet
  command();
  rig.host.drain();
  CHECK(moved.empty());
  rig.ftl.rest(0, 4 * k_day);
  command();
  rig.host.drain();
  CHECK(moved.size() == rig.units());
}

TEST_CASE("a patrol rides on the host's commands") {
  LimitsRig rig({.days = 30, .patrol_days = 7});
  rig.fill();
  const auto& moved = rig.watch();
  rig.read(1);
  rig.ftl.rest(0, 6 * k_day);
  rig.read(1);  // too early to look
  rig.ftl.rest(0, 25 * k_day);
  CHECK(moved.empty());
  rig.read(1);
  rig.host.drain();
  CHECK(moved.size() == rig.units());
  rig.host.verify_all();
}

TEST_CASE("reads outside the simulation count") {
  LimitsRig rig({.reads = 80, .patrol_days = 1});
  rig.fill();
  const auto& moved = rig.watch();
  rig.ftl.disturb(9);  // 72 of each block of eight pages
  rig.ftl.patrol();
  CHECK(moved.empty());
  rig.ftl.disturb(1);
  rig.ftl.patrol();
  rig.host.drain();
  // All but what lies in the blocks of the four parallel units that are not full yet.
  CHECK(moved.size() == rig.units() / (4 * k_block_units) * (4 * k_block_units));
  rig.host.verify_all();
}

TEST_CASE("reads outside the simulation count for the pages that a block holds, not for all it could") {
  LimitsRig rig({.reads = 80, .patrol_days = 1});
  rig.host.write(0, 8 * k_unit);  // a page in each of the four parallel units
  rig.host.drain();
  const auto& moved = rig.watch();
  rig.ftl.disturb(79);
  rig.ftl.patrol();
  rig.host.drain();
  CHECK(moved.empty());
  rig.ftl.disturb(1);
  rig.ftl.patrol();
  rig.host.drain();
  CHECK(moved.size() == 8);
  rig.host.verify_all();
}

TEST_CASE("reads outside the simulation count for the pages of a block in SLC mode") {
  SlcRig rig;
  rig.host.write(0, 64 * k_unit);  // four blocks of four pages
  rig.host.drain();
  REQUIRE(rig.ftl.statistics().slc_units == 64);
  rig.ftl.disturb(19);
  rig.ftl.patrol();
  rig.host.drain();
  CHECK(rig.ftl.statistics().feature_moves() == 0);
  rig.ftl.disturb(1);
  rig.ftl.patrol();
  rig.host.drain();
  CHECK(rig.ftl.statistics().feature_moves() == 4);
  rig.host.verify_all();
}

TEST_CASE("a block that was read more often than can be counted does not become fresh by one more read") {
  LimitsRig rig({.reads = 80, .patrol_days = 1});
  rig.fill();
  const auto& moved = rig.watch();
  rig.ftl.disturb(0xFFFFFFFFU);
  rig.read(1);
  rig.ftl.patrol();
  rig.host.drain();
  CHECK(moved.size() == rig.units());
  rig.host.verify_all();
}

// A block that collection has taken up and put down again holds data like any other.
TEST_CASE("after any history every unit that is old is moved") {
  for (const bool timed : {false, true}) {
    for (const char* wear : {"dynamic", "static"}) {
      for (const double fill : {0.5, 0.7, 0.85}) {
        INFO((timed ? "timed, " : "untimed, ") << wear << ", fill " << fill);
        LimitsRig rig({.days = 30, .patrol_days = 1}, timed, fill, wear);
        rig.fill();
        for (int round = 0; round < 6; ++round) {
          rig.overwrite(200 + 300 * round);
          const auto& moved = rig.watch();
          rig.ftl.rest(0, 30 * k_day);
          rig.ftl.patrol();
          rig.host.drain();
          CHECK(moved.size() == rig.units());
          rig.hw.flash.watch = nullptr;
        }
        rig.host.verify_all();
      }
    }
  }
}

TEST_CASE("nothing is moved below the limits, whatever the host does") {
  LimitsRig rig({.days = 30, .reads = 1'000'000, .errors = 60, .patrol_days = 1}, true);
  rig.hw.flash.wrong_bits = [](const FlashOp& /*op*/) { return 59; };
  rig.fill();
  for (int i = 0; i < 3000; ++i) {
    rig.host.anything(40);
    rig.host.wait_below(8);
  }
  rig.ftl.rest(0, 29 * k_day);
  rig.ftl.patrol();
  rig.host.drain();
  CHECK(rig.stats().feature_moves() == 0);
  CHECK(rig.stats().reads[k_refresh] == 0);
}

TEST_CASE("refresh goes on from a snapshot where it was") {
  const Limits limits{.days = 30, .reads = 10, .patrol_days = 1};
  const auto after = [](LimitsRig& rig) {
    rig.host.random = RandomStream(9, "after the snapshot");
    for (int i = 0; i < 2000; ++i) {
      rig.host.anything(20);
      rig.host.wait_below(4);
      if (i % 500 == 499) rig.ftl.rest(0, 11 * k_day);
    }
    rig.host.drain();
  };
  std::uint64_t refreshes = 0;
  for (int seed = 0; seed < 100; ++seed) {
    LimitsRig straight(limits, true);
    straight.fill();
    straight.host.random = RandomStream(static_cast<std::uint64_t>(seed), "before");
    for (int i = 0; i < 500; ++i) {
      straight.host.anything(20);
      straight.host.wait_below(4);
    }
    straight.host.drain();
    LimitsRig restored(limits, true);
    restore(straight, restored);
    after(straight);
    after(restored);
    refreshes += restored.stats().feature_moves();
    CHECK(straight.stats().feature_moves() == restored.stats().feature_moves());
    CHECK(straight.stats().units_programmed == restored.stats().units_programmed);
    CHECK(straight.hw.event_queue.now() == restored.hw.event_queue.now());
    CHECK((saved(straight.ftl) == saved(restored.ftl)));
  }
  CHECK(refreshes > 100);
}

TEST_CASE("a full drive goes on under refresh without end") {
  for (const bool timed : {false, true}) {
    for (const char* wear : {"dynamic", "static"}) {
      LimitsRig rig({.days = 1, .reads = 4, .errors = 10, .patrol_days = 0.5}, timed, 1.0, wear);
      rig.hw.flash.wrong_bits = [&](const FlashOp& /*op*/) {
        return static_cast<std::uint32_t>(rig.host.random.below(20));
      };
      rig.fill();
      for (int i = 0; i < 4000; ++i) {
        rig.host.anything(30);
        rig.host.wait_below(8);
        if (i % 100 == 0) rig.ftl.rest(0, k_day);
      }
      rig.host.drain();
      CHECK(rig.stats().feature_moves() > 0);
      rig.hw.flash.wrong_bits = nullptr;
      rig.host.verify_all();
    }
  }
}
