// Parity under random commands of every kind, on drives filled to the last unit too: nothing is
// lost, and nothing waits for ever, although what is moved has parity programmed that has to be
// collected.
#include "firmware/features/parity/parity.h"
#include "firmware/victims/victim_policy.h"
#include "testbench/tests/firmware/model_case.h"

using namespace tlmssd;
using namespace tlmssd::firmware;
using namespace tlmssd::firmware::testing;

namespace {

Parity::Counters counters(const CaseRig& rig) {
  return dynamic_cast<const Parity&>(*rig.ftl.feature(Parity::k_path)).counters();
}

}  // namespace

TEST_CASE("parity keeps the data, on drives filled to the last unit too") {
  std::uint64_t seed = 1700;
  std::uint64_t served = 0;
  const auto policies = victim_family().infos();
  std::vector<Case> cases;
  cases.push_back({.geometry = geometry(2, 1, 1, 2, 40, 8, 8192), .parity = 2});
  cases.push_back({.geometry = geometry(4, 1, 1, 1, 26, 8, 16384), .program_unit = 2, .parity = 4});
  cases.push_back(
      {.geometry = geometry(4, 1, 1, 2, 26, 12, 8192), .program_unit = 3, .multi_plane = true, .parity = 4});
  cases.push_back(
      {.geometry = geometry(2, 3, 1, 2, 26, 9, 8192), .program_unit = 3, .order = "PDWC", .parity = 3});
  cases.push_back({.geometry = geometry(3, 2, 1, 1, 24, 8, 16384), .unit = 512, .parity = 6});
  cases.push_back({.geometry = geometry(4, 2, 1, 1, 24, 8, 4096), .lba = 4096, .parity = 8});
  for (Case c : cases) {
    for (const double failures : {0.0, 0.05}) {
      for (const double fill : {0.8, 1.0}) {
        c.fill = fill;
        c.ecc = failures > 0 ? "fixed" : "none";
        c.failures = failures;
        c.gc = policies[seed % policies.size()].name;
        c.streams = seed % 4 == 1 ? "shared" : "separate";
        c.wear = seed % 3 == 0 ? "static" : "dynamic";
        c.mode = seed % 5 == 0 ? "write-through" : "write-back";
        c.idle_after = seed % 3 == 0 ? 100'000'000 : 0;
        c.low_water = 1 + static_cast<std::uint32_t>(seed % 2);
        c.isolation = seed % 7 == 2 ? "persistently" : seed % 7 == 5 ? "initially" : "";
        if (c.isolation == "persistently") c.wear = "dynamic";
        c.refresh = seed % 6 == 3 ? 50 : -1;
        c.parity_for = seed % 2 == 0 ? "behind-collection" : "behind-writes";
        c.rotate = seed % 3 != 1;
        const std::uint32_t depth = seed % 2 == 0 ? 32 : 8;
        served += run_random(c, true, 2500, depth, ++seed, counters).served;
        run_random(c, false, 1500, 1, ++seed, counters);
        ++seed;
      }
    }
  }
  REQUIRE(served > 300);
}

TEST_CASE("parity whose program fails, or a member of which does, is no loss") {
  std::uint64_t failed = 0;
  for (std::uint64_t seed = 1; seed < 20; ++seed) {
    Case c{.geometry = geometry(4, 1, 1, 1, 40, 8, 16384), .program_unit = 2, .parity = 4};
    c.fill = 0.7;
    c.rotate = seed % 2 == 0;
    c.parity_for = "behind-writes";
    c.program_failure = 0.01;
    failed += run_random(c, true, 1500, 8, seed,
                         [](const CaseRig& rig) { return rig.ftl.statistics().program_failures; });
  }
  REQUIRE(failed > 10);
}
