// Read-ahead on fake hardware: what is fetched and when, what it makes of the time, and that no
// command ever reads what is no more true.
#include "firmware/features/read_ahead/read_ahead.h"

#include <catch2/catch.hpp>
#include <functional>

#include "firmware/cache/cache.h"
#include "testbench/tests/firmware/feature_rig.h"
#include "testbench/tests/firmware/model_case.h"

namespace tlmssd::firmware::testing {
namespace {

constexpr std::uint64_t k_written = 400;
constexpr std::int64_t k_window = 16;
constexpr std::uint64_t k_page = 4;  // units

/// Four dies, pages of four units, all of whose data have been written.
struct AheadRig : FeatureRig<ReadAhead> {
  explicit AheadRig(std::int64_t window = k_window, std::int64_t streams = 4, std::int64_t after = 2,
                    const char* ecc = "none", const std::function<void(FeatureSetup&)>& change = {})
      : FeatureRig([&](FeatureSetup& setup) {
          if (change) change(setup);
          setup.config.ecc.policy = ecc;
          setup.shape.geometry = {4, 1, 1, 1, 16, 8, 16384, 0};
          setup.shape.logical_blocks = k_written * k_unit;
          choose(setup.config, "firmware.read_ahead", "sequential",
                 {{"window", whole(window * 4096)}, {"streams", whole(streams)}, {"after", whole(after)}});
        }) {
    write_units(0, k_written);
    ftl.reset_statistics();
  }
  [[nodiscard]] const ReadAhead& ahead() const {
    return dynamic_cast<const ReadAhead&>(*ftl.feature(ReadAhead::k_path));
  }
  /// What has been fetched is accounted for, if nothing is on its way.
  void check_sum() const {
    const ReadAhead::Counters& c = counters();
    CHECK(c.fetched == c.used + c.unused + c.outdated + c.lost + ahead().not_used_yet());
  }
  [[nodiscard]] std::uint64_t senses() const { return hw.flash.reads; }
};

}  // namespace

TEST_CASE("reads in order are followed by reads ahead, from the second on, of a window and whole pages") {
  AheadRig rig;
  const std::uint64_t before = rig.senses();
  rig.read(0);
  rig.host.let_end();
  CHECK(rig.counters().fetched == 0);
  CHECK(rig.senses() == before + 1);
  rig.read(1);
  rig.host.let_end();
  // Units 2 up to 18, and the rest of that page.
  CHECK(rig.counters().fetched == 18);
  CHECK(rig.senses() == before + 2 + 5);
  // Nothing of the first half of the window reads flash, or has more fetched.
  for (std::uint64_t unit = 2; unit < 8; ++unit) {
    rig.read(unit);
    CHECK(rig.senses() == before + 7);
  }
  CHECK(rig.counters().used == 6);
  // From here to the end of the window there are eight units beyond what has been fetched.
  rig.read(8);
  rig.read(9);
  rig.read(10);
  rig.read(11);
  rig.host.let_end();
  CHECK(rig.counters().fetched == 18 + 8);
  CHECK(rig.senses() == before + 7 + 2);
  rig.check_sum();
}

TEST_CASE("what has been read ahead takes no time of flash, what is on its way as long as it takes") {
  AheadRig cold(k_window, 4, 1000);
  cold.read(0);
  cold.read(1);
  const Picoseconds from_flash = cold.read(2);
  CHECK(from_flash >= cold.options.read_time);
  AheadRig rig;
  rig.read(0);
  rig.read(1);
  const Picoseconds pause = rig.options.read_time / 3;
  rig.hw.event_queue.run_until(rig.hw.event_queue.now() + pause);
  const Picoseconds on_its_way = rig.read(2);
  CHECK(rig.counters().waits == 1);
  // Cores take a little longer, for the map entries of all that is fetched.
  CHECK(on_its_way <= from_flash - pause + rig.options.read_time / 50);
  CHECK(on_its_way >= from_flash - pause - rig.options.read_time / 50);
  rig.host.let_end();
  CHECK(rig.read(3) <= from_flash - rig.options.read_time);
}

TEST_CASE("reads at random are not followed") {
  AheadRig rig;
  for (int n = 0; n < 300; ++n) {
    const std::uint64_t unit = rig.host.random.below(k_written / 2);
    rig.read(2 * unit);  // never one beside another
  }
  CHECK(rig.counters().fetched == 0);
}

TEST_CASE("as many runs of reads as there are streams are told apart, and no more") {
  const auto runs = GENERATE(1U, 2U, 3U, 4U);
  AheadRig rig(k_window, 3);
  for (std::uint64_t n = 0; n < 20; ++n) {
    for (std::uint64_t run = 0; run < runs; ++run) rig.read(run * 100 + n);
  }
  rig.host.let_end();
  if (runs <= 3) {
    CHECK(rig.counters().used == 18 * runs);
  } else {
    CHECK(rig.counters().fetched == 0);  // each begins anew, for the others have come since
  }
  rig.check_sum();
}

TEST_CASE("commands of any length, a part of a unit or several, make a stream") {
  AheadRig rig;
  const std::uint64_t before = rig.senses();
  std::uint64_t lba = 3;
  for (const std::uint32_t blocks : {3U, 1U, 2U, 20U, 7U, 8U, 5U, 1U, 14U}) {
    rig.host.read(lba, blocks);
    rig.host.wait_below(1);
    rig.host.let_end();
    lba += blocks;
  }
  // The first two read unit 0 by themselves, which is then fetched; all else comes from there.
  CHECK(rig.senses() == before + 2 + (rig.counters().fetched + k_page - 1) / k_page);
  CHECK(rig.counters().used == (lba + k_unit - 1) / k_unit);
  rig.check_sum();
}

TEST_CASE("nothing is read ahead beyond the end of the drive, where nothing lies, or twice") {
  AheadRig rig;
  rig.host.trim({{(k_written - 6) * k_unit, 2 * k_unit}});
  rig.host.drain();
  rig.read(k_written - 10);
  rig.read(k_written - 9);
  rig.host.let_end();
  CHECK(rig.counters().fetched == 6);
  for (std::uint64_t unit = k_written - 8; unit < k_written; ++unit) rig.read(unit);
  CHECK(rig.counters().used == 6);
  rig.host.let_end();
  CHECK(rig.counters().fetched == 6);
  rig.check_sum();
}

TEST_CASE("what is written or trimmed after it was read ahead is not served from there") {
  const auto* const scheme = GENERATE("page", "block-mapped", "bast", "fast", "superblock");
  INFO(scheme);
  AheadRig rig(k_window, 4, 2, "none", [&](FeatureSetup& setup) { setup.config.mapping.scheme = scheme; });
  rig.read(0);
  rig.read(1);
  rig.host.let_end();
  rig.host.write(5 * k_unit + 2, 3);  // a part of the unit
  rig.host.write(7 * k_unit, k_unit);
  rig.host.trim({{9 * k_unit, k_unit}});
  SECTION("while it waits in the write buffer") {}
  SECTION("once it is in flash") {
    rig.host.flush();
    rig.host.wait_below(1);
    CHECK(rig.counters().outdated == 3);
  }
  for (std::uint64_t unit = 2; unit < 12; ++unit) rig.read(unit);  // the host compares
  rig.host.let_end();
  rig.check_sum();
}

TEST_CASE(
    "what is read ahead counts no more once its block has been erased, though its unit was not written") {
  AheadRig rig;
  rig.read(0);
  rig.read(1);
  rig.host.let_end();
  constexpr Lpn k_kept = 5;
  const BlockPool& pool = rig.ftl.blocks();
  const Ppn where = rig.ftl.map().lookup(k_kept);
  const BlockInfo& block = pool.info(pool.layout().block_of(where));
  const auto copy = [&] {
    FlashCopy* const found = const_cast<ReadAhead&>(rig.ahead()).copy_of(k_kept, where, 1);
    if (found != nullptr) const_cast<ReadAhead&>(rig.ahead()).give_back(*found);
    return found != nullptr;
  };
  CHECK(copy());
  for (const std::uint32_t before = block.erases; block.erases == before;) {
    rig.host.write((k_kept + 1 + rig.host.random.below(k_written - k_kept - 1)) * k_unit, k_unit);
    rig.host.wait_below(8);
  }
  CHECK_FALSE(copy());
  rig.read(k_kept);
  rig.host.drain();
  rig.check_sum();
}

TEST_CASE("what is written while it is on its way is not served from there") {
  for (Picoseconds wait = 0; wait < 120'000'000; wait += 1'700'000) {
    AheadRig rig;
    rig.read(0);
    rig.read(1);
    rig.hw.event_queue.run_until(rig.hw.event_queue.now() + wait);
    rig.host.read(3 * k_unit, k_unit);
    rig.host.write(3 * k_unit, k_unit, true);
    rig.host.read(3 * k_unit, k_unit);
    rig.host.write(4 * k_unit, k_unit, true);
    rig.host.wait_below(1);
    rig.read(3, 3);
    rig.host.drain();
    rig.check_sum();
    REQUIRE(rig.ahead().not_used_yet() == 0);
  }
}

TEST_CASE("a unit that could not be decoded ahead is read by the command itself") {
  AheadRig rig(k_window, 4, 2, "fixed");
  const auto waits = GENERATE(false, true);
  rig.host.media_errors_expected = true;
  std::uint64_t tried = 0;
  rig.hw.flash.fails = [&](const FlashOp& op) { return op.ledger == nullptr && ++tried > 0; };
  rig.read(0);
  rig.read(1);
  if (!waits) rig.host.let_end();
  const std::uint64_t media_errors = rig.host.media_errors;
  rig.read(2, 4);
  CHECK(tried > 0);
  CHECK(rig.host.media_errors == media_errors);
  rig.host.let_end();
  CHECK(rig.counters().lost >= (waits ? 14 : 18));
  rig.check_sum();
}

TEST_CASE("streams that are given up make room for others, the oldest first") {
  AheadRig rig(k_window, 1);
  for (std::uint64_t start = 0; start < 320; start += 40) {
    rig.read(start);
    rig.read(start + 1);
    rig.read(start + 2);
    rig.host.let_end();
  }
  const ReadAhead::Counters& c = rig.counters();
  CHECK(c.fetched >= 8 * 14);
  CHECK(c.used == 8);
  CHECK(c.unused > 6 * 14);
  rig.check_sum();
  CHECK(rig.hw.memory.highest <= rig.ftl.dram_bytes());
}

TEST_CASE("at rest nothing is held") {
  AheadRig rig;
  rig.read(0);
  rig.read(1);
  rig.host.drain();
  CHECK(rig.ahead().not_used_yet() == 0);
  CHECK(rig.counters().unused == rig.counters().fetched);
  CHECK(rig.counters().fetched > 0);
  const Picoseconds again = rig.read(2);
  CHECK(again >= rig.options.read_time);  // nothing of it is left
}

namespace {

struct CachedReads {
  std::uint64_t hits;
  std::uint64_t copies;
  std::uint64_t fetched;
  Bytes into_scm;
};

/// Reads the first `units` in order, twice, through a cache. `after`: read commands from which on
/// is read ahead.
CachedReads read_twice(const std::string& policy, bool waits, Bytes capacity, std::uint64_t units,
                       std::int64_t after, bool pauses) {
  AheadRig rig(k_window, 4, after, "none", [&](FeatureSetup& setup) {
    setup.config.cache.policy = policy;
    setup.config.cache.copy_waits = waits;
    setup.shape.scm_bytes = capacity;
  });
  rig.write_units(0, k_written);
  rig.host.trim({{units * k_unit, (k_written - units) * k_unit}});  // what is in the cache
  rig.host.drain();
  rig.ftl.reset_statistics();
  const Bytes before = rig.hw.memory.scm_written;
  for (int pass = 0; pass < 2; ++pass) {
    for (std::uint64_t unit = 0; unit < units; unit += 2) {
      rig.read(unit, 2);
      if (pauses) rig.host.let_end();
    }
  }
  rig.host.drain();
  rig.check_sum();
  const CacheStatistics& cache = rig.ftl.cache()->statistics();
  return {cache.read_hits, cache.copies_in, rig.counters().fetched, rig.hw.memory.scm_written - before};
}

}  // namespace

TEST_CASE("what is served from what was read ahead is copied into the cache as what is read from flash") {
  constexpr std::uint64_t k_units = 40;
  constexpr std::int64_t k_never = 1000;
  const auto pauses = GENERATE(false, true);
  // In half of the cache, then in several times of it.
  for (const Bytes capacity : {Bytes{2} * k_units * 4096, Bytes{16} * 4096}) {
    for (const char* policy : {"nv-wb", "lru", "read-write"}) {
      INFO(policy << " in " << capacity << " B");
      const bool waits = capacity < k_units * 4096;
      const CachedReads with = read_twice(policy, waits, capacity, k_units, 2, pauses);
      const CachedReads without = read_twice(policy, waits, capacity, k_units, k_never, pauses);
      CHECK(without.copies > 0);
      CHECK(with.copies == without.copies);
      CHECK(with.hits == without.hits);
      CHECK(with.into_scm == without.into_scm);
      CHECK(with.fetched >= k_units - 4);
      if (with.hits == k_units) CHECK(with.fetched <= k_units);  // not what lies in the cache
      CHECK(without.fetched == 0);
    }
  }
}

namespace {

/// Reads in order and writes of parts and wholes, trims and flushes in the same few places, so that
/// blocks go round while copies are held.
void go_round(CaseRig& rig, int times) {
  ModelHost& host = rig.host;
  const std::uint64_t blocks = rig.shape.logical_blocks;
  const auto sectors = static_cast<std::uint32_t>(rig.shape.mapping_page_bytes / rig.shape.lba_bytes);
  for (int n = 0; n < times; ++n) {
    const std::uint64_t start = host.random.below(blocks - 8 * sectors) / sectors * sectors;
    for (std::uint32_t unit = 0; unit < 3; ++unit) host.read(start + unit * sectors, sectors);
    host.wait_below(1);
    for (int m = 0; m < 12; ++m) {
      const auto length = static_cast<std::uint32_t>(1 + host.random.below(2 * sectors));
      const std::uint64_t lba = start + host.random.below(8 * sectors - length);
      const std::uint64_t dice = host.random.below(20);
      if (dice < 14) {
        host.write(lba, length, dice < 10);
      } else if (dice < 16) {
        host.trim({{lba, length}});
      } else if (dice < 17) {
        host.flush();
      } else {
        host.read(lba, length);
      }
      host.wait_below(dice % 4 + 1);
    }
  }
}

/// Cases of each mapping scheme, with hardly more blocks than the data need.
std::vector<Case> few_blocks_of_each_scheme() {
  std::vector<Case> cases;
  for (const char* scheme : {"page", "dftl", "block-mapped", "bast", "fast", "superblock"}) {
    for (const bool wide : {false, true}) {
      Case c{wide ? geometry(2, 1, 1, 2, 10, 8, 8192) : geometry(1, 1, 1, 1, 10, 8, 4096)};
      c.scheme = scheme;
      if (c.scheme == "dftl") c.map_lines = 3;
      if (c.scheme == "block-mapped") c.block = wide ? 32768 : 8192;
      if (c.scheme == "block-mapped") c.copyback = wide;
      if (wide) c.stripe = "C";
      cases.push_back(c);
    }
  }
  cases.push_back({geometry(2, 1, 1, 1, 10, 8, 8192)});
  cases.back().scheme = "block-mapped";
  cases.back().placement = "log";
  Case pslc{geometry(1, 1, 1, 2, 14, 12, 8192)};
  pslc.program_unit = 3;
  pslc.slc_pages = 4;
  pslc.dynamic = 2;
  pslc.path = "all";
  cases.push_back(pslc);
  return cases;
}

}  // namespace

TEST_CASE("read-ahead over every mapping scheme, whose blocks go round") {
  std::uint64_t seed = 700;
  for (Case c : few_blocks_of_each_scheme()) {
    for (const bool timed : {true, false}) {
      c.fill = 0.5;
      c.ahead = 16;
      INFO(describe(c) << ", seed " << ++seed);
      CaseRig rig(c, timed, seed);
      go_round(rig, 300 * static_cast<int>(stress()));
      const auto& ahead = dynamic_cast<const ReadAhead&>(*rig.ftl.feature(ReadAhead::k_path));
      CHECK(ahead.counters().outdated > 1000);
      rig.finish();
    }
  }
}

TEST_CASE("read-ahead on drives of every kind, under anything") {
  std::uint64_t seed = 300;
  std::uint64_t used = 0;
  std::uint64_t waits = 0;
  std::uint64_t outdated = 0;
  std::uint64_t lost = 0;
  std::vector<Case> cases;
  cases.push_back({geometry(2, 1, 1, 2, 24, 8, 8192)});
  cases.push_back({geometry(1, 1, 1, 1, 30, 8, 4096)});
  cases.push_back({.geometry = geometry(4, 1, 1, 2, 26, 12, 8192), .program_unit = 3, .multi_plane = true});
  cases.push_back({.geometry = geometry(2, 1, 1, 2, 24, 8, 8192), .map_lines = 3});
  cases.push_back({.geometry = geometry(4, 1, 1, 1, 30, 8, 16384), .program_unit = 2, .parity = 4});
  cases.push_back({.geometry = geometry(3, 1, 1, 1, 24, 8, 16384), .issue_bound = 30'000'000});
  cases.push_back({.geometry = geometry(2, 1, 1, 2, 24, 8, 8192), .cache = "read-write"});
  cases.push_back({.geometry = geometry(2, 1, 1, 2, 24, 8, 8192), .cache = "nv-wb"});
  cases.push_back({.geometry = geometry(2, 1, 1, 2, 24, 8, 8192), .cache = "lru", .cache_medium = "dram"});
  cases.push_back({.geometry = geometry(2, 1, 1, 2, 16, 12, 8192),
                   .program_unit = 3,
                   .slc_pages = 4,
                   .dynamic = 2,
                   .path = "all",
                   .promotion = 2});
  for (Case c : cases) {
    for (const double failures : {0.0, 0.05}) {
      for (const std::int64_t ahead : {2, 7, 40}) {
        c.fill = 0.8;
        c.ahead = ahead;
        c.ahead_after = 1 + static_cast<std::int64_t>(seed % 2);
        c.ecc = failures > 0 ? "fixed" : "none";
        c.failures = failures;
        c.idle_after = seed % 3 == 0 ? 100'000'000 : 0;
        const auto counters = [](const CaseRig& rig) {
          const auto& of = dynamic_cast<const ReadAhead&>(*rig.ftl.feature(ReadAhead::k_path));
          REQUIRE(of.idle());
          REQUIRE(of.not_used_yet() == 0);
          const ReadAhead::Counters counted = of.counters();
          REQUIRE(counted.fetched == counted.used + counted.unused + counted.outdated + counted.lost);
          return counted;
        };
        const ReadAhead::Counters timed = run_random(c, true, 1500, 16, ++seed, counters);
        used += timed.used;
        waits += timed.waits;
        outdated += timed.outdated;
        lost += timed.lost;
        CHECK(run_random(c, false, 600, 1, ++seed, counters).waits == 0);
      }
    }
  }
  CHECK(used > 10'000);
  CHECK(waits > 1000);
  CHECK(outdated > 1000);
  CHECK(lost > 100);
}

}  // namespace tlmssd::firmware::testing
