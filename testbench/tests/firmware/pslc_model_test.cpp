// Blocks in SLC mode under random commands of every kind: nothing is lost across changes of mode,
// folds, trims of the whole drive, refresh, failures and losses of power, and nothing waits for
// ever.
#include <sstream>

#include "firmware/blocks/wear_policy.h"
#include "firmware/cache/cache_policy.h"
#include "firmware/pslc/data_path.h"
#include "firmware/victims/victim_policy.h"
#include "testbench/tests/firmware/model_case.h"

using namespace tlmssd;
using namespace tlmssd::firmware;
using namespace tlmssd::firmware::testing;

namespace {

void run_slc(const Case& c, bool timed, std::uint32_t commands, std::uint32_t depth, std::uint64_t seed) {
  run_random(c, timed, commands, depth, seed, [&](const CaseRig& rig) {
    const FtlStatistics& s = rig.ftl.statistics();
    REQUIRE(static_cast<double>(s.slc_units) >=
            c.slc_share * static_cast<double>(s.units_programmed[static_cast<std::size_t>(Purpose::host)]));
  });
}

}  // namespace

TEST_CASE("blocks in SLC mode give back what was written, however few there are") {
  std::uint64_t seed = 1000;
  const auto policies = victim_family().infos();
  for (Case c : shapes_with_slc()) {
    const bool may_copy = c.program_unit <= c.slc_pages;
    for (const auto& [fixed, dynamic] :
         {std::pair<std::uint32_t, std::uint32_t>{1, 0}, {0, 1}, {2, 3}, {0, 6}, {3, 0}}) {
      for (const char* when_full : {"wait", "bypass"}) {
        c.fixed = fixed;
        c.dynamic = dynamic;
        c.when_full = when_full;
        c.copyback = may_copy && seed % 2 == 0;
        c.fill = seed % 3 == 0 ? 1.0 : seed % 3 == 1 ? 0.9 : 0.5;
        c.fold_first = seed % 5 < 2 ? "emptiest" : "oldest";
        c.fold_below = seed % 4 == 0 ? 0 : 0.3;
        c.gone_at = seed % 7 == 0 ? 2 : 0.75;
        c.gc = policies[seed % policies.size()].name;
        c.streams = seed % 4 == 1 ? "shared" : "separate";
        c.wear = seed % 3 == 0 ? "static" : seed % 3 == 1 ? "dynamic" : "none";
        c.mode = seed % 5 == 0 ? "write-through" : "write-back";
        c.idle_after = seed % 7 == 0 ? 100'000'000 : 0;
        c.flush_at = seed % 11 == 0 ? 0.75 : 0;
        c.background_start = seed % 3 == 0 ? 0.0 : 0.1;
        c.low_water = 1 + static_cast<std::uint32_t>(seed % 2);
        c.slc_share = fixed > 0 && c.when_full == "wait" ? 0.6 : 0;
        const std::uint32_t depth = seed % 2 == 0 ? 64 : 12;
        run_slc(c, true, 1500, depth, ++seed);
        run_slc(c, false, 1500, 1, ++seed);
        ++seed;
      }
    }
  }
}

namespace {

template <class T>
T pick(RandomStream& random, std::initializer_list<T> values) {
  return values.begin()[random.below(values.size())];
}

template <class Family>
std::string any_of(const Family& family, RandomStream& random) {
  const auto infos = family.infos();
  return infos[random.below(infos.size())].name;
}

std::uint32_t small(RandomStream& random, std::uint32_t from, std::uint32_t to) {
  return static_cast<std::uint32_t>(from + random.below(to - from + 1));
}

void draw_pslc(Case& c, RandomStream& random) {
  do {
    c.fixed = small(random, 0, random.below(3) == 0 ? 4 : 1);
    c.dynamic = small(random, 0, random.below(2) == 0 ? 9 : 2);
  } while (c.fixed + c.dynamic == 0);
  c.path = any_of(path_family(), random);
  if (random.below(2) == 0) c.path = "all";
  c.when_full = pick<const char*>(random, {"wait", "bypass"});
  c.bypass_buffer = pick<double>(random, {0, 0.1, 0.5, 0.9});
  c.fold_first = pick<const char*>(random, {"oldest", "emptiest"});
  c.fold_below = pick<double>(random, {0, 0.1, 0.3, 0.8});
  c.gone_at = pick<double>(random, {0.25, 0.75, 2});
  c.copyback = c.program_unit <= c.slc_pages && c.ecc == "none" && random.below(2) == 0;
}

/// As many dynamic blocks as there can be, full of data.
double largest_of_free_space(const Case& c) {
  return static_cast<double>(c.geometry.pages) / (c.geometry.pages - c.slc_pages);
}

/// Any drive with blocks in SLC mode.
Case draw(std::uint64_t seed) {
  RandomStream random(seed, "drives with SLC mode");
  const std::uint32_t bits = small(random, 2, 4);
  Case c{geometry(small(random, 1, 2), small(random, 1, 2), 1, small(random, 1, 2), 0,
                  bits * small(random, 2, 6), pick(random, {4096U, 8192U, 16384U, 6144U}))};
  c.program_unit = pick(random, {1U, bits, bits, c.geometry.pages});
  c.slc_pages = c.geometry.pages / bits;
  c.unit = c.geometry.page_bytes == 6144 ? 1536 : pick<Bytes>(random, {4096, 4096, 2048});
  c.multi_plane = random.below(2) == 0;
  c.streams = pick<const char*>(random, {"separate", "separate", "shared"});
  c.gc = any_of(victim_family(), random);
  c.mode = pick<const char*>(random, {"write-back", "write-back", "write-through"});
  c.wear = any_of(wear_family(), random);
  c.flush_at = pick<double>(random, {0, 0, 0.75});
  c.fill = pick<double>(random, {1, 1, 0.9, 0.5});
  c.idle_after = pick<Picoseconds>(random, {0, 100'000'000});
  c.background_start = pick<double>(random, {0, 0.1, 0.4});
  c.low_water = small(random, 1, 3);
  if (random.below(3) == 0) {
    c.ecc = pick<const char*>(random, {"retry-only", "conventional", "fixed"});
    c.failures = pick<double>(random, {0, 0.1});
  }
  if (random.below(3) == 0) c.refresh = pick<std::int64_t>(random, {0, 3, 40});
  if (random.below(3) == 0) c.map_lines = pick<std::int64_t>(random, {1, 5, 100});
  if (c.map_lines > 0) c.map_line = pick<std::int64_t>(random, {0, 1, 8});
  // A cache marks data that could not be read in a way of its own: no failures with it here.
  if (random.below(4) == 0 && c.failures == 0 && c.unit == 4096) {
    c.cache = any_of(cache_family(), random);
    c.cache_medium = pick<const char*>(random, {"scm", "dram"});
  }
  draw_pslc(c, random);
  // Room for a few blocks beside all that is set aside.
  c.geometry.blocks = c.fixed + c.low_water + 4 + small(random, 2, 14);
  c.dynamic = std::min(c.dynamic, c.geometry.blocks - c.fixed);
  c.of_free_space = pick<double>(random, {0.75, 0.75, 0.2, 1, largest_of_free_space(c)});
  return c;
}

/// Data must outlast the loss of power: they are on flash by then, or in SCM.
void lose_power(CaseRig& rig) {
  rig.host.wait_below(1);
  rig.host.flush();
  rig.host.drain();
  rig.ftl.power_cycle();
}

/// Time in which the host is idle, now and then until all that can be folded is folded.
void rest(CaseRig& rig, bool timed) {
  rig.host.wait_below(1);
  if (!timed) {
    rig.ftl.idle_time();
  } else if (rig.host.random.below(2) == 0) {
    rig.hw.event_queue.run_until(rig.hw.event_queue.now() + rig.host.random.below(100) * 1'000'000'000);
  } else {
    rig.host.drain();
    rig.hw.event_queue.run_until(k_never);
  }
}

void run_life(std::uint64_t seed, bool timed) {
  const Case c = draw(seed);
  INFO(describe(c) << (timed ? ", timed" : ", untimed") << ", seed " << seed);
  CaseRig rig(c, timed, seed);
  const std::uint32_t depth = timed ? (seed % 3 == 0 ? 128 : 12) : 1;
  for (int chapter = 0; chapter < 8; ++chapter) {
    rig.anything(200, depth);
    const std::uint64_t dice = rig.host.random.below(6);
    if (dice == 0) rig.host.trim({{0, rig.shape.logical_blocks}});
    if (dice == 1) lose_power(rig);
    if (dice == 2 || dice == 3) rest(rig, timed);
    if (dice == 4) rig.host.verify_all();
  }
  rig.finish();
  REQUIRE_FALSE(rig.ftl.read_only());
}

}  // namespace

TEST_CASE("any drive with blocks in SLC mode gives back what was written") {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) run_life(seed, seed % 3 != 0);
}

// For long searches: TLMSSD_DRIVES="first last" test_firmware "[.search]"
TEST_CASE("drives with blocks in SLC mode, as many as asked for", "[.search]") {
  const char* range = std::getenv("TLMSSD_DRIVES");
  std::istringstream words(range == nullptr ? "101 1000" : range);
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  words >> first >> last;
  for (std::uint64_t seed = first; seed <= last; ++seed) run_life(seed, seed % 3 != 0);
}

namespace {

/// Writes every unit in order, and then at random, three times as much; the longest that one took.
Picoseconds write_and_overwrite(CaseRig& rig) {
  const std::uint64_t units = rig.shape.logical_blocks / (rig.shape.mapping_page_bytes / rig.shape.lba_bytes);
  Picoseconds longest = 0;
  for (std::uint64_t n = 0; n < 4 * units; ++n) {
    const Picoseconds begun = rig.hw.event_queue.now();
    REQUIRE(write_unit(rig, n < units ? n : rig.host.random.below(units)));
    longest = std::max(longest, rig.hw.event_queue.now() - begun);
  }
  return longest;
}

}  // namespace

TEST_CASE("a drive that lends all its free space is written full and overwritten without a stall") {
  for (std::uint64_t seed = 1; seed <= 24 * stress(); ++seed) {
    const std::uint32_t bits = 2 + seed % 3;
    Case c{geometry(2, 1, 1, 2, 28, 4 * bits, 8192), bits, 512, 4096, true};
    c.slc_pages = 4;
    c.path = "all";
    c.fixed = seed % 4 == 0 ? 2 : 0;
    c.dynamic = c.geometry.blocks - c.fixed;
    c.fill = seed % 5 == 0 ? 0.8 : 1;
    c.gone_at = seed % 2 == 0 ? 2 : 0.75;
    c.when_full = seed % 4 < 2 ? "wait" : "bypass";
    c.fold_below = seed % 3 == 0 ? 0 : 0.1;
    c.background_start = seed % 7 == 0 ? 0 : 0.1;
    c.low_water = 1 + seed % 2;
    c.copyback = seed % 5 < 2;
    Picoseconds by_default = 0;
    for (const double share : {0.75, largest_of_free_space(c)}) {
      c.of_free_space = share;
      INFO(describe(c) << ", seed " << seed);
      CaseRig rig(c, true, seed);
      const Picoseconds longest = write_and_overwrite(rig);
      REQUIRE(rig.ftl.statistics().folds > 0);
      rig.finish();
      REQUIRE_FALSE(rig.ftl.read_only());
      if (share == 0.75) by_default = longest;
      CHECK(longest <= 2 * by_default);
    }
  }
}
