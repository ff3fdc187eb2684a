// Collection ahead of need, by idle time or by free space, and static wear levelling.
#include <algorithm>
#include <cmath>
#include <set>

#include "firmware/blocks/block_pool.h"
#include "testbench/tests/firmware/life_setup.h"
#include "testbench/tests/support/given.h"

using namespace tlmssd;
using namespace tlmssd::firmware;
using namespace tlmssd::firmware::testing;

namespace {

/// Of the most erased block of die 0 over the least erased one.
std::uint32_t spread_of_erases(ModelRig& rig) {
  std::uint32_t low = ~0U;
  std::uint32_t high = 0;
  for (std::uint32_t b = 0; b < 64; ++b) {
    low = std::min(low, rig.hw.flash.erases(0, 0, b));
    high = std::max(high, rig.hw.flash.erases(0, 0, b));
  }
  return high - low;
}

}  // namespace

TEST_CASE("static wear levelling keeps erase counts together where dynamic cannot") {
  std::uint64_t spread[2];
  int which = 0;
  for (const char* wear : {"dynamic", "static"}) {
    LifeSetup setup({1, 1, 1, 1, 64, 16, 4096, 0}, 0.9);
    setup.config.wear.policy = wear;
    const Given threshold({{"threshold", whole(8)}});
    setup.config.wear_policy = borrowed(threshold);
    setup.size();
    ModelRig rig(setup);
    const std::uint64_t units = setup.shape.logical_blocks / 8;
    for (std::uint64_t u = 0; u < units; ++u) rig.host.write(u * 8, 8);
    for (int n = 0; n < 60'000; ++n) rig.host.write(rig.host.random.below(units / 10) * 8, 8);
    spread[which++] = spread_of_erases(rig);
    rig.host.verify_all();
    REQUIRE((rig.ftl.statistics().wear_moves > 0) == (std::string(wear) == "static"));
  }
  REQUIRE(spread[0] > 40);
  REQUIRE(spread[1] <= 8 + 8 + 8);  // threshold, and what happens between two moves
}

// With an open block that host and collection share, there is hardly ever a free block beyond the
// reserve: nothing was moved.
TEST_CASE("static wear levelling keeps erase counts together whatever shares open blocks") {
  for (const char* streams : {"separate", "shared"}) {
    for (const bool timed : {false, true}) {
      for (const std::uint32_t reserve : {1U, 2U}) {
        for (const bool background : {false, true}) {
          INFO(streams << (timed ? " timed" : " untimed") << ", reserve " << reserve
                       << (background ? ", cleaned in the background" : ""));
          LifeSetup setup({1, 1, 1, 1, 64, 16, 4096, 0}, 0.96);
          setup.config.allocation.streams = streams;
          setup.config.gc.low_water = reserve;
          if (!background) setup.config.gc.background_start = 0;
          setup.config.wear.policy = "static";
          const Given threshold({{"threshold", whole(8)}});
          setup.config.wear_policy = borrowed(threshold);
          setup.size();
          setup.options.timed = timed;
          ModelRig rig(setup);
          const std::uint64_t units = setup.shape.logical_blocks / 8;
          const auto write = [&](std::uint64_t unit) {
            rig.host.write(unit * 8, 8);
            rig.host.wait_below(16);
          };
          for (std::uint64_t u = 0; u < units; ++u) write(u);
          for (int n = 0; n < 20'000; ++n) write(rig.host.random.below(units / 10));
          rig.host.drain();
          rig.host.verify_all();
          CHECK(spread_of_erases(rig) <= 8 + 8 + 8);  // threshold, and what happens between two moves
        }
      }
    }
  }
}

TEST_CASE("an idle drive cleans up, and stops when the host comes back") {
  LifeSetup setup({2, 1, 1, 1, 64, 16, 4096, 0}, 0.85);
  setup.config.gc.idle_after = 1'000'000'000'000;
  setup.config.gc.background_start = 0;
  setup.size();
  setup.options.timed = true;
  ModelRig rig(setup);
  const std::uint64_t units = setup.shape.logical_blocks / 8;
  for (std::uint64_t n = 0; n < 3 * units; ++n) {
    rig.host.write(rig.host.random.below(units) * 8, 8);
    rig.host.wait_below(16);
  }
  rig.host.flush();
  rig.host.wait_below(1);
  while (!rig.ftl.idle())
    rig.hw.event_queue.run_until(rig.hw.event_queue.next());  // the collection that the writes started
  const auto victims = [&] { return rig.ftl.statistics().gc_victims; };
  const std::uint64_t before = victims();
  rig.hw.event_queue.run_until(rig.hw.event_queue.now() + setup.config.gc.idle_after / 2);
  REQUIRE(victims() == before);
  while (victims() < before + 2)
    rig.hw.event_queue.run_until(rig.hw.event_queue.next());  // cleaning has begun
  rig.host.read(0, 8);
  rig.host.wait_below(1);
  rig.hw.event_queue.run_until(rig.hw.event_queue.now() + setup.config.gc.idle_after / 2);
  REQUIRE(victims() <= before + 4);  // each of the two parallel units may have been about to choose
  rig.hw.event_queue.run_until(k_never);
  REQUIRE(victims() > before + 8);
  REQUIRE(rig.ftl.idle());
  rig.host.verify_all();
}

TEST_CASE("background cleaning keeps the host from waiting for space") {
  std::uint64_t waits[2];
  for (const bool background : {false, true}) {
    LifeSetup setup({2, 1, 1, 1, 64, 16, 4096, 0}, 0.7);
    setup.config.gc.background_start = background ? 0.3 : 0.0;
    setup.config.gc.background_stop = background ? 0.4 : 0.0;
    setup.size();
    setup.options.timed = true;
    ModelRig rig(setup);
    const std::uint64_t units = setup.shape.logical_blocks / 8;
    for (std::uint64_t n = 0; n < 6 * units; ++n) {
      rig.host.write(rig.host.random.below(units) * 8, 8);
      rig.host.wait_below(1);
      if (n % 4 == 0)
        rig.hw.event_queue.run_until(rig.hw.event_queue.now() + 12 * setup.options.program_time);
    }
    waits[background ? 1 : 0] = rig.ftl.statistics().space_waits;
    rig.host.drain();
    rig.host.verify_all();
  }
  REQUIRE(waits[0] > 50);
  REQUIRE(waits[1] < waits[0] / 20);
}

TEST_CASE(
    "few spare blocks are collected in the background where half of them are two more than the reserve") {
  for (const std::uint32_t spare : {6U, 7U, 8U, 9U}) {
    INFO(spare << " spare blocks");
    std::uint64_t waits[2];
    for (const bool background : {false, true}) {
      LifeSetup setup({1, 1, 1, 1, 64, 16, 4096, 0});
      setup.config.gc.background_start = background ? 0.4 : 0.0;
      setup.config.gc.background_stop = background ? 0.5 : 0.0;
      setup.shape.logical_blocks = std::uint64_t{64 - spare} * 16 * 8;
      setup.options.timed = true;
      ModelRig rig(setup);
      CHECK(rig.ftl.background_without_room() == (background && spare < 8));
      const std::uint64_t units = setup.shape.logical_blocks / 8;
      for (std::uint64_t n = 0; n < 4 * units; ++n) {
        rig.host.write((n < units ? n : rig.host.random.below(units)) * 8, 8);
        rig.host.wait_below(1);
        if (n % 8 == 0 && n > units)
          rig.hw.event_queue.run_until(rig.hw.event_queue.now() + 400 * setup.options.program_time);
      }
      waits[background ? 1 : 0] = rig.ftl.statistics().space_waits;
      rig.host.drain();
      rig.host.verify_all();
    }
    CHECK(waits[0] > 50);
    CHECK((waits[1] < waits[0] / 10) == (spare >= 8));
  }
}

// Pages that have been read are moved, though no write waits for them any more: in an open block
// that the host writes as well, what is moved lies in longer runs.
TEST_CASE("more pages read at a time part hot data from cold in shared blocks, and elsewhere hardly matter") {
  for (const char* const streams : {"shared", "separate"}) {
    std::vector<double> moved;
    for (const std::uint32_t copies : {1U, 64U}) {
      LifeSetup setup({1, 1, 1, 1, 64, 32, 16384, 0}, 0.9);
      setup.config.allocation.streams = streams;
      setup.config.gc.background_start = 0;
      setup.config.gc.parallel_copies = copies;
      setup.config.buffer.capacity = 16 * 16384;
      setup.size();
      ModelRig rig(setup);
      const std::uint64_t units = setup.shape.logical_blocks / 8;
      for (std::uint64_t n = 0; n < 6 * units; ++n) {
        const bool hot = n % 10 != 0;
        rig.host.write((n < units ? n : rig.host.random.below(hot ? units / 10 : units)) * 8, 8);
      }
      moved.push_back(
          static_cast<double>(rig.ftl.statistics().units_programmed[static_cast<std::size_t>(Purpose::gc)]));
      rig.host.drain();
      rig.host.verify_all();
    }
    INFO(streams << ": " << moved[0] << " units moved, " << moved[1]);
    if (std::string(streams) == "shared") {
      CHECK(moved[1] < 0.97 * moved[0]);
    } else {
      CHECK(moved[1] == Approx(moved[0]).epsilon(0.1));
    }
  }
}

TEST_CASE("collection in the background begins below its start, goes on to its stop, and rests until then") {
  LifeSetup setup({1, 1, 1, 1, 96, 16, 4096, 0}, 0.4);
  setup.config.gc.background_start = 0.11;
  setup.config.gc.background_stop = 0.4;
  setup.size();
  ModelRig rig(setup);
  const std::uint64_t units = setup.shape.logical_blocks / 8;
  const auto packed = static_cast<std::uint32_t>((units + 15) / 16);
  const auto part = [&](double share) {
    return static_cast<std::uint32_t>(std::ceil(share * (96 - packed)));
  };
  const auto free = [&] { return rig.ftl.blocks().pu(0).free; };
  std::set<std::uint32_t> begun_at;
  bool at_work = false;
  rig.hw.flash.watch = [&](const FlashOp& op) {
    const bool collects = op.purpose == Purpose::gc;
    if (collects && !at_work) begun_at.insert(free());
    at_work = collects;
  };
  std::uint32_t least = ~0U;
  std::uint32_t most = 0;
  for (std::uint64_t n = 0; n < 12 * units; ++n) {
    rig.host.write((n < units ? n : rig.host.random.below(units)) * 8, 8);
    if (n < 4 * units) continue;
    least = std::min(least, free());
    most = std::max(most, free());
  }
  CHECK(begun_at == std::set<std::uint32_t>{part(0.11) - 1});
  CHECK(most >= part(0.4));
  CHECK(most <= part(0.4) + 1);
  CHECK(least <= part(0.11));
  rig.hw.flash.watch = nullptr;
  rig.host.verify_all();
}

TEST_CASE("static wear levelling moves data beyond its threshold, and no oftener than its interval") {
  for (const std::int64_t threshold : {3, 8}) {
    for (const std::int64_t interval : {1, 5, 20}) {
      INFO("threshold " << threshold << ", interval " << interval);
      LifeSetup setup({1, 1, 1, 1, 64, 16, 4096, 0}, 0.9);
      setup.config.wear.policy = "static";
      const Given given({{"threshold", whole(threshold)}, {"interval", whole(interval)}});
      setup.config.wear_policy = borrowed(given);
      setup.size();
      ModelRig rig(setup);
      const std::uint64_t units = setup.shape.logical_blocks / 8;
      for (std::uint64_t u = 0; u < units; ++u) rig.host.write(u * 8, 8);
      bool moved = false;
      for (int n = 0; n < 20'000; ++n) {
        rig.host.write(rig.host.random.below(units / 10) * 8, 8);
        const FtlStatistics& s = rig.ftl.statistics();
        REQUIRE(s.wear_moves * static_cast<std::uint64_t>(interval) <= s.erases);
        if (moved || s.wear_moves == 0) continue;
        moved = true;
        // What lies still has never been erased.
        CHECK(rig.ftl.blocks().wear().maximum > static_cast<std::uint64_t>(threshold));
      }
      CHECK(moved);
    }
  }
}
