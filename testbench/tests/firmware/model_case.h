// A drive of any shape and configuration on fake hardware, under random commands that are checked
// against a reference.
#pragma once

#include <algorithm>
#include <fmt/format.h>

#include "firmware/core/feature.h"
#include "testbench/tests/firmware/model_host.h"
#include "testbench/tests/support/given.h"
#include "testbench/tests/support/statistics_of.h"

namespace tlmssd::firmware::testing {

/// A drive, and what makes its life hard.
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
  double flush_at = 0;
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
  Bytes block = 0;            ///< block-mapped region
  std::string placement = "address";
  std::int64_t logs = 2;      ///< log blocks of a parallel unit
  std::int64_t adjacent = 1;  ///< block-mapped regions of a superblock
  bool copyback = false;
  std::uint32_t slc_pages = 0;  ///< of a block in SLC mode
  std::uint32_t fixed = 0;      ///< blocks per parallel unit that are always in SLC mode
  std::uint32_t dynamic = 0;    ///< that may be dynamic
  std::string path = "none";    ///< of data to them
  std::string when_full = "wait";
  double bypass_buffer = 0.5;
  std::string fold_first = "oldest";
  double fold_below = 0.1;
  double gone_at = 0.75;
  double of_free_space = 0.75;
  double slc_share = 0;        ///< of data that reached SLC mode, at least
  std::int64_t promotion = 0;  ///< reads of data on the list at which they are promoted; 0: never
  double keep_free = 0.5;
  std::string pacing = {};     ///< policy; empty: none
  std::string isolation = {};  ///< of placement handles: initially or persistently; empty: there are none
  std::uint32_t handles = 3;
  std::string copies_of = "hot-reads";
  std::int64_t copies_at = 0;  ///< reads at which data get a replica; 0: never
  bool copies_idle = false;    ///< made in predicted idle time
  std::uint32_t copies = 0;    ///< units that there may be of them
  std::int64_t parted_at = 0;  ///< reads at which data move to read dies; 0: there are none
  std::int64_t parity = 0;     ///< dies of a stripe; 0: there is no parity
  std::string parity_for = "behind-collection";
  bool rotate = false;
  std::int64_t issue_bound = -1;  ///< of programs that wait for batches of reads, ps; below 0: there are none
  std::int64_t ahead = 0;         ///< mapping pages that are read ahead; 0: none
  std::int64_t ahead_after = 1;   ///< reads in order, from which on
  double placement_from = 0.05;
  double keep_room = 0.1;
  std::string cache = "none";
  std::string cache_medium = "scm";
  std::uint32_t endurance = 0;   ///< erases that a block bears; 0: any number
  std::uint32_t slc_erases = 0;  ///< that it bears into SLC mode; 0: any number
  double program_failure = 0;    ///< share of programs that fail
  /// Entries in a line of the map.
  [[nodiscard]] std::int64_t line() const {
    return map_line > 0 ? map_line : static_cast<std::int64_t>(unit) / 4;
  }
};

inline Geometry geometry(std::uint32_t channels, std::uint32_t ways, std::uint32_t dies, std::uint32_t planes,
                         std::uint32_t blocks, std::uint32_t pages, std::uint32_t page_bytes) {
  return {channels, ways, dies, planes, blocks, pages, page_bytes, 0};
}

inline void make(const Case& c, DriveShape& shape, FirmwareConfig& config) {
  shape.geometry = c.geometry;
  shape.program_unit = c.program_unit;
  shape.lba_bytes = c.lba;
  shape.mapping_page_bytes = c.unit;
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
  config.buffer.flush_at = c.flush_at;
  config.ecc.policy = c.ecc;
  if (c.refresh >= 0) {
    choose(config, "firmware.refresh", "limits",
           {{"reads", whole(c.refresh)},
            {"errors", whole(c.refresh > 0 ? 18 : 0)},
            {"retention", Value(3 * 86'400.0)},
            {"patrol", Value(86'400.0)}});
  }
  if (c.map_lines > 0) config.mapping.scheme = "dftl";
  if (!c.scheme.empty()) config.mapping.scheme = c.scheme;
  if (c.slc_pages > 0 && c.path != "none") {
    shape.slc_pages = c.slc_pages;
    const Geometry& g = c.geometry;
    const Bytes block = Bytes{g.page_bytes} * c.slc_pages * g.dies() * g.planes;
    config.pslc.policy = c.path;
    config.pslc.static_bytes = c.fixed * block;
    config.pslc.dynamic_bytes = c.dynamic * block;
    config.pslc.when_full = c.when_full;
    config.pslc.bypass_buffer = c.bypass_buffer;
    config.pslc.fold_first = c.fold_first;
    config.pslc.fold_by = c.copyback ? "copyback" : "controller";
    config.pslc.fold_below = c.fold_below;
    config.pslc.fold_until = c.fold_below + 0.2;
    config.pslc.gone_at = c.gone_at;
    config.pslc.of_free_space = c.of_free_space;
  }
  const Value list = whole(static_cast<std::int64_t>(40 * c.unit));
  if (c.promotion > 0) {
    choose(config, "firmware.pslc.promotion", "lru",
           {{"list", list},
            {"reads", whole(c.promotion)},
            {"keep_free", Value(std::max(c.keep_free, config.pslc.fold_until))}});
  }
  if (c.copies_at > 0) {
    choose(config, "firmware.replicas", c.copies_of,
           {{"list", list},
            {"reads", whole(c.copies_at)},
            {"idle_only", Value(c.copies_idle)},
            {"capacity", whole(static_cast<std::int64_t>(c.copies * c.unit))}});
  }
  if (c.parted_at > 0) {
    choose(config, "firmware.partition", "read-write",
           {{"list", list},
            {"reads", whole(c.parted_at)},
            {"placement_from", Value(c.placement_from)},
            {"keep_room", Value(c.keep_room)}});
  }
  if (c.parity > 0) {
    choose(config, "firmware.parity", c.parity_for,
           {{"stripe", whole(c.parity)}, {"forming", whole(8)}, {"rotate", Value(c.rotate)}});
  }
  if (c.issue_bound >= 0)
    choose(config, "firmware.parallel_issue", "batches", {{"starvation_bound", whole(c.issue_bound)}});
  if (c.ahead > 0)
    choose(config, "firmware.read_ahead", "sequential",
           {{"window", whole(c.ahead * static_cast<std::int64_t>(c.unit))},
            {"streams", whole(3)},
            {"after", whole(c.ahead_after)}});
  if (!c.pacing.empty()) choose(config, "firmware.pacing", c.pacing);
  if (!c.isolation.empty())
    choose(config, "firmware.streams", c.isolation + "-isolated", {{"handles", whole(c.handles)}});
  config.cache.policy = c.cache;
  config.cache.medium = c.cache_medium;
  const std::uint32_t planes = c.multi_plane ? c.geometry.planes : 1;
  const Bytes program = std::max(Bytes{c.geometry.page_bytes} * planes * c.program_unit, c.block);
  const std::uint32_t least = c.isolation.empty() ? 2 : c.handles + 1;
  config.buffer.capacity = std::max<Bytes>(least * program, 24 * c.unit);
  if (c.cache != "none")
    (c.cache_medium == "scm" ? shape.scm_bytes : config.cache.capacity) = 2 * config.buffer.capacity;
  shape.logical_blocks =
      static_cast<std::uint64_t>(c.fill * static_cast<double>(Ftl::largest_logical_blocks(shape, config)));
}

inline std::string describe(const Case& c) {
  const Geometry& g = c.geometry;
  return fmt::format(
      "{}x{}x{}x{} blocks {} pages {} x {} B, program {} pages, lba {}, unit {}, multi-plane {}, {}, {}, {}, "
      "{}, {}, stripe {}, {} {} by {} with {} logs for {}, copyback {}, ecc {} with {} failures, refresh {}, "
      "{} map lines "
      "of {}, SLC {} pages, {} static and {} dynamic blocks, {} {} {} below {} gone at {} of free {}, {} of "
      "the "
      "buffer "
      "direct, "
      "promotion at {} reads with {} free, {} copies of {} at {} reads{}, parted at {} reads, restricted "
      "from {} "
      "with "
      "{} room, "
      "parity over {} dies {}, batches with a bound of {}, {} units ahead after {} reads, "
      "{} cache in {}, {} {} handles, pacing {}, "
      "endurance {}, {} into SLC mode, {} of programs fail, idle after {}, background {}, low water {}, "
      "flush at {}, fill {}",
      g.channels, g.ways, g.dies_per_way, g.planes, g.blocks, g.pages, g.page_bytes, c.program_unit, c.lba,
      c.unit, c.multi_plane, c.streams, c.gc, c.mode, c.wear, c.order, c.stripe, c.scheme, c.block,
      c.placement, c.logs, c.adjacent, c.copyback, c.ecc, c.failures, c.refresh, c.map_lines, c.map_line,
      c.slc_pages, c.fixed, c.dynamic, c.path, c.when_full, c.fold_first, c.fold_below, c.gone_at,
      c.of_free_space, c.bypass_buffer, c.promotion, c.keep_free, c.copies, c.copies_of, c.copies_at,
      c.copies_idle ? " in idle time" : "", c.parted_at, c.placement_from, c.keep_room, c.parity,
      c.parity_for, c.issue_bound, c.ahead, c.ahead_after, c.cache, c.cache_medium, c.handles, c.isolation,
      c.pacing, c.endurance, c.slc_erases, c.program_failure, c.idle_after, c.background_start, c.low_water,
      c.flush_at, c.fill);
}

/// Shapes, odd ones among them, on which blocks in SLC mode are tried.
inline std::vector<Case> shapes_with_slc() {
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

/// Parameters of the policies of a case.
struct CasePolicies {
  CasePolicies(const Case& c, std::uint64_t seed) {
    const std::int64_t map_line = c.line();
    map = Given({{"cache", whole(8 * map_line * c.map_lines)},
                 {"line", whole(c.map_line)},
                 {"cache_in", Value(std::string(seed % 5 < 2 ? "host" : "dram"))},
                 {"block", whole(static_cast<std::int64_t>(c.block))},
                 {"placement", Value(c.placement)},
                 {"log_blocks", whole(c.logs)},
                 {"adjacent", whole(c.adjacent)},
                 {"copyback", Value(c.copyback)},
                 {"update_blocks", whole(1 + c.logs / 2)},
                 {"segmented_lru", Value(seed % 2 == 0)},
                 {"batch_update", Value(seed % 3 != 0)}});
    path = Given({{"cold_from", Value(0.3)}, {"list", Value(0.3)}});
  }
  Given map;
  Given path;
};

/// The drive of a case and its host.
class CaseRig {
 public:
  CaseRig(const Case& c, bool timed, std::uint64_t seed)
      : case_(c),
        policies_(c, seed),
        shape(shape_of(c, policies_)),
        config(config_of(c, policies_)),
        hw(shape, options_of(c, timed, seed)),
        failures_(seed, "decoding failures"),
        ftl(hw.ports, shape, config),
        host(hw, ftl, shape, seed) {
    hw.flash.fails = [this](const FlashOp& /*op*/) { return failures_.uniform() < case_.failures; };
    hw.flash.wrong_bits = [this](const FlashOp& /*op*/) {
      return static_cast<std::uint32_t>(failures_.below(20));
    };
    host.media_errors_expected = true;
    if (!c.isolation.empty()) host.handles = c.handles + 1;  // one that there is not, too
  }

  /// Random commands, `depth` under way at most.
  void anything(std::uint32_t commands, std::uint32_t depth) {
    for (std::uint32_t n = 0; n < commands; ++n) {
      host.anything(longest());
      if (case_.copies_at > 0 || case_.parted_at > 0) read_hot();
      host.wait_below(depth);
      if (case_.refresh >= 0 && n % 64 == 0) ftl.rest(0, 86'400'000'000'000);
    }
  }
  /// So that something is read more often than written.
  void read_hot() {
    const std::uint64_t hot = std::min<std::uint64_t>(shape.logical_blocks, 30 * case_.unit / case_.lba);
    for (int i = 0; i < 4; ++i) host.read(shape.logical_blocks - 1 - host.random.below(hot), 1);
  }
  [[nodiscard]] std::uint32_t longest() const {
    return static_cast<std::uint32_t>(
        std::min<std::uint64_t>(shape.logical_blocks, 6 * case_.unit / case_.lba + 7));
  }
  /// Reads everything, and looks at the counts that must agree whatever has happened.
  void finish() {
    host.drain();
    host.verify_all();
    host.drain();
    REQUIRE(host.outstanding == 0);
    REQUIRE(hw.memory.highest <= ftl.dram_bytes());
    REQUIRE(hw.memory.host_highest <= ftl.host_memory_bytes());
    const FtlStatistics& s = ftl.statistics();
    REQUIRE(s.commands == host.completions);
    REQUIRE(s.erases + s.erase_failures == hw.flash.erased);
    REQUIRE(s.copybacks == hw.flash.copybacks);
    REQUIRE((s.slc_units > 0) == (hw.flash.slc_programs > 0));
    REQUIRE(s.units_folded + s.units_folded_on_die + moved_by_features() ==
            s.units_programmed[static_cast<std::size_t>(Purpose::migration)]);
    check_flash();
    check_host();
    check_amplification();
  }
  [[nodiscard]] std::uint64_t moved_by_features() const {
    std::uint64_t units = 0;
    for (const auto& [path, choice] : config.features) {
      const Feature* const feature = ftl.feature(path);
      const auto moved = feature == nullptr ? std::nullopt : feature->moved();  // not in the program
      if (moved) units += moved->units;
    }
    return units;
  }

 private:
  /// What the firmware counts of its work on flash is what flash has seen.
  void check_flash() const {
    const FtlStatistics& s = ftl.statistics();
    std::uint64_t reads = s.retries;
    std::uint64_t slc_units = 0;
    std::uint64_t map_units_moved = 0;
    for (std::size_t p = 0; p < k_purposes; ++p) {
      const FakeFlash::Work& work = hw.flash.work.at(p);
      INFO(name_of(static_cast<Purpose>(p)));
      reads += s.reads.at(p);
      if (s.retries == 0) REQUIRE(s.reads.at(p) == work.reads);
      REQUIRE(s.programs.at(p) == work.programs);
      if (p == static_cast<std::size_t>(Purpose::host) || p == static_cast<std::size_t>(Purpose::map)) {
        slc_units += work.slc_units;
      } else {
        map_units_moved += work.map_units;
      }
    }
    REQUIRE(reads == hw.flash.reads);
    REQUIRE(
        s.units_folded_on_die ==
        (case_.path == "none" ? 0 : hw.flash.work.at(static_cast<std::size_t>(Purpose::migration)).copied));
    if (case_.promotion == 0) REQUIRE(s.slc_units == slc_units);
    REQUIRE(s.slc_units <= slc_units);
    if (case_.map_lines > 0) {
      REQUIRE(s.map_units_moved <= map_units_moved);
      // Where time passes, some are written anew while they are moved.
      if (!hw.flash.options.timed) REQUIRE(s.map_units_moved == map_units_moved);
    }
    if (case_.path != "none") {
      REQUIRE(s.slc_prepared == hw.flash.empty_erases.at(static_cast<std::size_t>(BlockMode::slc)));
      REQUIRE(s.slc_returned == hw.flash.empty_erases.at(static_cast<std::size_t>(BlockMode::native)));
    }
    REQUIRE(s.idle_folds <= s.folds);
  }
  /// What it counts of the host's commands is what the host has asked for, if nothing was refused.
  void check_host() const {
    const FtlStatistics& s = ftl.statistics();
    REQUIRE(s.host_blocks_read == host.given.blocks_read);
    REQUIRE(s.host_units_read == host.given.units_read);
    if (ftl.read_only()) return;
    REQUIRE(s.host_blocks_written == host.given.blocks_written);
    REQUIRE(s.host_units_written == host.given.units_written);
    // What has been emptied in parts has nothing left for a trim of the whole, unless it is written
    // again.
    REQUIRE(s.units_trimmed >= host.given.units_trimmed);
    REQUIRE(s.units_trimmed - s.units_emptied_in_parts <= host.given.units_trimmed);
    REQUIRE(s.unmapped_reads >= host.given.nothing_read);
  }
  /// Each program slot has one cause.
  void check_amplification() const {
    const auto numbers = test::statistics_of(ftl);
    const std::string group = "firmware/write amplification/";
    double sum = 0;
    double modes = 0;
    for (const auto& [name, value] : numbers) {
      if (!name.starts_with(group) || name == group + "total") continue;
      (name.starts_with(group + "by mode/") ? modes : sum) += value;
    }
    REQUIRE(sum == Approx(numbers.at(group + "total")));
    if (numbers.contains(group + "by mode/slc")) REQUIRE(modes == Approx(sum));
    REQUIRE(numbers.at(group + "total") == Approx(ftl.write_amplification()));
  }
  static DriveShape shape_of(const Case& c, const CasePolicies& policies) {
    DriveShape shape;
    FirmwareConfig config;
    prepare(c, policies, shape, config);
    return shape;
  }
  static FirmwareConfig config_of(const Case& c, const CasePolicies& policies) {
    DriveShape shape;
    FirmwareConfig config;
    prepare(c, policies, shape, config);
    return config;
  }
  static void prepare(const Case& c, const CasePolicies& policies, DriveShape& shape,
                      FirmwareConfig& config) {
    config.mapping_policy = borrowed(policies.map);
    config.pslc_policy = borrowed(policies.path);
    make(c, shape, config);
  }
  static FakeOptions options_of(const Case& c, bool timed, std::uint64_t seed) {
    FakeOptions options;
    options.timed = options.shuffle = timed;
    options.seed = seed;
    options.endurance = c.endurance;
    options.slc_erases = c.slc_erases;
    options.program_failure = c.program_failure;
    options.fail_from = 0;
    return options;
  }

  Case case_;
  CasePolicies policies_;

 public:
  DriveShape shape;
  FirmwareConfig config;
  FakeHardware hw;

 private:
  RandomStream failures_;

 public:
  Ftl ftl;
  ModelHost host;
};

/// Random commands of every kind on the drive of a case; afterwards what `look` sees of the rig.
template <class Look>
auto run_random(const Case& c, bool timed, std::uint32_t commands, std::uint32_t depth, std::uint64_t seed,
                Look look) {
  commands *= stress();
  seed += 10'000 * (stress() - 1);
  INFO(describe(c) << (timed ? ", timed" : ", untimed") << ", seed " << seed);
  CaseRig rig(c, timed, seed);
  rig.anything(commands, depth);
  rig.finish();
  return look(rig);
}

/// Writes one unit and waits for it. False: refused, and what was there before is there.
inline bool write_unit(CaseRig& rig, std::uint64_t unit) {
  const std::uint64_t sectors = rig.shape.mapping_page_bytes / rig.shape.lba_bytes;
  const auto at = rig.host.reference.begin() + static_cast<std::ptrdiff_t>(unit * sectors);
  const std::vector<Stamp> before(at, at + static_cast<std::ptrdiff_t>(sectors));
  rig.host.write(unit * sectors, static_cast<std::uint32_t>(sectors));
  rig.host.wait_below(1);
  if (rig.host.last_status == HostStatus::success) return true;
  std::copy(before.begin(), before.end(), at);
  return false;
}

}  // namespace tlmssd::firmware::testing
