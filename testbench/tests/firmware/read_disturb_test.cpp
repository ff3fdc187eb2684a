// Regions of blocks that are refreshed by themselves because they are read much.
#include <map>
#include <set>

#include "testbench/tests/firmware/model_host.h"
#include "testbench/tests/support/given.h"

using namespace tlmssd;
using namespace tlmssd::firmware;
using namespace tlmssd::firmware::testing;

namespace {

constexpr std::uint32_t k_unit = 8;  // logical blocks
constexpr std::uint32_t k_block_units = 16;
constexpr std::size_t k_refresh = static_cast<std::size_t>(Purpose::refresh);

struct Remedies {
  std::int64_t regions = 4;
  std::int64_t region_reads = 50;
  std::int64_t block_reads = 0;
  std::string wear = "dynamic";
  bool timed = false;
  double fill = 0.7;
};

struct Rig {
  explicit Rig(const Remedies& how)
      : refresh({{"retention", Value(0.0)},
                 {"reads", whole(how.block_reads)},
                 {"errors", whole(0)},
                 {"patrol", Value(0.0)},
                 {"regions", whole(how.regions)},
                 {"region_reads", whole(how.region_reads)}}),
        hw(make(how), options),
        ftl(hw.ports, shape, config),
        host(hw, ftl, shape, 1) {}
  const DriveShape& make(const Remedies& how) {
    shape.geometry = {2, 1, 1, 2, 14, 8, 8192, 0};
    shape.frames_per_unit = 4;
    config.buffer.capacity = 32 * 4096;
    config.ecc.policy = "fixed";
    config.refresh.policy = "read-regions";
    config.refresh_policy = &refresh;
    config.wear.policy = how.wear;
    options.timed = how.timed;
    shape.logical_blocks = static_cast<std::uint64_t>(
                               how.fill * static_cast<double>(Ftl::largest_logical_blocks(shape, config))) /
                           k_unit * k_unit;
    return shape;
  }
  [[nodiscard]] std::uint64_t units() const { return shape.logical_blocks / k_unit; }
  void fill() {
    for (std::uint64_t lba = 0; lba < shape.logical_blocks; lba += 64) {
      host.write(lba, static_cast<std::uint32_t>(std::min<std::uint64_t>(64, shape.logical_blocks - lba)));
      host.wait_below(8);
    }
    host.drain();
  }
  void read(std::uint64_t unit, int times = 1) {
    for (int i = 0; i < times; ++i) {
      host.read(unit * k_unit, k_unit);
      host.wait_below(1);
    }
  }
  /// Watches which units are moved for refresh from now on, and how many erases the blocks have that they go to.
  void watch() {
    moved.clear();
    went_to.clear();
    hw.flash.watch = [this](const FlashOp& op) {
      if (op.command != FlashCommand::program || op.purpose != Purpose::refresh) return;
      for (std::uint32_t i = 0; i < op.slots; ++i) {
        if (op.spare[i] != k_no_unit) moved.insert(op.spare[i]);
      }
      went_to.push_back(hw.flash.erases(index(op.die), index(op.plane), index(op.block)));
    };
  }
  [[nodiscard]] const FtlStatistics& stats() const { return ftl.statistics(); }

  Given refresh;
  DriveShape shape;
  FirmwareConfig config;
  FakeOptions options;
  FakeHardware hw;
  Ftl ftl;
  ModelHost host;
  std::set<LogicalUnit> moved;
  std::vector<std::uint32_t> went_to;
};

}  // namespace

// --------------------------------------------------------------------------------------------------------------------- regions

TEST_CASE("the read that reaches a region's limit moves the region, and nothing else of its block") {
  for (const bool timed : {false, true}) {
    Rig rig({.timed = timed});
    rig.fill();
    rig.watch();
    rig.read(5, 49);
    CHECK(rig.stats().region_refreshes == 0);
    rig.read(5);
    rig.host.drain();
    CHECK(rig.stats().region_refreshes == 1);
    CHECK(rig.stats().refreshes == 0);
    CHECK(rig.moved.contains(5));
    CHECK(rig.moved.size() == k_block_units / 4);
    CHECK(rig.stats().units_programmed[k_refresh] == k_block_units / 4);
    rig.hw.flash.watch = nullptr;
    rig.host.verify_all();
  }
}

TEST_CASE("reads spread over a block's regions do not add up, unless the block has a limit of its own") {
  Rig apart({.regions = 4, .region_reads = 50});
  apart.fill();
  apart.watch();
  std::set<LogicalUnit> of_block;
  apart.read(5, 50);
  of_block = apart.moved;  // one region
  CHECK(of_block.size() == 4);

  Rig whole_block({.regions = 4, .region_reads = 1000, .block_reads = 120});
  whole_block.fill();
  whole_block.watch();
  whole_block.read(5, 119);
  CHECK(whole_block.stats().refreshes == 0);
  whole_block.read(5);
  whole_block.host.drain();
  CHECK(whole_block.stats().refreshes == 1);
  CHECK(whole_block.stats().region_refreshes == 0);
  CHECK(whole_block.moved.size() == k_block_units);
}

TEST_CASE("one hot unit costs a region for every so many reads, however long it is read") {
  Rig rig({.timed = true});
  rig.fill();
  rig.read(5, 50 * 40);
  rig.host.drain();
  const FtlStatistics& s = rig.stats();
  CHECK(s.refreshes == 0);
  // Blocks that were ended early for it are collected, which moves it, too, and begins the count anew.
  CHECK(s.region_refreshes >= 10);
  CHECK(s.region_refreshes <= 40);
  CHECK(s.units_programmed[k_refresh] <= s.region_refreshes * k_block_units / 4);
  const std::uint64_t collected = s.units_programmed[static_cast<std::size_t>(Purpose::gc)];
  CHECK(2 * (s.units_programmed[k_refresh] + collected) < 40 * k_block_units);  // what whole blocks would be
  rig.host.verify_all();
}

TEST_CASE("regions are at least a program unit and at most a block") {
  for (const std::int64_t regions : {1, 3, 8, 60'000}) {
    INFO(regions << " regions");
    Rig rig({.regions = regions});
    rig.fill();
    rig.watch();
    rig.read(5, 50);
    rig.host.drain();
    CHECK(rig.moved.contains(5));
    CHECK(rig.moved.size() == (regions == 1 ? k_block_units : regions == 3 ? 6U : 2U));
  }
}

TEST_CASE("a full drive whose regions are always due goes on, whatever the host does") {
  for (const bool timed : {false, true}) {
    for (const char* wear : {"dynamic", "static"}) {
      INFO((timed ? "timed, " : "untimed, ") << wear);
      Rig rig({.region_reads = 3, .block_reads = 9, .wear = wear, .timed = timed, .fill = 1.0});
      rig.fill();
      for (int i = 0; i < 4000; ++i) {
        rig.host.anything(30);
        rig.host.wait_below(8);
      }
      rig.host.drain();
      CHECK(rig.stats().region_refreshes + rig.stats().refreshes > 50);
      rig.host.verify_all();
    }
  }
}

TEST_CASE("remedies go on from a snapshot where they were") {
  const Remedies how{.region_reads = 6, .block_reads = 30, .timed = true};
  const auto after = [](Rig& rig) {
    rig.host.random = RandomStream(9, "after the snapshot");
    for (int i = 0; i < 1500; ++i) {
      rig.host.anything(20);
      rig.host.wait_below(4);
    }
    rig.host.drain();
  };
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Rig straight(how);
    straight.fill();
    straight.host.random = RandomStream(seed, "before");
    for (int i = 0; i < 500; ++i) {
      straight.host.anything(20);
      straight.host.wait_below(4);
    }
    straight.host.drain();
    MemoryArchive saved;
    straight.hw.archive(saved);
    straight.ftl.archive(saved);
    Rig restored(how);
    MemoryArchive reader(saved.content());
    restored.hw.archive(reader);
    restored.ftl.archive(reader);
    restored.host.reference = straight.host.reference;
    after(straight);
    after(restored);
    CHECK(straight.stats().region_refreshes == restored.stats().region_refreshes);
    MemoryArchive one;
    MemoryArchive other;
    straight.ftl.archive(one);
    restored.ftl.archive(other);
    CHECK((one.content() == other.content()));
  }
}
