// Placement handles: write amplification of two kinds of data against theory, what is kept apart,
// random commands against a reference, and what is refused.
#include "firmware/features/streams/streams.h"

#include <cmath>
#include <numeric>
#include <set>

#include "models/base/input_error.h"
#include "models/base/memory_archive.h"
#include "testbench/tests/firmware/model_case.h"
#include "testbench/tests/firmware/one_plane.h"
#include "testbench/tests/support/wa_oracle.h"

using namespace tlmssd;
using namespace tlmssd::firmware;
using namespace tlmssd::firmware::testing;

namespace {

constexpr std::uint32_t k_die_blocks = 513;
constexpr std::uint32_t k_reserve = 1;

/// Two loads of different lifetimes on one parallel unit: `hot` units written at random, the rest
/// in order, in turn. What is written in order has `cold_handle`.
struct TwoLoads {
  TwoLoads(const std::string& policy, std::uint64_t seed, double hot_share, double spare)
      : random(seed, "two loads"), handles(policy != "none") {
    shape = one_plane(k_die_blocks);
    const std::uint64_t all = std::uint64_t{k_die_blocks} * k_pages;
    units = static_cast<std::uint64_t>(static_cast<double>(all) * (1 - spare)) / k_pages * k_pages;
    hot = static_cast<std::uint64_t>(static_cast<double>(units) * hot_share) / k_pages * k_pages;
    shape.logical_blocks = units;
    config.allocation.streams = "shared";
    config.gc.low_water = k_reserve;
    config.gc.background_start = 0;
    config.wear.policy = "none";
    config.buffer.capacity = Bytes{16} * 4096;
    if (handles) choose(config, "firmware.streams", policy, {{"handles", whole(2)}});
    hw = std::make_unique<FakeHardware>(shape, FakeOptions{});
    ftl = std::make_unique<Ftl>(hw->ports, shape, config);
    hw->host.on_complete = [](HostCommand& command) {
      if (command.status != HostStatus::success) throw std::runtime_error("write failed");
    };
  }
  void write(std::uint64_t lba, std::uint16_t handle) {
    HostCommand command;
    command.opcode = HostOpcode::write;
    command.lba = lba;
    command.blocks = 1;
    command.placement_handle = handle;
    Stamp stamp = make_stamp(static_cast<Lpn>(lba), ++written);
    command.set_data(std::span(&stamp, 1));
    ftl->submit(command);
  }
  void fill() {
    for (std::uint64_t lba = hot; lba < units; ++lba) write(lba, handles ? 1 : 0);
    for (std::uint64_t lba = 0; lba < hot; ++lba) write(lba, 0);
  }
  /// A run of writes in order, and as many at random.
  void turns(std::uint64_t writes, std::uint32_t run, const std::function<std::uint64_t()>& next_hot) {
    for (std::uint64_t done = 0; done < writes; done += 2 * run) {
      for (std::uint32_t n = 0; n < run; ++n) {
        write(hot + cursor, handles ? 1 : 0);
        cursor = (cursor + 1) % (units - hot);
      }
      for (std::uint32_t n = 0; n < run; ++n) write(next_hot(), 0);
    }
  }
  [[nodiscard]] double amplification() const {
    const auto& s = ftl->statistics();
    const auto host = static_cast<double>(s.units_programmed[static_cast<std::size_t>(Purpose::host)]);
    return (host + static_cast<double>(s.units_programmed[static_cast<std::size_t>(Purpose::gc)])) / host;
  }
  double measure(std::uint32_t run, const std::function<std::uint64_t()>& next_hot) {
    const std::uint64_t all = std::uint64_t{k_die_blocks} * k_pages;
    fill();
    turns(20 * all, run, next_hot);
    ftl->reset_statistics();
    turns(20 * all, run, next_hot);
    return amplification();
  }
  [[nodiscard]] double uniform(std::uint32_t run) {
    return measure(run, [this] { return random.below(hot); });
  }
  /// Both loads alone: what is written in order leaves its blocks all at once and costs nothing;
  /// what is written at random has the spare area to itself, but for the blocks that the other has
  /// open or is about to fill.
  [[nodiscard]] double sum_of_theories() const {
    const double cold_blocks = static_cast<double>(units - hot) / k_pages + 1;
    const double physical = (k_die_blocks - k_reserve - cold_blocks) * k_pages;
    return (1 + oracle::greedy(physical / static_cast<double>(hot), k_pages)) / 2;
  }

  RandomStream random;
  bool handles;
  DriveShape shape;
  FirmwareConfig config;
  std::uint64_t units = 0;
  std::uint64_t hot = 0;
  std::uint64_t cursor = 0;
  std::uint16_t written = 0;
  std::unique_ptr<FakeHardware> hw;
  std::unique_ptr<Ftl> ftl;
};

/// Ranks by Zipf's law, scattered.
std::function<std::uint64_t()> zipf(RandomStream& random, std::uint64_t count, double theta) {
  std::vector<double> sum;
  double total = 0;
  for (std::uint64_t n = 1; n <= count; ++n) sum.push_back(total += std::pow(static_cast<double>(n), -theta));
  return [&random, sum, total] {
    const auto at = std::lower_bound(sum.begin(), sum.end(), random.uniform() * total) - sum.begin();
    return static_cast<std::uint64_t>(at) * 7919 % sum.size();
  };
}

Case tight(const std::string& isolation) {
  Case c{geometry(2, 1, 1, 2, 28, 8, 8192)};
  c.isolation = isolation;
  c.fill = 0.9;
  return c;
}

const Streams& streams(const Ftl& ftl) {
  return dynamic_cast<const Streams&>(*ftl.feature("firmware.streams"));
}

}  // namespace

TEST_CASE("data of two lifetimes by two handles cost what they cost alone, within 5 %", "[slow]") {
  const std::uint64_t seed = GENERATE(1, 2, 3);
  const auto [hot_share, spare] = GENERATE(std::pair(0.2, 0.10), std::pair(0.4, 0.15), std::pair(0.5, 0.25));
  // The sequential load writes whole reclaim units.
  const double mixed = TwoLoads("none", seed, hot_share, spare).uniform(k_pages);
  for (const char* const policy : {"initially-isolated", "persistently-isolated"}) {
    TwoLoads with(policy, seed, hot_share, spare);
    const double theory = with.sum_of_theories();
    const double apart = with.uniform(k_pages);
    INFO(policy << ", seed " << seed << ", hot " << hot_share << ", spare " << spare << ": " << apart
                << " with streams, " << mixed << " without, theory " << theory);
    if (std::getenv("TLMSSD_SHOW") != nullptr)
      std::printf("%-22s seed %d hot %.1f spare %.2f: %.4f with, %.4f without, theory %.4f (%+.2f %%)\n",
                  policy, static_cast<int>(seed), hot_share, spare, apart, mixed, theory,
                  100 * (apart / theory - 1));
    CHECK(std::abs(apart / theory - 1) < 0.05);
    CHECK(apart < mixed);
  }
}

TEST_CASE("zipf-hot and cold sequential data amplify less with streams", "[slow]") {
  const std::uint64_t seed = GENERATE(1, 2, 3);
  const std::uint32_t run = GENERATE(1, 16, k_pages);
  TwoLoads without("none", seed, 0.4, 0.15);
  const double mixed = without.measure(run, zipf(without.random, without.hot, 1.1));
  for (const char* const policy : {"initially-isolated", "persistently-isolated"}) {
    TwoLoads with(policy, seed, 0.4, 0.15);
    const double apart = with.measure(run, zipf(with.random, with.hot, 1.1));
    INFO(policy << ", seed " << seed << ", runs of " << run << ": " << apart << " with streams, " << mixed
                << " without");
    if (std::getenv("TLMSSD_SHOW") != nullptr)
      std::printf("%-22s seed %d zipf 1.1, runs of %u: %.4f with, %.4f without\n", policy,
                  static_cast<int>(seed), run, apart, mixed);
    CHECK(apart < mixed);
  }
}

TEST_CASE("blocks hold data of one handle, as long as isolation says") {
  for (const char* const isolation : {"initially", "persistently"}) {
    INFO(isolation);
    Case c = tight(isolation);
    CaseRig rig(c, false, 5);
    const std::uint64_t sectors = c.unit / c.lba;
    // Unit u is written with handle u % 3 only.
    rig.host.handles = 1;
    std::uint64_t mixed_moved = 0;
    std::uint64_t mixed_of_host = 0;
    rig.hw.flash.watch = [&](const FlashOp& op) {
      if (op.command != FlashCommand::program) return;
      std::set<std::uint32_t> found;
      for (std::uint32_t n = 0; n < op.slots; ++n) {
        if (op.spare[n] != k_no_unit) found.insert(op.spare[n] % 3);
      }
      if (found.size() > 1) ++(op.purpose == Purpose::host ? mixed_of_host : mixed_moved);
    };
    const std::uint64_t units = rig.shape.logical_blocks / sectors;
    for (int n = 0; n < 6000; ++n) {
      const std::uint64_t unit = rig.host.random.below(units);
      rig.host.write_by(static_cast<std::uint16_t>(unit % 3), unit * sectors,
                        static_cast<std::uint32_t>(sectors));
    }
    rig.finish();
    CHECK(rig.ftl.statistics().gc_victims > 50);
    CHECK(mixed_of_host == 0);
    CHECK((mixed_moved > 0) == (c.isolation == "initially"));
    const Streams& feature = streams(rig.ftl);
    std::uint64_t written = 0;
    for (std::uint8_t handle = 0; handle < 3; ++handle) {
      CHECK(feature.units_written(handle) > 1000);
      CHECK(feature.use(handle).opened > 20);
      CHECK(feature.use(handle).filled <= feature.use(handle).opened);
      CHECK((feature.use(handle).moved > 0) == (c.isolation == "persistently"));
      written += feature.units_written(handle);
    }
    CHECK(written == rig.ftl.statistics().units_programmed[static_cast<std::size_t>(Purpose::host)]);
    CHECK(feature.counters().invalid == 0);
    CHECK(feature.counters().erased == rig.ftl.statistics().erases);
  }
}

TEST_CASE("each block that a handle opened was filled, cut short or failed, or is open") {
  for (const char* const isolation : {"initially", "persistently"}) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      INFO(isolation << ", seed " << seed);
      Case c = tight(isolation);
      c.geometry.blocks = 40;
      c.fill = 0.7;
      c.program_failure = 0.002 / stress();
      c.refresh = 0;  // patrols end blocks early
      CaseRig rig(c, false, seed);
      const FtlStatistics& s = rig.ftl.statistics();
      std::uint64_t failed_of_host = 0;
      rig.anything(4000, 1);
      rig.host.drain();
      const Streams& feature = streams(rig.ftl);
      const auto open = [&](std::uint8_t handle) {
        std::uint64_t blocks = 0;
        for (std::uint32_t pu = 0; pu < rig.ftl.blocks().layout().pus; ++pu) {
          rig.ftl.blocks().for_each_target(pu, [&](WriteTarget target, const BlockPool::Frontier& /*front*/) {
            if (target == host_target(handle)) ++blocks;
          });
        }
        return blocks;
      };
      std::uint64_t cut_short = 0;
      for (std::uint8_t handle = 0; handle < c.handles; ++handle) {
        const BlockPool::HandleUse& use = feature.use(handle);
        CHECK(use.opened == use.filled + use.cut_short + use.failed + open(handle));
        CHECK(use.filled > 0);
        cut_short += use.cut_short;
        failed_of_host += use.failed;
      }
      CHECK(cut_short > 0);
      CHECK(failed_of_host <= s.program_failures);
      const auto numbers = test::statistics_of(rig.ftl);
      CHECK(numbers.at("firmware/streams/media bytes with metadata written") ==
            4096.0 * static_cast<double>(std::reduce(s.units_programmed.begin(), s.units_programmed.end()) +
                                         std::reduce(s.units_padded.begin(), s.units_padded.end())));
      CHECK(numbers.at("firmware/streams/host bytes with metadata written") ==
            512.0 * static_cast<double>(rig.host.given.blocks_written));
      rig.finish();
    }
  }
}

TEST_CASE("data that are overwritten in order are not said to be reallocated") {
  Case c = tight("initially");
  CaseRig rig(c, false, 1);
  rig.host.handles = 1;
  const std::uint64_t units = rig.shape.logical_blocks / 8;
  for (std::uint64_t n = 0; n < 5 * units; ++n) rig.host.write(n % units * 8, 8);
  rig.host.drain();
  REQUIRE(rig.ftl.statistics().gc_victims > 50);
  CHECK(rig.ftl.statistics().gc_victim_valid ==
        rig.hw.flash.work[static_cast<std::size_t>(Purpose::gc)].units);
  CHECK(streams(rig.ftl).counters().moved * 4 < rig.ftl.statistics().gc_victims);
  rig.finish();
}

TEST_CASE("writes by placement handles keep the data, on tight drives, timed or not") {
  std::uint64_t seed = 2900;
  std::uint64_t invalid = 0;
  for (const char* const isolation : {"initially", "persistently"}) {
    for (const bool timed : {true, false}) {
      for (int shape = 0; shape < 5; ++shape) {
        for (const char* const mode : {"write-back", "write-through"}) {
          Case c = tight(isolation);
          if (shape == 1) c.geometry = geometry(1, 1, 1, 1, 32, 8, 4096);
          if (shape == 2) {
            c.geometry = geometry(2, 1, 1, 2, 30, 12, 8192);
            c.program_unit = 3;
            c.multi_plane = true;
          }
          if (shape == 3) c.map_lines = 3;
          if (shape == 4) {
            c.program_unit = 8;
            c.geometry = geometry(1, 1, 1, 1, 40, 8, 8192);
          }
          c.mode = mode;
          c.handles = 2 + static_cast<std::uint32_t>(seed % 3);
          c.streams = seed % 2 == 0 ? "shared" : "separate";
          c.wear = c.isolation == "initially" && seed % 4 == 0 ? "static" : "dynamic";
          c.low_water = 1 + static_cast<std::uint32_t>(seed % 2);
          c.program_failure =
              seed % 3 == 0 ? 0.001 / stress() : 0;  // not so many that the drive goes read-only
          c.refresh = seed % 5 == 0 ? 40 : -1;
          c.pacing = seed % 4 == 1 ? "credit" : "";
          c.background_start = c.pacing.empty() ? 0.1 : 0.3;
          if (!c.pacing.empty()) c.fill = 0.6;
          c.gc = seed % 3 == 1 ? "fifo" : seed % 3 == 2 ? "cost-benefit" : "greedy";
          c.fill = c.program_failure > 0 ? 0.7 : c.fill;
          INFO(describe(c) << (timed ? ", timed" : ", untimed") << ", seed " << seed + 1);
          CaseRig rig(c, timed, ++seed);
          rig.anything(2000 * stress(), timed ? 24 : 1);
          rig.finish();
          invalid += streams(rig.ftl).counters().invalid;
        }
      }
    }
  }
  CHECK(invalid > 100);
}

TEST_CASE("placement handles go on from a snapshot as if nothing had been") {
  for (const char* const isolation : {"initially", "persistently"}) {
    const Case c = tight(isolation);
    for (std::uint64_t seed = 7; seed < 27; ++seed) {
      INFO(isolation << " isolated, seed " << seed);
      CaseRig straight(c, true, seed);
      straight.anything(1500, 8);
      straight.host.drain();
      CaseRig restored(c, true, seed);
      restore(straight, restored);
      for (CaseRig* const rig : {&straight, &restored}) {
        rig->host.random = RandomStream(11, "after");
        rig->anything(500, 1);
        rig->host.drain();
        rig->host.verify_all();
      }
      CHECK((saved(straight.ftl) == saved(restored.ftl)));
    }
    CaseRig straight(c, true, 7);
    Case other = c;
    other.handles = 4;
    other.fill = 0.5;
    CaseRig wrong(other, true, 7);
    MemoryArchive archive(saved(straight.ftl));
    CHECK_THROWS_AS(archive(wrong.ftl), ArchiveError);
  }
}

TEST_CASE("placement handles are refused where data cannot be kept by them") {
  const auto refused = [](const Case& c, const char* key, const char* why) {
    CHECK_THROWS_WITH(CaseRig(c, true, 1), Catch::Contains(key) && Catch::Contains(why));
  };
  const char* const key = "firmware.streams.policy";
  Case c = tight("initially");
  c.scheme = "fast";
  c.block = 8 * 8192;
  refused(c, key, "firmware.mapping.scheme");
  c = tight("initially");
  c.slc_pages = 4;
  c.path = "all";
  c.dynamic = 2;
  refused(c, key, "SLC mode");
  c = tight("initially");
  c.cache = "write-only";
  refused(c, key, "the cache");
  c = tight("persistently");
  c.wear = "static";
  refused(c, key, "nearest valid: initially-isolated");
  c = tight("persistently");
  c.parted_at = 2;
  refused(c, key, "only read");
  c = tight("initially");
  c.geometry.pages = 64;
  c.program_unit = 64;
  c.handles = 8;
  DriveShape shape;
  FirmwareConfig config;
  make(c, shape, config);
  config.buffer.capacity = Bytes{8} * 64 * 8192;
  FakeHardware hw(shape, {});
  CHECK_THROWS_WITH(Ftl(hw.ports, shape, config), Catch::Contains("firmware.buffer.capacity") &&
                                                      Catch::Contains("8 placement handles") &&
                                                      Catch::Contains("nearest valid: 4718592 B"));
}
