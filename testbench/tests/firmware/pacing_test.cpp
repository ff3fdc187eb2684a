// Write pacing under random commands: nothing is lost, and nothing waits for ever; and what it
// cannot do is refused. What it is for is tested on a whole drive (drive/pacing_test.cpp).
#include "firmware/features/pacing/pacing.h"

#include "models/base/input_error.h"
#include "testbench/tests/firmware/model_case.h"

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
