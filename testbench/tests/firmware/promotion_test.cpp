// Promotion: what is read again from native blocks comes into SLC mode, as long as there is room,
// and nothing else does.
#include "firmware/features/promotion/promoter.h"
#include "models/base/input_error.h"
#include "testbench/tests/firmware/feature_rig.h"

using namespace tlmssd;
using namespace tlmssd::firmware;
using namespace tlmssd::firmware::testing;

namespace {

struct PromotionOptions {
  bool timed = true;
  double keep_free = 0.5;
  std::int64_t reads = 2;
  Bytes list = Bytes{1} << 20U;
};

/// Two dies of QLC whose data lie in native blocks: idle time has folded everything.
struct PromotionRig : FeatureRig<Promoter> {
  explicit PromotionRig(const PromotionOptions& how = {})
      : FeatureRig([&](FeatureSetup& setup) {
          setup.shape.geometry = {2, 1, 1, 1, 16, 16, 16384, 0};
          setup.shape.program_unit = 4;
          setup.shape.slc_pages = 4;
          setup.shape.logical_blocks = 100 * k_unit;
          setup.config.pslc.policy = "all";
          setup.config.pslc.static_bytes = Bytes{2} * 4 * 4 * 16384;  // four blocks a parallel unit
          setup.config.gc.idle_after = 1'000'000'000;
          choose(setup.config, "firmware.pslc.promotion", "lru",
                 {{"list", whole(static_cast<std::int64_t>(how.list))},
                  {"reads", whole(how.reads)},
                  {"keep_free", Value(how.keep_free)}});
          setup.options.timed = how.timed;
        }) {}
  void write_and_fold() {
    write_units(0, 100);
    settle();
  }
  /// Lets idle time pass until everything is folded.
  void settle() {
    host.let_end();
    REQUIRE(ftl.idle());
  }
  /// Reads the first units so many times.
  void read_some(int times, std::uint64_t units = 32) { read_each(units, times); }
};

std::string refusal(const PromotionOptions& how, const std::string& pslc) {
  PromotionRig rig(how);
  FirmwareConfig config = rig.config;
  config.pslc.policy = pslc;
  try {
    const Ftl ftl(rig.hw.ports, rig.shape, config);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("data that are read again are read in SLC mode the third time") {
  PromotionRig rig;
  rig.write_and_fold();
  REQUIRE(rig.stats().folds > 0);
  rig.read_some(1);
  CHECK(rig.stats().host_units_slc == 0);
  CHECK(rig.counters().due == 0);
  rig.read_some(1);
  CHECK(rig.counters().due == 32);
  rig.host.flush();
  rig.host.wait_below(1);
  CHECK(rig.stats().units_relocated == 32);
  CHECK(rig.stats().slc_units == 100);  // promoted data are none that the host has written
  const auto native = rig.stats().host_units_native;
  rig.read_some(1);
  CHECK(rig.stats().host_units_native == native);
  CHECK(rig.stats().host_units_slc == 32);
  // They are no writes of the host.
  CHECK(rig.stats().units_programmed[static_cast<std::size_t>(Purpose::host)] == 100);
  CHECK(rig.stats().host_units_written == 100);
  rig.host.verify_all();
}

TEST_CASE("promotion asks for as many reads as it is told, and only of what is on its list") {
  PromotionRig patient({.reads = 4});
  patient.write_and_fold();
  patient.read_some(3);
  CHECK(patient.counters().due == 0);
  patient.read_some(1);
  CHECK(patient.counters().due == 32);
  PromotionRig forgetful({.list = Bytes{31} * 4096});
  forgetful.write_and_fold();
  forgetful.read_some(5);
  CHECK(forgetful.counters().due == 0);
}

TEST_CASE("promotion leaves the share of the pSLC free that it must, and starts no folding") {
  PromotionRig rig({.keep_free = 0.7});  // of four blocks one may be in use
  rig.write_and_fold();
  const auto folds = rig.stats().folds;
  rig.read_some(3, 100);
  rig.host.flush();
  rig.host.wait_below(1);
  const auto promoted = rig.stats().units_relocated;
  CHECK(promoted > 0);
  CHECK(promoted < 70);
  rig.read_some(3, 100);
  rig.host.flush();
  rig.host.wait_below(1);
  CHECK(rig.stats().units_relocated == promoted);
  CHECK(rig.counters().without_slc > 0);
  CHECK(rig.stats().folds == folds);
  rig.host.verify_all();
}

TEST_CASE("hot data that find too little of the pSLC free are counted, and left where they are") {
  PromotionRig rig({.keep_free = 1});
  rig.write_units(0, 96);  // whole blocks, which are folded
  rig.settle();
  rig.read_each(16, 2);  // four are a multi-plane page: a block is open from then on
  rig.host.flush();
  rig.host.wait_below(1);
  const auto reported = rig.reported();
  CHECK(reported.at("promotion/units due") == 16);
  CHECK(reported.at("promotion/units promoted") == 4);
  CHECK(reported.at("promotion/refused for slc") == 12);
  CHECK(reported.at("promotion/refused for buffer") == 0);
}

TEST_CASE("hot data that find half of the write buffer full are counted, and left where they are") {
  PromotionRig rig({.keep_free = 0.2});
  rig.write_and_fold();
  rig.read_each(8, 1);
  for (std::uint64_t unit = 50; unit < 90; ++unit) rig.host.write(unit * k_unit, k_unit);  // of 64
  rig.host.read(0, 8 * k_unit);  // comes back before the first program has ended
  rig.host.drain();
  rig.read(20, 4);
  rig.read(20, 4);
  rig.host.flush();
  rig.host.wait_below(1);
  const auto reported = rig.reported();
  CHECK(reported.at("promotion/units due") == 12);
  CHECK(reported.at("promotion/units promoted") == 4);
  CHECK(reported.at("promotion/refused for slc") == 0);
  CHECK(reported.at("promotion/refused for buffer") == 8);
}

TEST_CASE("a write, a trim or a power failure while data wait to be promoted ends as without promotion") {
  for (const int what : {0, 1, 2, 3}) {
    PromotionRig rig;
    rig.write_and_fold();
    rig.read(5);
    rig.read(5);
    REQUIRE(rig.counters().due == 1);
    if (what == 0) rig.host.write(5 * k_unit + 2, 3);
    if (what == 1) rig.host.trim({{5 * k_unit, k_unit}});
    if (what == 2) rig.host.zeroes(5 * k_unit + 1, 2);
    rig.host.wait_below(1);
    if (what == 3) rig.ftl.power_cycle();
    rig.host.drain();
    CHECK(rig.stats().units_relocated == (what == 2 ? 1 : 0));  // what is left of it is still promoted
    rig.host.verify_all();
  }
}

TEST_CASE("data that could not be read are not promoted") {
  PromotionRig rig;
  rig.config.ecc.policy = "fixed";
  FakeHardware hw(rig.shape, rig.options);
  Ftl ftl(hw.ports, rig.shape, rig.config);
  ModelHost host(hw, ftl, rig.shape, 1);
  host.media_errors_expected = true;
  host.write(0, 100 * k_unit);
  host.drain();
  host.let_end();
  hw.flash.fails = [](const FlashOp&) { return true; };
  for (int n = 0; n < 4; ++n) {
    host.read(0, k_unit);
    host.wait_below(1);
  }
  CHECK(host.media_errors == 4);
  CHECK(dynamic_cast<const Promoter&>(*ftl.feature("firmware.pslc.promotion")).counters().due == 0);
}

TEST_CASE("promotion goes on from a snapshot as if nothing had been") {
  std::uint64_t promoted = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto work = [seed](PromotionRig& rig, const char* stream) {
      rig.host.random = RandomStream(seed, stream);
      for (int n = 0; n < 400; ++n) {
        const std::uint64_t unit = rig.host.random.below(rig.host.random.below(2) == 0 ? 100 : 20);
        if (rig.host.random.below(8) == 0) {
          rig.host.write(unit * k_unit, k_unit);
        } else {
          rig.host.read(unit * k_unit, k_unit);
        }
        rig.host.wait_below(4);
      }
      rig.host.drain();
    };
    PromotionRig straight;
    straight.write_and_fold();
    work(straight, "before");
    straight.settle();
    straight.host.drain();
    PromotionRig restored;
    restore(straight, restored);
    work(straight, "after");
    work(restored, "after");
    CHECK(straight.hw.event_queue.now() == restored.hw.event_queue.now());
    CHECK((saved(straight.ftl) == saved(restored.ftl)));
    promoted += restored.stats().units_relocated;
  }
  CHECK(promoted > 100);
}

TEST_CASE("promotion that cannot be says so in one line") {
  CHECK(refusal({}, "none") ==
        "firmware.pslc.promotion.policy: there is nothing to promote data to without blocks in SLC mode "
        "(firmware.pslc.policy is none); nearest valid: none");
  CHECK_THROWS_WITH(PromotionRig({.keep_free = 0.1}), Catch::Contains("firmware.pslc.promotion.keep_free") &&
                                                          Catch::Contains("nearest valid: 20 %"));
}
