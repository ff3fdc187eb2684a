// A drive with blocks in SLC mode through its life: failures in either mode, the end, and
// snapshots.
#include <algorithm>
#include <cmath>
#include <set>

#include "firmware/blocks/pslc.h"
#include "firmware/core/core.h"
#include "firmware/pslc/data_path.h"
#include "models/base/memory_archive.h"
#include "testbench/tests/firmware/model_case.h"

using namespace tlmssd;
using namespace tlmssd::firmware;
using namespace tlmssd::firmware::testing;

namespace {

Case pslc_case(std::uint32_t fixed, std::uint32_t dynamic) {
  Case c{geometry(2, 1, 1, 2, 24, 12, 8192), 3};
  c.multi_plane = true;
  c.slc_pages = 4;
  c.fixed = fixed;
  c.dynamic = dynamic;
  c.path = "all";
  return c;
}

std::string name_of(const Case& c, bool timed) {
  return fmt::format("{}{}", timed ? "timed, " : "untimed, ", describe(c));
}

std::uint64_t units(const CaseRig& rig) {
  return rig.shape.logical_blocks / (rig.shape.mapping_page_bytes / rig.shape.lba_bytes);
}

}  // namespace

TEST_CASE("a drive with blocks in SLC mode that is worn out becomes read-only and keeps its data") {
  std::uint64_t seed = 1;
  for (const auto& [fixed, dynamic] : {std::pair<std::uint32_t, std::uint32_t>{2, 0}, {0, 6}, {2, 6}}) {
    for (const char* when_full : {"wait", "bypass"}) {
      for (const bool copyback : {false, true}) {
        for (const bool timed : {false, true}) {
          Case c = pslc_case(fixed, dynamic);
          c.when_full = when_full;
          c.copyback = copyback;
          c.endurance = 12;
          c.wear = seed % 3 == 0 ? "static" : "dynamic";
          c.map_lines = seed % 4 == 0 ? 2 : 0;
          c.fill = seed % 2 == 0 ? 0.9 : 0.5;
          INFO(name_of(c, timed) << ", seed " << seed);
          CaseRig rig(c, timed, seed++);
          std::uint64_t writes = 0;
          while (write_unit(rig, rig.host.random.below(units(rig))) && writes < 2'000'000) ++writes;
          REQUIRE(rig.ftl.read_only());
          REQUIRE(rig.ftl.statistics().erase_failures > 0);
          rig.finish();
          rig.host.trim({{0, 8}});
          rig.host.wait_below(1);
          REQUIRE(rig.host.last_status == HostStatus::write_protected);
          REQUIRE_FALSE(write_unit(rig, 0));
          rig.finish();
        }
      }
    }
  }
}

TEST_CASE("static blocks that are worn out make the pSLC smaller, until all writes go to native blocks") {
  for (const char* when_full : {"wait", "bypass"}) {
    for (const bool timed : {false, true}) {
      Case c = pslc_case(3, 0);
      c.when_full = when_full;
      c.slc_erases = 10;
      c.fill = 0.5;
      INFO(name_of(c, timed));
      CaseRig rig(c, timed, 1);
      const FtlStatistics& s = rig.ftl.statistics();
      const std::uint64_t static_blocks = 2 * c.fixed;
      std::uint64_t writes = 0;
      while (s.erase_failures < 1 && writes < 1'000'000)
        writes += write_unit(rig, writes % units(rig)) ? 1 : 10'000'000;
      const std::uint64_t to_slc = s.slc_units;
      REQUIRE(to_slc > 0);
      for (int n = 0; n < 3000; ++n) REQUIRE(write_unit(rig, rig.host.random.below(units(rig))));
      REQUIRE(s.slc_units > to_slc);  // there are fewer, but they are used
      while (s.erase_failures < static_blocks && writes < 1'000'000)
        writes += write_unit(rig, writes % units(rig)) ? 1 : 10'000'000;
      REQUIRE(s.erase_failures == static_blocks);
      rig.host.drain();
      const std::uint64_t in_all = s.slc_units;
      for (int n = 0; n < 2000; ++n) REQUIRE(write_unit(rig, rig.host.random.below(units(rig))));
      rig.finish();
      REQUIRE(s.slc_units == in_all);
      REQUIRE_FALSE(rig.ftl.read_only());
    }
  }
}

TEST_CASE("failed programs lose nothing in either mode") {
  for (std::uint64_t seed = 1; seed <= 12 * stress(); ++seed) {
    Case c = pslc_case(seed % 3 == 0 ? 0 : 6, seed % 3 == 1 ? 0 : 8);
    c.geometry.blocks = 60;
    c.fill = 0.6;
    c.copyback = seed % 2 == 0;
    c.when_full = seed % 4 < 2 ? "wait" : "bypass";
    c.streams = seed % 5 == 0 ? "shared" : "separate";
    c.map_lines = seed % 4 == 0 ? 5 : 0;
    c.mode = seed % 6 == 0 ? "write-through" : "write-back";
    const bool timed = seed % 4 != 0;
    c.program_failure = timed && c.mode == "write-back" ? 0.01 : 0.002;  // of many more programs
    INFO(name_of(c, timed) << ", seed " << seed);
    CaseRig rig(c, timed, seed);
    rig.anything(6000, 16);
    rig.finish();
    REQUIRE(rig.ftl.statistics().program_failures > 0);
    REQUIRE_FALSE(rig.ftl.read_only());
  }
}

TEST_CASE("a deep queue meets the end of a drive with blocks in SLC mode without hanging") {
  for (std::uint64_t seed = 1; seed <= 24 * stress(); ++seed) {
    Case c = pslc_case(seed % 4, seed % 4 == 0 ? 5 : seed % 3 * 2);
    c.geometry = geometry(2, 1, 1, 1, 16 + c.fixed, 8, 8192);
    c.program_unit = seed % 3 == 0 ? 8 : seed % 3 == 1 ? 2 : 1;
    c.slc_pages = seed % 2 == 0 ? 4 : 2;
    c.multi_plane = false;
    c.fill = 1;
    c.copyback = c.program_unit <= c.slc_pages && seed % 4 == 1;
    c.when_full = seed % 4 < 2 ? "wait" : "bypass";
    c.streams = seed % 2 == 0 ? "shared" : "separate";
    c.mode = seed % 8 < 5 ? "write-back" : "write-through";
    c.map_lines = seed % 5 > 2 ? 5 : 0;
    c.refresh = seed % 6 == 0 ? 40 : -1;
    c.wear = seed % 5 == 0 ? "static" : "dynamic";
    c.endurance = 10;
    c.slc_erases = seed % 7 == 0 ? 5 : 0;
    c.program_failure = seed % 2 == 0 ? 0.002 : 0;
    INFO(name_of(c, true) << ", seed " << seed);
    CaseRig rig(c, true, seed);
    rig.host.check_data =
        false;  // which of the commands under way at the end succeeded is not the model's business
    for (int n = 0; n < 2000 && rig.host.refused < 200; ++n) rig.anything(20, 24);
    REQUIRE(rig.ftl.read_only());
    rig.host.drain();
  }
}

namespace {

/// Random commands, and every flash operation they lead to.
std::vector<std::uint64_t> history(CaseRig& rig) {
  std::vector<std::uint64_t> seen;
  rig.hw.flash.watch = [&seen](const FlashOp& op) {
    seen.push_back((std::uint64_t{index(op.die)} << 48U) + (std::uint64_t{index(op.block)} << 32U) +
                   (std::uint64_t{index(op.page)} << 16U) + static_cast<std::uint64_t>(op.command) +
                   4 * index(op.plane) + (op.mode == BlockMode::slc ? 64U : 0U));
  };
  rig.host.random = RandomStream(99, "after");
  rig.anything(2000, 8);
  rig.host.drain();
  rig.host.verify_all();
  rig.hw.flash.watch = nullptr;
  return seen;
}

}  // namespace

TEST_CASE(
    "a drive with half-folded blocks in SLC mode that is restored goes on exactly like the one it was taken "
    "from") {
  std::uint64_t seed = 1;
  for (const PolicyInfo& path : data_paths()) {
    if (path.name == "none") continue;
    for (const bool timed : {false, true}) {
      Case c = pslc_case(seed % 2 == 0 ? 2 : 0, 8);
      c.path = path.name;
      c.fold_first = seed % 3 == 0 ? "emptiest" : "oldest";
      c.fold_below = 0.5;
      c.copyback = seed % 4 < 2;
      c.map_lines = seed % 5 == 0 ? 3 : 0;
      c.wear = "static";
      c.refresh = seed % 3 == 1 ? 40 : -1;
      INFO(name_of(c, timed) << ", seed " << seed);
      CaseRig first(c, timed, seed);
      first.anything(1500, 8);
      first.host.drain();
      REQUIRE(first.hw.flash.slc_blocks() > 0);
      REQUIRE(first.ftl.statistics().folds > 0);
      CaseRig second(c, timed, seed);
      restore(first, second);
      REQUIRE((saved(second.hw, second.ftl) == saved(first.hw, first.ftl)));
      REQUIRE(history(first) == history(second));
      ++seed;
    }
  }
}

TEST_CASE("a snapshot of a drive whose blocks in SLC mode are others is refused with the difference") {
  const Case c = pslc_case(2, 4);
  CaseRig rig(c, false, 1);
  rig.anything(300, 1);
  rig.host.drain();
  MemoryArchive saved;
  saved(rig.ftl);
  const auto complaint = [&](auto&& change) {
    Case other = c;
    change(other);
    CaseRig to(other, false, 1);
    MemoryArchive load(saved.content());
    try {
      load(to.ftl);
    } catch (const ArchiveError& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  using Catch::Contains;
  CHECK(complaint([](Case&) {}) == "accepted");
  CHECK(complaint([](Case& other) { other.when_full = "bypass"; }) == "accepted");
  CHECK_THAT(complaint([](Case& other) { other.path = "hyflex"; }),
             Contains("other firmware policies") && Contains("firmware.pslc.policy all instead of") &&
                 Contains("firmware.pslc.policy hyflex"));
  CHECK_THAT(complaint([](Case& other) { other.path = "none"; }), Contains("other firmware policies"));
  CHECK_THAT(complaint([](Case& other) { other.fold_first = "emptiest"; }),
             Contains("firmware.pslc.fold_first emptiest"));
  CHECK_THAT(complaint([](Case& other) { other.fixed = 1; }), Contains("units"));
  CHECK_THAT(complaint([](Case& other) { other.dynamic = 5; }),
             Contains("4 dynamic SLC blocks per parallel unit, this drive has 5"));
}

TEST_CASE("folding in the background begins below fold_below and ends at fold_until") {
  for (const double below : {0.3, 0.5}) {
    INFO(below);
    Case c{geometry(1, 1, 1, 1, 60, 16, 4096)};
    c.slc_pages = 8;
    c.fixed = 10;
    c.path = "all";
    c.fold_below = below;  // until 0.2 more
    c.fill = 0.6;
    CaseRig rig(c, false, 3);
    const auto free = [&] {
      const PslcRoom room = *rig.ftl.pslc_room();
      return 10 * static_cast<double>(room.free) / static_cast<double>(room.size);
    };
    std::set<double> begun_at;
    bool at_work = false;
    rig.hw.flash.watch = [&](const FlashOp& op) {
      if (op.command == FlashCommand::erase) return;
      if (op.purpose == Purpose::migration && !at_work) begun_at.insert(free());
      if (op.purpose != Purpose::gc) at_work = op.purpose == Purpose::migration;
    };
    double least = 10;
    double most = 0;
    for (int n = 0; n < 6000; ++n) {
      write_unit(rig, rig.host.random.below(units(rig)));
      if (n < 2000) continue;
      least = std::min(least, free());
      most = std::max(most, free());
    }
    CHECK(begun_at == std::set<double>{10 * below - 1});
    CHECK(least == 10 * below);
    CHECK(most >= 10 * below + 2);
    CHECK(most <= 10 * below + 3);
    CHECK(rig.ftl.statistics().idle_folds == 0);
    rig.finish();
  }
}

TEST_CASE("where all data go to SLC mode, what they wait for is a block in it") {
  Case c{geometry(1, 1, 1, 1, 60, 16, 4096)};
  c.slc_pages = 8;
  c.fixed = 3;
  c.path = "all";
  c.fold_below = 0;
  c.fill = 0.6;
  CaseRig rig(c, true, 3);
  for (int n = 0; n < 2000; ++n) {
    rig.host.write(rig.host.random.below(units(rig)) * 8, 8);
    rig.host.wait_below(16);
  }
  rig.host.drain();
  CHECK(rig.ftl.statistics().slc_waits > 20);
  CHECK(rig.ftl.statistics().space_waits == 0);
  CHECK(rig.ftl.statistics().folds > 20);
  CHECK(rig.ftl.statistics().idle_folds == 0);
  rig.finish();
}

TEST_CASE("a pSLC has the whole blocks that come nearest to its size, at least one") {
  Case c{geometry(2, 1, 1, 1, 60, 16, 4096)};
  c.slc_pages = 8;
  c.fixed = 2;
  c.path = "all";
  const CaseRig rig(c, false, 1);
  const Layout layout = make_layout(rig.shape, rig.config);
  const Bytes block = Bytes{2} * 8 * 4096;  // of each of the two parallel units
  PslcConfig config = rig.config.pslc;
  for (const auto& [blocks, wanted] :
       {std::pair{0.1, 1U}, {0.49, 1U}, {1.4, 1U}, {1.5, 2U}, {2.4, 2U}, {2.6, 3U}}) {
    INFO(blocks);
    config.static_bytes = 0;
    config.dynamic_bytes = static_cast<Bytes>(blocks * static_cast<double>(block));
    CHECK(pslc_size(config, layout).dynamic == wanted);
    std::swap(config.static_bytes, config.dynamic_bytes);
    CHECK(pslc_size(config, layout).statics == wanted);
  }
}

TEST_CASE("what may be dynamic falls in a line while valid data grow") {
  Case c{geometry(1, 1, 1, 1, 80, 16, 4096)};
  c.slc_pages = 8;
  c.dynamic = 12;
  c.path = "all";
  c.fill = 0.5;
  CaseRig rig(c, false, 1);
  const PslcConfig& config = rig.config.pslc;
  REQUIRE(config.full_until < config.gone_at);
  const auto kept = static_cast<double>(rig.ftl.blocks().layout().kept_units());
  std::set<std::uint64_t> sizes;
  for (std::uint64_t unit = 0; unit < units(rig); ++unit) {
    write_unit(rig, unit);
    rig.host.flush();
    rig.host.wait_below(1);
    const double full = static_cast<double>(unit + 1) / kept;
    const double share = (config.gone_at - full) / (config.gone_at - config.full_until);
    const auto blocks = static_cast<std::uint64_t>(std::lround(12 * std::clamp(share, 0.0, 1.0)));
    REQUIRE(rig.ftl.pslc_room()->size == blocks * 8 * 4096);
    sizes.insert(blocks);
  }
  CHECK(sizes.size() == 13);
}
