// Random commands of every kind against a reference, over many shapes and configurations.
#include <algorithm>
#include <fmt/format.h>

#include "testbench/tests/firmware/model_host.h"
#include "testbench/tests/support/given.h"

using namespace tlmssd;
using namespace tlmssd::firmware;
using namespace tlmssd::firmware::testing;

namespace {

struct Case {
  Geometry geometry;
  std::uint32_t program_unit = 1;
  std::uint32_t lba = 512;
  Bytes unit = 4096;
  bool multi_plane = false;
  std::string streams = "separate";
  std::string gc = "greedy";
  std::string mode = "write-back";
  std::string wear = "dynamic";
  std::string order = "CWDP";
  std::string stripe = "none";
  double destage_at = 0;
  double fill = 0.9;  ///< of the most that the shape allows
  Picoseconds idle_after = 0;
  double background_start = 0.1;
  std::uint32_t low_water = 2;
  std::string ecc = "none";
  double failures = 0;        ///< share of reads that cannot be decoded
  std::int64_t refresh = -1;  ///< reads after which a block is refreshed; 0: by age only, below: never
  std::int64_t map_lines =
      0;  ///< of map entries that are cached, the map being in flash; 0: the map is in DRAM
  std::int64_t map_line = 1;  ///< entries in such a line; 0: a map page
  std::string scheme = {};    ///< of the map in DRAM, when it is not page mapping
  Bytes block = 0;            ///< management block
  std::string placement = "address";
  std::int64_t logs = 2;      ///< log blocks of a group
  std::int64_t adjacent = 1;  ///< management blocks of a superblock
  bool copyback = false;
  std::uint32_t slc_pages = 0;  ///< of a block in SLC mode
  std::uint32_t fixed = 0;      ///< blocks per group that are always in SLC mode
  std::uint32_t borrowed = 0;   ///< that may be borrowed
  std::string path = "none";    ///< of data to them
  std::string when_full = "wait";
  std::string fold_first = "oldest";
  double fold_below = 0.1;
  double gone_at = 0.75;
  double slc_share = 0;        ///< of data that reached SLC mode, at least
  std::int64_t promotion = 0;  ///< reads of data on the list at which they are promoted; 0: never
  double keep_free = 0.5;
  std::int64_t copies_at = 0;  ///< reads at which data get a second copy; 0: never
  std::uint32_t copies = 0;    ///< units that there may be of them
};

Geometry geometry(std::uint32_t channels, std::uint32_t ways, std::uint32_t dies, std::uint32_t planes,
                  std::uint32_t blocks, std::uint32_t pages, std::uint32_t page_bytes) {
  return {channels, ways, dies, planes, blocks, pages, page_bytes, 0};
}

void make(const Case& c, DriveShape& shape, FirmwareConfig& config) {
  shape.geometry = c.geometry;
  shape.program_unit = c.program_unit;
  shape.lba_bytes = c.lba;
  shape.mapping_unit_bytes = c.unit;
  config.mapping.unit = c.unit;
  config.allocation.multi_plane = c.multi_plane;
  config.allocation.streams = c.streams;
  config.allocation.order = c.order;
  config.allocation.stripe = c.stripe;
  config.gc.policy = c.gc;
  config.gc.idle_after = c.idle_after;
  config.gc.background_start = c.background_start;
  config.gc.low_water = c.low_water;
  config.wear.policy = c.wear;
  config.buffer.mode = c.mode;
  config.buffer.destage_at = c.destage_at;
  config.ecc.policy = c.ecc;
  if (c.refresh >= 0) config.refresh.policy = "limits";
  if (c.map_lines > 0) config.mapping.scheme = "dftl";
  if (!c.scheme.empty()) config.mapping.scheme = c.scheme;
  if (c.slc_pages > 0 && c.path != "none") {
    shape.slc_pages = c.slc_pages;
    const Geometry& g = c.geometry;
    const Bytes block = Bytes{g.page_bytes} * c.slc_pages * g.dies() * g.planes;
    config.pslc.policy = c.path;
    config.pslc.fixed_bytes = c.fixed * block;
    config.pslc.borrowed_bytes = c.borrowed * block;
    config.pslc.when_full = c.when_full;
    config.pslc.fold_first = c.fold_first;
    config.pslc.fold_by = c.copyback ? "copyback" : "controller";
    config.pslc.fold_below = c.fold_below;
    config.pslc.fold_until = c.fold_below + 0.2;
    config.pslc.gone_at = c.gone_at;
  }
  if (c.promotion > 0) {
    config.promotion.policy = "lru";
    config.promotion.keep_free = std::max(c.keep_free, config.pslc.fold_until);
  }
  if (c.copies_at > 0) {
    config.replicas.policy = "hot-reads";
    config.replicas.capacity = c.copies * c.unit;
  }
  const std::uint32_t planes = c.multi_plane ? c.geometry.planes : 1;
  const Bytes program = std::max(Bytes{c.geometry.page_bytes} * planes * c.program_unit, c.block);
  config.buffer.capacity = std::max<Bytes>(2 * program, 24 * c.unit);
  shape.logical_blocks =
      static_cast<std::uint64_t>(c.fill * static_cast<double>(Ftl::largest_logical_blocks(shape, config)));
}

std::string describe(const Case& c) {
  const Geometry& g = c.geometry;
  return fmt::format(
      "{}x{}x{}x{} blocks {} pages {} x {} B, program {} pages, lba {}, unit {}, multi-plane {}, {}, {}, {}, "
      "{}, {}, stripe {}, {} {} by {} with {} logs for {}, copyback {}, ecc {} with {} failures, refresh {}, "
      "{} map lines "
      "of {}, SLC {} pages, {} static and {} dynamic blocks, {} {} {} below {} gone at {}, "
      "promotion at {} reads with {} free, {} copies at {} reads, fill {}",
      g.channels, g.ways, g.dies_per_way, g.planes, g.blocks, g.pages, g.page_bytes, c.program_unit, c.lba,
      c.unit, c.multi_plane, c.streams, c.gc, c.mode, c.wear, c.order, c.stripe, c.scheme, c.block,
      c.placement, c.logs, c.adjacent, c.copyback, c.ecc, c.failures, c.refresh, c.map_lines, c.map_line,
      c.slc_pages, c.fixed, c.borrowed, c.path, c.when_full, c.fold_first, c.fold_below, c.gone_at,
      c.promotion, c.keep_free, c.copies, c.copies_at, c.fill);
}

FtlStatistics run(const Case& c, bool timed, std::uint32_t commands, std::uint32_t depth,
                  std::uint64_t seed) {
  commands *= stress();
  seed += 10'000 * (stress() - 1);
  INFO(describe(c) << (timed ? ", timed" : ", untimed") << ", seed " << seed);
  DriveShape shape;
  FirmwareConfig config;
  const std::int64_t map_line = c.map_line > 0 ? c.map_line : static_cast<std::int64_t>(c.unit) / 4;
  const Given map({{"cache", whole(8 * map_line * c.map_lines)},
                   {"line", whole(c.map_line)},
                   {"block", whole(static_cast<std::int64_t>(c.block))},
                   {"placement", Value(c.placement)},
                   {"log_blocks", whole(c.logs)},
                   {"adjacent", whole(c.adjacent)},
                   {"copyback", Value(c.copyback)},
                   {"update_blocks", whole(1 + c.logs / 2)},
                   {"segmented_lru", Value(seed % 2 == 0)},
                   {"batch_update", Value(seed % 3 != 0)}});
  config.mapping_policy = &map;
  const Given promotion(
      {{"list", whole(static_cast<std::int64_t>(40 * c.unit))}, {"reads", whole(c.promotion)}});
  const Given copies(
      {{"list", whole(static_cast<std::int64_t>(40 * c.unit))}, {"reads", whole(c.copies_at)}});
  config.promotion_policy = &promotion;
  config.replicas_policy = &copies;
  make(c, shape, config);
  FakeOptions options;
  options.timed = timed;
  options.shuffle = timed;
  options.seed = seed;
  const Given limits({{"reads", whole(c.refresh)},
                      {"errors", whole(c.refresh > 0 ? 18 : 0)},
                      {"retention", Value(3 * 86'400.0)},
                      {"patrol", Value(86'400.0)}});
  config.refresh_policy = &limits;
  FakeHardware hw(shape, options);
  RandomStream failures(seed, "decoding failures");
  hw.flash.fails = [&](const FlashOp& /*op*/) { return failures.uniform() < c.failures; };
  hw.flash.wrong_bits = [&](const FlashOp& /*op*/) { return static_cast<std::uint32_t>(failures.below(20)); };
  Ftl ftl(hw.ports, shape, config);
  ModelHost host(hw, ftl, shape, seed);
  host.media_errors_expected = true;
  const auto longest =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(shape.logical_blocks, 6 * c.unit / c.lba + 7));
  for (std::uint32_t n = 0; n < commands; ++n) {
    host.anything(longest);
    for (std::uint32_t i = 0; i < 4 && c.copies_at > 0;
         ++i) {  // so that something is read more often than written
      const std::uint64_t hot = std::min<std::uint64_t>(shape.logical_blocks, 30 * c.unit / c.lba);
      host.read(shape.logical_blocks - 1 - host.random.below(hot), 1);
    }
    host.wait_below(depth);
    if (c.refresh >= 0 && n % 64 == 0) ftl.rest(0, 86'400'000'000'000);
  }
  host.drain();
  host.verify_all();
  host.drain();
  REQUIRE(host.outstanding == 0);
  REQUIRE(hw.memory.highest <= ftl.dram_bytes());
  const FtlStatistics& s = ftl.statistics();
  REQUIRE(s.commands == host.completions);
  REQUIRE(s.erases == hw.flash.erased);
  REQUIRE(s.copybacks == hw.flash.copybacks);
  REQUIRE((s.slc_units > 0) == (hw.flash.slc_programs > 0));
  REQUIRE(static_cast<double>(s.slc_units) >=
          c.slc_share * static_cast<double>(s.units_programmed[static_cast<std::size_t>(Purpose::host)]));
  REQUIRE(s.units_folded + s.units_folded_on_die + s.units_promoted + s.units_copied ==
          s.units_programmed[static_cast<std::size_t>(Purpose::migration)]);
  REQUIRE((s.refreshes > 0) == (c.refresh >= 0));
  REQUIRE((s.retries > 0) == (c.failures > 0 && c.ecc != "fixed"));
  // The ladder's 41 attempts all fail once in 10^28 reads, or in 75.
  REQUIRE((host.media_errors > 0) == (c.failures > (c.ecc == "retry-only" ? 0.5 : 0)));
  REQUIRE((s.uncorrectable_units > 0) == (host.media_errors > 0));
  const auto map_writes = s.units_programmed[static_cast<std::size_t>(Purpose::map)];
  if (c.map_lines == 0) REQUIRE(map_writes == 0);
  if (c.map_lines > 0 && c.map_lines * map_line < 50) REQUIRE(map_writes > 0);
  return s;
}

const std::vector<std::string> k_policies = {"greedy", "cost-benefit", "fifo",
                                             "random", "d-choices",    "windowed-greedy"};

}  // namespace

TEST_CASE("every command on every shape gives back what was written") {
  std::vector<Case> cases;
  cases.push_back({geometry(1, 1, 1, 1, 16, 8, 4096)});
  cases.push_back({geometry(2, 1, 1, 2, 12, 8, 16384)});
  cases.push_back({geometry(3, 1, 2, 3, 11, 5, 8192)});
  cases.push_back({geometry(1, 3, 1, 1, 9, 7, 12288), 1, 512, 4096});
  cases.push_back({geometry(2, 1, 1, 2, 12, 12, 16384), 3, 512, 4096, true});
  cases.push_back({geometry(2, 1, 1, 3, 10, 9, 16384), 3, 512, 4096, true});
  cases.push_back({geometry(1, 1, 1, 2, 16, 6, 16384), 6, 512, 4096, true});  // whole block
  cases.push_back({geometry(2, 1, 1, 1, 16, 8, 16384), 8, 512, 16384});       // whole block
  cases.push_back({geometry(2, 2, 1, 1, 10, 8, 16384), 1, 512, 512});
  cases.push_back({geometry(2, 1, 1, 1, 10, 8, 16384), 1, 512, 16384});
  cases.push_back({geometry(1, 1, 1, 1, 14, 8, 16384), 1, 4096, 8192});
  cases.push_back({geometry(1, 2, 1, 1, 14, 8, 4096), 1, 4096, 4096});
  cases.push_back({geometry(1, 1, 1, 1, 14, 8, 6144), 1, 512, 1536});
  std::uint64_t seed = 1;
  for (Case c : cases) {
    for (const bool timed : {false, true}) {
      run(c, timed, 3000, timed ? 12 : 1, ++seed);
      c.mode = "write-through";
      run(c, timed, 800, timed ? 12 : 1, ++seed);
      c.mode = "write-back";
    }
  }
}

TEST_CASE("blocks over several dies give back what was written") {
  std::uint64_t seed = 600;
  for (const char* stripe : {"C", "W", "D", "CW", "WC", "DWC", "WD"}) {
    for (const std::uint32_t program_unit : {1U, 3U}) {
      Case c{geometry(3, 2, 2, 2, 12, 6, 8192), program_unit};
      c.stripe = stripe;
      c.multi_plane = seed % 4 < 2;
      c.wear = seed % 3 == 0 ? "static" : "dynamic";
      c.fill = seed % 5 == 0 ? 1.0 : 0.9;
      c.order = seed % 2 == 0 ? "PWDC" : "CWDP";
      run(c, true, 2000, 16, ++seed);
      run(c, false, 2000, 1, ++seed);
    }
  }
}

TEST_CASE("management blocks of any size give back what was written") {
  std::uint64_t seed = 700;
  struct Shape {
    const char* stripe;
    std::uint32_t program_unit;
    std::uint32_t lanes;
  };
  for (const Shape& s :
       {Shape{"none", 1, 1}, Shape{"C", 1, 3}, Shape{"CW", 1, 6}, Shape{"WD", 3, 4}, Shape{"none", 6, 1}}) {
    const Bytes program = Bytes{8192} * s.program_unit;
    const std::uint32_t programs = 6 / s.program_unit * s.lanes;
    for (std::uint32_t n = 1; n <= programs; ++n) {
      if (programs % n != 0) continue;
      Case c{geometry(3, 2, 2, 1, 12, 6, 8192), s.program_unit};
      c.scheme = "management-block";
      c.block = n * program;
      c.copyback = seed % 2 == 0;
      c.stripe = s.stripe;
      c.wear = seed % 3 == 0 ? "static" : "dynamic";
      c.fill = seed % 5 == 0 ? 1.0 : 0.8;
      c.mode = seed % 4 == 0 ? "write-through" : "write-back";
      c.unit = seed % 2 == 0 ? 4096 : 8192;
      c.gc = k_policies[seed % k_policies.size()];
      run(c, true, 1200, 16, ++seed);
      run(c, false, 1200, 1, ++seed);
    }
  }
  Case failing{geometry(2, 1, 1, 2, 14, 8, 8192)};
  failing.scheme = "management-block";
  failing.block = 32768;
  failing.ecc = "fixed";
  failing.failures = 0.05;
  failing.refresh = 40;
  run(failing, true, 3000, 16, ++seed);
  run(failing, false, 3000, 1, ++seed);
  Case log{geometry(2, 2, 1, 1, 14, 8, 8192)};
  log.scheme = "management-block";
  log.stripe = "C";
  log.placement = "log";
  run(log, true, 3000, 16, ++seed);
}

namespace {

/// Shapes, odd ones among them, on which log blocks are tried.
std::vector<Case> logged_shapes(const std::string& scheme) {
  std::vector<Case> cases;
  cases.push_back({geometry(1, 1, 1, 1, 16, 8, 4096)});
  cases.push_back({geometry(3, 1, 2, 3, 13, 5, 8192)});
  cases.push_back({geometry(2, 1, 1, 2, 14, 12, 16384), 3, 512, 4096, true});
  cases.push_back({geometry(1, 1, 1, 2, 16, 6, 16384), 6, 512, 4096, true});  // whole block
  cases.push_back({geometry(2, 2, 1, 1, 12, 8, 16384), 1, 512, 512});
  cases.push_back({geometry(1, 1, 1, 1, 14, 8, 6144), 1, 512, 1536});
  cases.push_back({geometry(3, 2, 1, 1, 13, 7, 8192)});
  cases.back().stripe = "C";
  cases.push_back({geometry(3, 2, 2, 1, 14, 4, 8192)});
  cases.back().stripe = "CW";
  cases.push_back({geometry(2, 3, 1, 1, 20, 6, 4096), 3});
  cases.back().stripe = "WC";
  for (Case& c : cases) c.scheme = scheme;
  return cases;
}

}  // namespace

TEST_CASE("log blocks give back what was written") {
  std::uint64_t seed = 800;
  for (const char* scheme : {"bast", "fast", "superblock"}) {
    for (Case c : logged_shapes(scheme)) {
      for (const std::int64_t logs : {1, 4}) {
        c.logs = logs;
        c.adjacent = std::string(scheme) == "superblock" ? 1 + static_cast<std::int64_t>(seed % 3) : 1;
        c.copyback = logs == 4;
        c.fill = seed % 3 == 0 ? 1.0 : 0.9;
        c.mode = seed % 4 == 0 ? "write-through" : "write-back";
        c.wear = seed % 3 == 0 ? "static" : seed % 3 == 1 ? "dynamic" : "none";
        c.idle_after = seed % 5 == 0 ? 100'000'000 : 0;
        c.destage_at = seed % 7 == 0 ? 0.75 : 0;
        const std::uint32_t depth = seed % 2 == 0 ? 32 : 8;
        run(c, true, 1000, depth, ++seed);
        run(c, false, 1000, 1, ++seed);
        ++seed;
      }
    }
  }
}

TEST_CASE("log blocks under decoding failures and refresh keep the data that are not lost") {
  std::uint64_t seed = 900;
  for (const char* scheme : {"bast", "fast", "superblock"}) {
    for (const double failures : {0.0, 0.1}) {
      for (const std::int64_t refresh : {0, 3, 40}) {
        Case c{geometry(2, 1, 1, 2, 14, 8, 8192)};
        c.scheme = scheme;
        c.adjacent = 2;
        c.ecc = seed % 2 == 0 ? "retry-only" : "fixed";
        c.failures = failures;
        c.refresh = refresh;
        c.multi_plane = seed % 2 == 0;
        c.wear = seed % 4 == 0 ? "static" : "dynamic";
        run(c, true, 1500, 16, ++seed);
        run(c, false, 1500, 1, ++seed);
      }
    }
  }
}

TEST_CASE("every victim policy keeps the data") {
  std::uint64_t seed = 100;
  for (const std::string& policy : k_policies) {
    for (const char* streams : {"separate", "shared"}) {
      Case c{geometry(2, 1, 1, 2, 14, 8, 8192)};
      c.gc = policy;
      c.streams = streams;
      c.multi_plane = seed % 2 == 0;
      run(c, true, 4000, 16, ++seed);
      run(c, false, 4000, 1, ++seed);
    }
  }
}

namespace {

/// Full drives of every victim policy, after `alter(case, seed)`.
template <class Alter>
void run_full_drives(std::uint64_t seed, Alter alter) {
  for (const std::string& policy : k_policies) {
    for (const char* streams : {"separate", "shared"}) {
      for (const std::uint32_t program_unit : {1U, 8U}) {
        Case c{geometry(2, 1, 1, 1, 12, 8, 8192), program_unit};
        c.gc = policy;
        c.streams = streams;
        c.fill = 1.0;
        c.background_start = seed % 3 == 0 ? 0.0 : 0.1;
        c.low_water = 1 + static_cast<std::uint32_t>(seed % 2);
        alter(c, seed);
        run(c, true, 1500, 16, ++seed);
        run(c, false, 1500, 1, ++seed);
      }
    }
  }
}

}  // namespace

TEST_CASE("a drive filled to the last unit it can keep goes on working") {
  run_full_drives(200, [](Case&, std::uint64_t) {});
}

TEST_CASE("a map in flash keeps the data, however little of it is cached") {
  std::vector<Case> cases;
  cases.push_back({geometry(1, 1, 1, 1, 16, 8, 4096)});
  cases.push_back({geometry(3, 1, 2, 3, 11, 5, 8192)});
  cases.push_back({geometry(2, 1, 1, 2, 12, 12, 16384), 3, 512, 4096, true});
  cases.push_back({geometry(2, 1, 1, 1, 16, 8, 16384), 8, 512, 16384});  // whole block
  cases.push_back({geometry(2, 2, 1, 1, 10, 8, 16384), 1, 512, 512});
  cases.push_back({geometry(1, 2, 1, 1, 14, 8, 4096), 1, 4096, 4096});
  cases.push_back({geometry(1, 1, 1, 1, 14, 8, 6144), 1, 512, 1536});
  std::uint64_t seed = 500;
  for (Case c : cases) {
    for (const auto& [lines, line] :
         {std::pair<std::int64_t, std::int64_t>{1, 1}, {1, 0}, {5, 8}, {100, 1}}) {
      c.map_lines = lines;
      c.map_line = line;
      c.fill = seed % 2 == 0 ? 1.0 : 0.85;
      c.gc = k_policies[seed % k_policies.size()];
      c.wear = seed % 3 == 0 ? "static" : "dynamic";
      c.streams = seed % 4 == 0 ? "shared" : "separate";
      c.mode = seed % 5 == 0 ? "write-through" : "write-back";
      c.idle_after = seed % 7 == 0 ? 100'000'000 : 0;
      const std::uint32_t depth = seed % 2 == 0 ? 64 : 8;
      run(c, true, 1500, depth, ++seed);
      run(c, false, 1500, 1, ++seed);
      ++seed;
    }
  }
  Case failing{geometry(2, 1, 1, 2, 14, 8, 8192)};
  failing.map_lines = 3;
  failing.ecc = "fixed";
  failing.failures = 0.1;
  failing.refresh = 40;
  run(failing, true, 3000, 16, ++seed);
}

TEST_CASE("wear levelling, idle cleaning and late destaging keep the data") {
  std::uint64_t seed = 300;
  for (const char* wear : {"none", "dynamic", "static"}) {
    for (const Picoseconds idle : {Picoseconds{0}, Picoseconds{100'000'000}}) {
      Case c{geometry(2, 1, 1, 1, 14, 8, 8192)};
      c.wear = wear;
      c.idle_after = idle;
      c.destage_at = 0.75;
      run(c, true, 4000, 8, ++seed);
      run(c, false, 4000, 1, ++seed);
    }
  }
}

TEST_CASE("decoding failures and refresh keep the data that are not lost") {
  std::uint64_t seed = 400;
  for (const char* ecc : {"retry-only", "conventional", "fixed"}) {
    for (const double failures : {0.0, 0.1, 0.9}) {
      for (const std::int64_t refresh : {-1, 0, 3, 40}) {
        if (refresh < 0 && failures == 0) continue;
        Case c{geometry(2, 1, 1, 2, 14, 8, 8192)};
        c.ecc = ecc;
        c.failures = failures;
        c.refresh = refresh;
        c.multi_plane = seed % 2 == 0;
        c.streams = seed % 3 == 0 ? "shared" : "separate";
        c.wear = seed % 4 == 0 ? "static" : "dynamic";
        c.gc = k_policies[seed % k_policies.size()];
        run(c, true, 1500, 16, ++seed);
        run(c, false, 1500, 1, ++seed);
      }
    }
  }
}

TEST_CASE("a drive filled to the last unit it can keep goes on working under refresh without end") {
  run_full_drives(500, [](Case& c, std::uint64_t seed) {
    c.ecc = "retry-only";
    c.failures = 0.2;
    c.refresh = 1 + static_cast<std::int64_t>(seed % 5);
  });
}

namespace {

/// Shapes, odd ones among them, on which blocks in SLC mode are tried.
std::vector<Case> shapes_with_slc() {
  std::vector<Case> cases;
  cases.push_back({geometry(1, 1, 1, 1, 16, 8, 4096)});
  cases.push_back({geometry(2, 1, 1, 2, 14, 12, 8192), 3});
  cases.push_back({geometry(2, 1, 1, 2, 16, 16, 16384), 4, 512, 4096, true});  // QLC by word lines
  cases.push_back({geometry(3, 1, 2, 3, 13, 9, 8192), 3, 512, 4096, true});
  cases.push_back({geometry(1, 1, 1, 2, 18, 8, 16384), 8, 512, 4096, true});  // whole block
  cases.push_back({geometry(1, 2, 1, 1, 16, 8, 4096), 2, 4096, 4096});
  cases.push_back({geometry(2, 1, 1, 1, 15, 12, 6144), 1, 512, 1536});
  for (Case& c : cases) {
    c.slc_pages = c.geometry.pages / (c.program_unit > 1 && c.program_unit < 5 ? c.program_unit : 4);
    c.path = "all";
  }
  return cases;
}

}  // namespace

TEST_CASE("blocks in SLC mode give back what was written, however few there are") {
  std::uint64_t seed = 1000;
  for (Case c : shapes_with_slc()) {
    const bool may_copy = c.program_unit <= c.slc_pages;
    for (const auto& [fixed, borrowed] :
         {std::pair<std::uint32_t, std::uint32_t>{1, 0}, {0, 1}, {2, 3}, {0, 6}, {3, 0}}) {
      for (const char* when_full : {"wait", "direct"}) {
        c.fixed = fixed;
        c.borrowed = borrowed;
        c.when_full = when_full;
        c.copyback = may_copy && seed % 2 == 0;
        c.fill = seed % 3 == 0 ? 1.0 : seed % 3 == 1 ? 0.9 : 0.5;
        c.fold_first = seed % 5 < 2 ? "emptiest" : "oldest";
        c.fold_below = seed % 4 == 0 ? 0 : 0.3;
        c.gone_at = seed % 7 == 0 ? 2 : 0.75;
        c.gc = k_policies[seed % k_policies.size()];
        c.streams = seed % 4 == 1 ? "shared" : "separate";
        c.wear = seed % 3 == 0 ? "static" : seed % 3 == 1 ? "dynamic" : "none";
        c.mode = seed % 5 == 0 ? "write-through" : "write-back";
        c.idle_after = seed % 7 == 0 ? 100'000'000 : 0;
        c.destage_at = seed % 11 == 0 ? 0.75 : 0;
        c.background_start = seed % 3 == 0 ? 0.0 : 0.1;
        c.low_water = 1 + static_cast<std::uint32_t>(seed % 2);
        c.slc_share = fixed > 0 && c.when_full == "wait" ? 0.6 : 0;
        const std::uint32_t depth = seed % 2 == 0 ? 64 : 12;
        run(c, true, 1500, depth, ++seed);
        run(c, false, 1500, 1, ++seed);
        ++seed;
      }
    }
  }
}

TEST_CASE("promotion keeps the data, however little room there is for it") {
  std::uint64_t seed = 1300;
  std::uint64_t promoted = 0;
  for (Case c : shapes_with_slc()) {
    for (const auto& [fixed, borrowed] : {std::pair<std::uint32_t, std::uint32_t>{1, 0}, {2, 3}, {0, 6}}) {
      c.fixed = fixed;
      c.borrowed = borrowed;
      c.when_full = seed % 2 == 0 ? "direct" : "wait";
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
      promoted += run(c, true, 1500, depth, ++seed).units_promoted;
      promoted += run(c, false, 1500, 1, ++seed).units_promoted;
      ++seed;
    }
  }
  REQUIRE(promoted > 500);
}

TEST_CASE("second copies keep the data, on drives filled to the last unit too") {
  std::uint64_t seed = 1400;
  std::uint64_t served = 0;
  std::vector<Case> cases = shapes_with_slc();
  cases.push_back({geometry(2, 1, 1, 2, 14, 8, 8192)});
  cases.push_back({geometry(2, 2, 1, 1, 14, 8, 16384), 1, 512, 512});
  for (Case c : cases) {
    if (c.geometry.dies() == 1) continue;
    for (const bool slc : {false, true}) {
      if (slc && c.slc_pages == 0) continue;
      for (const double failures : {0.0, 0.05}) {
        c.fixed = slc ? 1 : 0;
        c.borrowed = slc ? 3 : 0;
        c.path = slc ? "all" : "none";
        c.promotion = slc && seed % 2 == 0 ? 2 : 0;
        c.copies_at = 1 + static_cast<std::int64_t>(seed % 3);
        c.copies = 2 * c.program_unit * (c.multi_plane ? c.geometry.planes : 1) *
                       static_cast<std::uint32_t>(c.geometry.page_bytes / c.unit) +
                   20;
        c.fill = seed % 3 == 0 ? 1.0 : 0.8;
        c.ecc = failures > 0 ? "fixed" : "none";
        c.failures = failures;
        c.gc = k_policies[seed % k_policies.size()];
        c.streams = seed % 4 == 1 ? "shared" : "separate";
        c.wear = seed % 3 == 0 ? "static" : "dynamic";
        c.idle_after = seed % 5 == 0 ? 100'000'000 : 0;
        c.low_water = 1 + static_cast<std::uint32_t>(seed % 2);
        const std::uint32_t depth = seed % 2 == 0 ? 32 : 8;
        served += run(c, true, 2000, depth, ++seed).reads_of_copies;
        run(c, false, 1500, 1, ++seed);
        ++seed;
      }
    }
  }
  REQUIRE(served > 300);
}
