// Reads in batches that meet on no die: what is in one, how many there are, and what writes wait.
#include "firmware/features/parallel_issue/parallel_issue.h"

#include <algorithm>
#include <vector>

#include "models/base/input_error.h"
#include "testbench/tests/firmware/feature_rig.h"
#include "testbench/tests/firmware/model_case.h"

using namespace tlmssd;
using namespace tlmssd::firmware;
using namespace tlmssd::firmware::testing;

namespace {

constexpr std::uint32_t k_issue_dies = 4;
constexpr std::uint64_t k_written = 400;
constexpr Picoseconds k_issue_bound = 2'000'000'000;

/// Four dies, all of whose data have been written.
struct IssueRig : FeatureRig<ParallelIssue> {
  explicit IssueRig(Picoseconds bound = k_issue_bound, std::uint32_t at_once = 1)
      : FeatureRig([&](FeatureSetup& setup) {
          setup.shape.geometry = {k_issue_dies, 1, 1, 1, 16, 8, 16384, 0};
          setup.shape.logical_blocks = k_written * k_unit;
          choose(setup.config, ParallelIssue::k_path, "batches",
                 {{"starvation_bound", whole(bound)}, {"at_once", whole(at_once)}});
        }) {
    write_units(0, k_written);
    hw.flash.watch = [this](const FlashOp& op) {
      if (op.command == FlashCommand::read) together = std::max(together, 1 + hw.flash.pending(op.die));
    };
    ftl.reset_statistics();
  }
  /// Units on one die.
  [[nodiscard]] std::vector<std::uint64_t> units_on(std::uint32_t die) const {
    std::vector<std::uint64_t> found;
    for (std::uint64_t unit = 0; unit < k_written; ++unit) {
      if (die_of(unit) == die) found.push_back(unit);
    }
    return found;
  }

  std::uint32_t together = 0;  ///< most reads that were under way on a die
};

}  // namespace

TEST_CASE("there are as many batches as the fullest die has reads, and they meet on none") {
  const auto at_once = GENERATE(1U, 2U, 3U);
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    IssueRig rig(k_issue_bound, at_once);
    RandomStream random(seed, "reads");
    std::vector<std::uint64_t> on_die(k_issue_dies);
    const Picoseconds start = rig.hw.event_queue.now();
    constexpr std::uint64_t k_reads = 40;
    for (std::uint64_t n = 0; n < k_reads; ++n) {
      const std::uint64_t unit = random.below(k_written);
      if (n >= at_once) ++on_die[rig.die_of(unit)];  // the first ones are batches by themselves
      rig.host.read(unit * k_unit, k_unit);
    }
    rig.host.wait_below(1);
    const std::uint64_t batches = at_once + *std::max_element(on_die.begin(), on_die.end());
    INFO("seed " << seed << ", " << at_once << " at once");
    CHECK(rig.counters().commands == k_reads);
    CHECK(rig.counters().batches == batches);
    CHECK(rig.counters().held == k_reads - at_once);
    CHECK(rig.together <= at_once);
    // A batch takes a read of flash, and what the core takes for the commands in it.
    const auto turns = static_cast<Picoseconds>((batches + at_once - 1) / at_once);
    const Picoseconds took = rig.hw.event_queue.now() - start;
    const Picoseconds core = static_cast<Picoseconds>(5 * k_reads) * rig.options.stage_time;
    CHECK(took >= turns * rig.options.read_time);
    CHECK(took <= turns * (rig.options.read_time + rig.options.memory_time) + core);
  }
}

TEST_CASE("a read that meets none before it overtakes those that do") {
  IssueRig rig;
  const std::vector<std::uint64_t> near = rig.units_on(0);
  const std::vector<std::uint64_t> far = rig.units_on(1);
  for (std::size_t n = 0; n < 10; ++n) rig.host.read(near[n] * k_unit, k_unit);
  rig.host.read(far[0] * k_unit, k_unit);
  // Three commands end with two batches: the first read alone, and the second with the other die's.
  while (rig.host.outstanding > 11 - 3) rig.hw.event_queue.run_until(rig.hw.event_queue.next());
  CHECK(rig.counters().batches == 3);
  rig.host.wait_below(1);
  CHECK(rig.counters().batches == 10);
}

TEST_CASE("a command that reads of one die twice waits for no read of its own") {
  IssueRig rig;
  for (std::uint64_t unit = 0; unit + 40 <= k_written; unit += 40) rig.host.read(unit * k_unit, 40 * k_unit);
  rig.host.wait_below(1);
  CHECK(rig.counters().batches == rig.counters().commands);  // each wants all dies
  CHECK(rig.counters().commands == k_written / 40);
}

TEST_CASE("a program waits while reads wait, and for the bound at most") {
  const auto bound = GENERATE(Picoseconds{0}, k_issue_bound, 100 * k_issue_bound);
  IssueRig rig(bound);
  const std::vector<std::uint64_t> near = rig.units_on(0);
  const std::uint64_t programs = rig.hw.flash.programs;
  Picoseconds programmed = -1;
  Picoseconds start = -1;
  for (std::size_t n = 0; n < 400; ++n) {
    if (n == 20) {
      start = rig.hw.event_queue.now();
      for (std::uint64_t unit = 0; unit < 8; ++unit) rig.host.write((100 + unit) * k_unit, k_unit);
    }
    rig.host.read(near[n % near.size()] * k_unit, k_unit);
    rig.host.wait_below(16);
    if (programmed < 0 && rig.hw.flash.programs > programs) programmed = rig.hw.event_queue.now();
  }
  const Picoseconds reads_over = rig.hw.event_queue.now();
  rig.host.drain();
  REQUIRE(start >= 0);
  REQUIRE(reads_over - start > 4 * k_issue_bound);
  // The program itself takes its time, and is seen by the next read.
  const Picoseconds slack = rig.options.program_time + 4 * rig.options.read_time;
  if (bound == 100 * k_issue_bound) {
    CHECK(programmed < 0);  // held until no read waited
    CHECK(rig.counters().starved == 0);
    CHECK(rig.counters().longest_write > 4 * k_issue_bound);
  } else {
    REQUIRE(programmed >= 0);
    CHECK(programmed - start >= bound + rig.options.program_time);
    CHECK(programmed - start <= bound + slack);
    CHECK(rig.counters().longest_write == bound);
    CHECK((bound == 0) == (rig.counters().writes_held == 0));
    CHECK((bound == 0) == (rig.counters().starved == 0));
  }
}

TEST_CASE("batches keep the data, whatever else the drive does") {
  std::uint64_t seed = 2600;
  std::uint64_t held = 0;
  std::uint64_t starved = 0;
  std::vector<Case> cases;
  cases.push_back({geometry(2, 1, 1, 2, 24, 8, 8192)});
  cases.push_back({geometry(3, 2, 1, 1, 24, 8, 16384)});
  cases.push_back({.geometry = geometry(4, 1, 1, 2, 26, 12, 8192), .program_unit = 3, .multi_plane = true});
  cases.push_back({.geometry = geometry(4, 1, 1, 1, 30, 8, 16384), .program_unit = 2, .parity = 4});
  cases.push_back({.geometry = geometry(2, 1, 1, 2, 16, 12, 8192),
                   .program_unit = 3,
                   .slc_pages = 4,
                   .dynamic = 2,
                   .path = "all"});
  for (Case c : cases) {
    for (const double failures : {0.0, 0.05}) {
      for (const char* const mode : {"write-back", "write-through"}) {
        c.fill = 0.8;
        c.issue_bound = seed % 3 == 0 ? 0 : seed % 3 == 1 ? 30'000'000 : 50'000'000'000;
        c.mode = mode;
        c.ecc = failures > 0 ? "fixed" : "none";
        c.failures = failures;
        if (c.slc_pages == 0 && c.parity == 0 && seed % 4 == 0) c.map_lines = 3;
        c.idle_after = seed % 3 == 0 ? 100'000'000 : 0;
        const auto counters = [](const CaseRig& rig) {
          return dynamic_cast<const ParallelIssue&>(*rig.ftl.feature(ParallelIssue::k_path)).counters();
        };
        const ParallelIssue::Counters timed = run_random(c, true, 2500, 24, ++seed, counters);
        held += timed.held;
        starved += timed.starved;
        CHECK(run_random(c, false, 1500, 1, ++seed, counters).held == 0);
        c.map_lines = 0;
      }
    }
  }
  CHECK(held > 1000);
  CHECK(starved > 10);
}

TEST_CASE("batches are refused on a drive of one die") {
  Case c{geometry(1, 1, 1, 2, 24, 8, 8192)};
  c.issue_bound = 1;
  CHECK_THROWS_WITH(CaseRig(c, true, 1),
                    Catch::Contains("firmware.parallel_issue.policy") && Catch::Contains("one die"));
}
