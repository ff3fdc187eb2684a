// What log blocks cost, merge by merge, against counts that follow from the papers: Kim et al. 2002
// (BAST), Lee et al. 2007 (FAST); and what tables and blocks each scheme takes.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "models/base/input_error.h"
#include "testbench/tests/firmware/log_rig.h"
#include "testbench/tests/support/statistics_of.h"

using namespace tlmssd;
using namespace tlmssd::firmware;
using namespace tlmssd::firmware::testing;

namespace {

void check_merges(const LogRig& rig, std::uint64_t switches, std::uint64_t partials, std::uint64_t fulls,
                  std::uint64_t copies, std::uint64_t erases) {
  CHECK(rig.merges().switches == switches);
  CHECK(rig.merges().partials == partials);
  CHECK(rig.merges().fulls == fulls);
  CHECK(rig.copies() == copies);
  CHECK(rig.merges().partial_units + rig.merges().full_units == copies);
  CHECK(rig.statistics().erases == erases);
}

}  // namespace

// ---------------------------------------------------------------------------------------------------------------------- BAST

TEST_CASE("BAST: overwriting whole block-mapped regions in order costs one erase each and copies nothing") {
  for (const std::int64_t logs : {1, 4}) {
    LogSetup setup("bast");
    setup.logs = logs;
    LogRig rig(setup);
    for (int pass = 0; pass < 2; ++pass) rig.write_blocks(0, rig.blocks);
    rig.start_counting();
    for (int pass = 0; pass < 3; ++pass) rig.write_blocks(0, rig.blocks);
    check_merges(rig, 3 * rig.blocks, 0, 0, 0, 3 * rig.blocks);
    CHECK(rig.programs() == 3 * rig.blocks * rig.units);
    rig.host.verify_all();
  }
}

TEST_CASE("BAST: a run that stops after k of U pages is completed by copying U - k") {
  LogSetup setup("bast");
  setup.logs = 1;
  LogRig rig(setup);
  rig.write_blocks(0, rig.blocks);
  for (std::uint64_t k = 1; k < rig.units; ++k) {
    INFO(k << " pages");
    rig.write_blocks(1, 1);  // the only log is this block's, in order to its end
    rig.start_counting();
    for (std::uint64_t n = 0; n < k; ++n) rig.write_unit(n);
    rig.write_blocks(1, 1);
    check_merges(rig, 1, 1, 0, rig.units - k, 2);
  }
  rig.host.verify_all();
}

TEST_CASE("BAST: a block written in any other order is merged in full: U copies, two erases") {
  LogSetup setup("bast");
  setup.logs = 1;
  LogRig rig(setup);
  rig.write_blocks(0, rig.blocks);
  std::vector<std::uint64_t> order(rig.units);
  std::iota(order.begin(), order.end(), 0);
  for (int round = 0; round < 10; ++round) {
    do {
      for (std::size_t n = order.size() - 1; n > 0; --n)
        std::swap(order[n], order[rig.host.random.below(n + 1)]);
    } while (std::is_sorted(order.begin(), order.end()));
    rig.write_blocks(1, 1);
    rig.start_counting();
    for (const std::uint64_t n : order) rig.write_unit(n);
    rig.write_blocks(1, 1);
    check_merges(rig, 1, 0, 1, rig.units, 3);
  }
  rig.host.verify_all();
}

TEST_CASE("BAST: a page written twice keeps the log from taking the block's place") {
  LogSetup setup("bast");
  setup.logs = 1;
  LogRig rig(setup);
  rig.write_blocks(0, rig.blocks);
  rig.write_blocks(1, 1);
  rig.start_counting();
  for (std::uint64_t n = 0; n < rig.units - 1; ++n) rig.write_unit(n);
  rig.write_unit(0);
  rig.write_blocks(1, 1);
  check_merges(rig, 1, 0, 1, rig.units, 3);
}

TEST_CASE("BAST: writes that go round more block-mapped regions than there are logs merge every time") {
  LogSetup setup("bast");
  LogRig rig(setup);
  rig.write_blocks(0, rig.blocks);
  const auto count = static_cast<std::uint64_t>(setup.logs) + 1;
  const auto round = [&](std::uint64_t blocks, std::uint64_t times) {
    for (std::uint64_t n = 0; n < times * blocks; ++n)
      rig.write_unit(n % blocks * rig.units + 1 + rig.host.random.below(rig.units - 1));
  };
  round(count, 2);
  rig.start_counting();
  round(count, 10);
  check_merges(rig, 0, 0, 10 * count, 10 * count * rig.units, 20 * count);
  // With one fewer, a log is merged only when it is full: the last program of U fills it, the next
  // one finds it so.
  round(count - 1, rig.units);
  rig.start_counting();
  round(count - 1, 10 * rig.units);
  check_merges(rig, 0, 0, 10 * (count - 1), 10 * (count - 1) * rig.units, 20 * (count - 1));
  rig.host.verify_all();
}

TEST_CASE("BAST: a log of which everything was trimmed is erased without a copy") {
  LogSetup setup("bast");
  setup.logs = 1;
  LogRig rig(setup);
  rig.write_blocks(0, rig.blocks);
  rig.write_unit(3);
  rig.host.trim({{0, rig.units * 8}});
  rig.start_counting();
  rig.write_blocks(1, 1);
  CHECK(rig.merges().dead == 1);
  check_merges(rig, 0, 0, 0, 0, 2);
  rig.host.verify_all();
}

TEST_CASE("BAST: the log used longest ago makes room for another, and is counted") {
  LogSetup setup("bast");
  setup.logs = 2;
  LogRig rig(setup);
  rig.write_blocks(0, rig.blocks);
  const auto write = [&](std::uint64_t block, std::uint64_t unit) {
    rig.write_unit(block * rig.units + unit);
  };
  for (const std::uint64_t block : {0, 1}) write(block, 3);  // takes the logs of those that were filled last
  rig.start_counting();
  write(0, 5);
  write(2, 3);  // in place of region 1's
  check_merges(rig, 0, 0, 1, rig.units, 2);
  write(0, 4);
  check_merges(rig, 0, 0, 1, rig.units, 2);
  CHECK(test::statistics_of(rig.ftl).at("firmware/mapping/logs evicted") == 1);
  rig.host.verify_all();
}

TEST_CASE("what was trimmed of a block-mapped region is not copied, nor counted as copied") {
  for (const char* const scheme : {"bast", "fast"}) {
    for (const std::uint64_t trimmed : {1, 3, 7}) {
      INFO(scheme << ", " << trimmed << " units trimmed");
      LogSetup setup(scheme);
      setup.logs = 1;
      {
        LogRig rig(setup);  // a full merge
        rig.write_blocks(0, rig.blocks);
        rig.host.trim({{3 * 8, trimmed * 8}});
        for (std::uint64_t n = 0; n < rig.units - 1; ++n) rig.write_unit(rig.units - 1);
        rig.start_counting();
        for (std::uint64_t n = 0; n < 2 * rig.units; ++n) rig.write_unit(2 * rig.units - 1);
        CHECK(rig.merges().fulls > 0);
        CHECK(rig.merges().full_units == rig.copies());
        rig.host.verify_all();
      }
      LogRig rig(setup);  // a partial one
      rig.write_blocks(0, rig.blocks);
      rig.host.trim({{3 * 8, trimmed * 8}});
      rig.write_blocks(1, 1);
      rig.start_counting();
      rig.write_unit(0);
      rig.write_blocks(1, 1);
      CHECK(rig.merges().partials == 1);
      CHECK(rig.merges().partial_units == rig.units - 1 - trimmed);
      CHECK(rig.copies() == rig.units - 1 - trimmed);
      rig.host.verify_all();
    }
  }
}

// ---------------------------------------------------------------------------------------------------------------------- FAST

TEST_CASE("FAST: a log with data of R block-mapped regions takes R merges, says the report") {
  for (const std::uint64_t regions : {1, 2, 4, 8}) {
    INFO(regions);
    LogSetup setup("fast");
    setup.logs = 1;
    LogRig rig(setup);
    rig.write_blocks(0, rig.blocks);
    const auto write = [&] {
      for (std::uint64_t n = 0; n < rig.units; ++n)
        rig.write_unit(n % regions * rig.units + 1 + n / regions % (rig.units - 1));
    };
    write();
    rig.write_unit(9 * rig.units + 1);  // empties the log
    rig.start_counting();
    for (std::uint64_t n = 1; n < rig.units; ++n) rig.write_unit(9 * rig.units + 1 + n % 2);  // fills it
    write();
    rig.write_unit(9 * rig.units + 1);
    const auto numbers = test::statistics_of(rig.ftl);
    CHECK(numbers.at("firmware/mapping/logs emptied") == 2);
    CHECK(numbers.at("firmware/mapping/block-mapped regions per log") ==
          Approx((1 + static_cast<double>(regions)) / 2));
    rig.host.verify_all();
  }
}

TEST_CASE("FAST: runs through whole block-mapped regions cost one erase each and copy nothing") {
  LogSetup setup("fast");
  LogRig rig(setup);
  for (int pass = 0; pass < 2; ++pass) rig.write_blocks(0, rig.blocks);
  rig.start_counting();
  for (int pass = 0; pass < 3; ++pass) rig.write_blocks(0, rig.blocks);
  check_merges(rig, 3 * rig.blocks, 0, 0, 0, 3 * rig.blocks);
  rig.host.verify_all();
}

TEST_CASE("runs of commands longer than a mapping page cost one erase a block, however many wait for room") {
  for (const char* const scheme : {"bast", "fast"}) {
    for (const std::uint32_t depth : {1U, 2U, 3U, 8U, 24U}) {
      INFO(scheme << ", depth " << depth);
      LogSetup setup(scheme);
      setup.config.buffer.capacity = 12 * 4096;
      setup.options.timed = true;
      LogRig rig(setup);
      const auto pass = [&] {
        for (std::uint64_t unit = 0; unit < rig.blocks * rig.units; unit += 8) {
          rig.host.write(unit * 8, 64);
          rig.host.wait_below(depth);
        }
        rig.host.drain();
      };
      pass();
      pass();
      rig.start_counting();
      pass();
      check_merges(rig, rig.blocks, 0, 0, 0, rig.blocks);
      rig.host.verify_all();
    }
  }
}

TEST_CASE("FAST: a run that stops after k of U pages is completed by copying U - k when the next begins") {
  LogSetup setup("fast");
  LogRig rig(setup);
  rig.write_blocks(0, rig.blocks);
  for (std::uint64_t k = 1; k < rig.units; ++k) {
    INFO(k << " pages");
    rig.write_blocks(1, 1);
    rig.start_counting();
    for (std::uint64_t n = 0; n < k; ++n) rig.write_unit(n);
    rig.write_blocks(1, 1);
    check_merges(rig, 1, 1, 0, rig.units - k, 2);
  }
  rig.host.verify_all();
}

TEST_CASE("FAST: a log that is given up costs a full merge for every block-mapped region in it") {
  for (const std::uint64_t owners : {1U, 2U, 5U, 16U}) {
    INFO(owners << " block-mapped regions");
    LogSetup setup("fast");
    setup.logs = 1;
    LogRig rig(setup);
    rig.write_blocks(0, rig.blocks);
    rig.write_blocks(rig.blocks - 1, 1);  // whose switch is not to be counted below
    for (std::uint64_t n = 0; n < rig.units; ++n)
      rig.write_unit(n % owners * rig.units + 1 + n % (rig.units - 1));
    rig.start_counting();
    rig.write_unit(1);
    check_merges(rig, 0, 0, owners, owners * rig.units, owners + 1);
    rig.host.verify_all();
  }
}

TEST_CASE(
    "FAST: what other logs hold of a block-mapped region is merged with it, and its log later dies for "
    "nothing") {
  LogSetup setup("fast");
  setup.logs = 2;
  LogRig rig(setup);
  rig.write_blocks(0, rig.blocks);
  // Two logs full of the same block-mapped region, each of other pages of it.
  for (std::uint64_t n = 0; n < 2 * rig.units; ++n) rig.write_unit((n < rig.units ? 1 : 8) + n % 7);
  rig.start_counting();
  for (std::uint64_t n = 0; n < rig.units; ++n) rig.write_unit(5 * rig.units + 1 + n % (rig.units - 1));
  CHECK(rig.merges().fulls == 1);
  rig.write_unit(6 * rig.units + 1);
  CHECK(rig.merges().fulls == 1);
  CHECK(rig.merges().dead == 1);
  CHECK(rig.statistics().erases == 3);
  rig.host.verify_all();
}

// Renewals. A block-mapped region that was merged before write m U (logs are given up when the
// first program of another is due) has nothing in the logs. The first write to it comes g writes
// later, P(g) = (1 - 1/L)^g / L, and lies in log m + floor(g / U); R logs later that is given up
// and the block-mapped region merged again, whatever else of it lies in younger logs: all U (R +
// floor(g / U)) writes. With q = (1 - 1/L)^U, E[floor(g / U)] = q / (1 - q), so L block-mapped
// regions merge L / (W + U q / (1 - q)) times per write, W = R U; for L much larger than U about L
// / (W + L - U/2). Left out: a page written again within W writes, after which its log holds
// nothing of that block-mapped region unless something else does: less than one in W / (L (U - 1)).
TEST_CASE("FAST: random writes over L block-mapped regions merge L / (W + U q / (1 - q)) times each",
          "[figure]") {
  for (const std::int64_t logs : {1, 3}) {
    LogSetup setup("fast", 110, 64);
    setup.logs = logs;
    LogRig rig(setup);
    const std::uint64_t l = rig.blocks;
    const auto u = static_cast<double>(rig.units);
    rig.write_blocks(0, l);
    const auto writes = [&](std::uint64_t count) {
      for (std::uint64_t n = 0; n < count; ++n) {
        // Never the first page of a block-mapped region, which would begin a run.
        const std::uint64_t block = rig.host.random.below(l);
        rig.write_unit(block * rig.units + 1 + rig.host.random.below(rig.units - 1));
      }
    };
    writes(5'000);
    rig.start_counting();
    constexpr std::uint64_t k_writes = 40'000;
    writes(k_writes);
    const double q = std::pow(1 - 1.0 / static_cast<double>(l), u);
    const double w = static_cast<double>(logs) * u;
    const double expected = static_cast<double>(l) / (w + u * q / (1 - q));
    INFO(l << " block-mapped regions, " << w << " pages of log");
    CHECK(static_cast<double>(rig.merges().fulls) / k_writes == Approx(expected).epsilon(0.02));
    CHECK(rig.copies() == rig.merges().fulls * rig.units);
    CHECK(rig.statistics().erases == Approx(rig.merges().fulls + k_writes / rig.units).margin(2));
  }
}

// ---------------------------------------------------------------------------------------------------------------- footprints

TEST_CASE("tables of log-block schemes take the DRAM that their entries need") {
  const auto bytes = [](LogSetup setup) {
    LogRig rig(setup);
    return std::pair(rig.ftl.map().dram_bytes(), rig.blocks);
  };
  {
    const auto [dram, blocks] = bytes(LogSetup("page"));
    CHECK(dram == Approx(4 * 16 * blocks).margin(4 * 16));
  }
  {  // an entry per block-mapped region; per log its owner and two bytes per page
    const auto [dram, blocks] = bytes(LogSetup("bast"));
    CHECK(dram == 4 * blocks + 4 * (4 + 2 * 16));
  }
  {  // an entry per block-mapped region and per page of the logs, and the owner of the sequential log
    const auto [dram, blocks] = bytes(LogSetup("fast"));
    CHECK(dram == 4 * blocks + 4 * 4 * 16 + 4);
  }
  {  // entries for the blocks of each superblock; per page its place among them: 6 x 16 pages fit a byte
    LogSetup setup("superblock");
    setup.adjacent = 4;
    const auto [dram, blocks] = bytes(setup);
    CHECK(dram == 4 * (blocks / 4) * 6 + 16 * blocks);
    LogSetup large("superblock", 40, 64);
    large.adjacent = 4;
    const auto [more, as_many] = bytes(large);  // 384 places: two bytes
    CHECK(more == 4 * (as_many / 4) * 6 + 2 * 64 * as_many);
  }
  {
    LogSetup setup("block-mapped");
    setup.block = 4 * 4096;
    const auto [dram, blocks] = bytes(setup);
    CHECK(dram == Approx(4 * blocks * 4).margin(16));
    setup.block = 0;
    setup.placement = "log";
    const auto [log, as_many] = bytes(setup);
    CHECK(log == Approx(4 * 16 * as_many).margin(4 * 16));
  }
}

TEST_CASE("a parallel unit holds back what merges need, and says how many log blocks it has room for") {
  for (const char* scheme : {"bast", "fast", "superblock"}) {
    INFO(scheme);
    const std::uint64_t extra = std::string(scheme) == "fast" ? 2 : 1;
    LogSetup setup(scheme);
    setup.adjacent = 3;
    LogRig rig(setup);
    const std::uint64_t left = 40 - 4 - extra;
    CHECK(rig.blocks == (std::string(scheme) == "superblock" ? left / 3 * 3 : left));
    setup.logs = 30;
    const std::uint64_t capacity = setup.shape.logical_blocks;
    const auto complaint = [&] {
      setup.finish();
      setup.shape.logical_blocks = capacity;
      FakeHardware hw(setup.shape, setup.options);
      try {
        Ftl ftl(hw.ports, setup.shape, setup.config);
      } catch (const InputError& error) {
        return std::string(error.what());
      }
      return std::string("accepted");
    };
    const std::int64_t most = static_cast<std::int64_t>(40 - rig.blocks - extra);
    CHECK_THAT(complaint(), Catch::Contains("firmware.mapping.log_blocks: 30 are too many") &&
                                Catch::EndsWith("nearest valid: " + std::to_string(most)));
    setup.logs = most;
    CHECK(complaint() == "accepted");
    setup.logs = most + 1;
    CHECK_THAT(complaint(), Catch::Contains("are too many"));
    // Blocks too few for anything.
    LogSetup tiny(scheme, 5);
    tiny.adjacent = 3;
    tiny.finish();
    tiny.shape.logical_blocks = 8 * 16;
    FakeHardware hw(tiny.shape, tiny.options);
    CHECK_THROWS_AS(Ftl(hw.ports, tiny.shape, tiny.config), InputError);
  }
}
