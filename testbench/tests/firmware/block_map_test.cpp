// What block-mapped regions cost, program by program.
#include <numeric>

#include "testbench/tests/firmware/log_rig.h"

using namespace tlmssd;
using namespace tlmssd::firmware;
using namespace tlmssd::firmware::testing;

namespace {

/// A drive of block-mapped regions of `units` units, filled in order.
std::unique_ptr<LogRig> filled(LogSetup& setup, std::uint64_t units) {
  setup.block = units * 4096;
  setup.config.buffer.capacity = std::max<Bytes>(64, 2 * units) * 4096;
  auto rig = std::make_unique<LogRig>(setup);
  for (std::uint64_t unit = 0; unit < setup.shape.logical_blocks / 8; ++unit) rig->write_unit(unit);
  rig->host.flush();
  rig->start_counting();
  return rig;
}

}  // namespace

TEST_CASE("a unit written into a block-mapped region of U rewrites the other U - 1") {
  for (const std::uint64_t units : {1U, 2U, 8U, 16U}) {
    INFO(units << " units");
    LogSetup setup("block-mapped");
    const auto rig = filled(setup, units);
    constexpr std::uint64_t k_writes = 500;
    for (std::uint64_t n = 0; n < k_writes; ++n)
      rig->host.write(rig->host.random.below(setup.shape.logical_blocks / 8) * 8, 8, true);
    CHECK(rig->statistics().units_rewritten == k_writes * (units - 1));
    // Blocks to be collected hold nothing any more when a block-mapped region is all of them.
    if (units == 16) {
      CHECK(rig->copies() == 0);
      CHECK(rig->programs() == k_writes * units);
      CHECK(rig->ftl.write_amplification() == Approx(units));
    }
    rig->host.verify_all();
  }
}

TEST_CASE("reading the rest of a block-mapped region is charged to the write that it is read for") {
  LogSetup setup("block-mapped");
  setup.block = Bytes{4} * 4096;
  setup.options.timed = true;
  LogRig rig(setup);
  rig.host.write(0, 4 * 8);
  rig.host.drain();
  Ledger ledger;
  const auto before = rig.hw.host.on_complete;
  rig.hw.host.on_complete = [&](HostCommand& command) {
    ledger = command.ledger;
    before(command);
  };
  rig.host.write(8, 8, true);
  rig.host.wait_below(1);
  REQUIRE(rig.statistics().rmw_reads == 3);  // side by side
  CHECK(ledger.spent(Cause::sense) == setup.options.read_time);
}

TEST_CASE("a transfer of U units costs twice as much when it lies across two block-mapped regions") {
  LogSetup setup("block-mapped");
  const auto rig = filled(setup, 16);
  const std::uint64_t blocks = setup.shape.logical_blocks / 8 / 16;
  constexpr std::uint64_t k_writes = 200;
  for (std::uint64_t n = 0; n < k_writes; ++n)
    rig->host.write(rig->host.random.below(blocks - 1) * 16 * 8, 16 * 8, true);
  CHECK(rig->programs() == k_writes * 16);
  CHECK(rig->statistics().units_rewritten == 0);
  rig->start_counting();
  for (std::uint64_t n = 0; n < k_writes; ++n)
    rig->host.write((rig->host.random.below(blocks - 1) * 16 + 5) * 8, 16 * 8, true);
  CHECK(rig->programs() == 2 * k_writes * 16);
  CHECK(rig->statistics().units_rewritten == k_writes * 16);
  CHECK(rig->ftl.write_amplification() == Approx(2));
  rig->host.verify_all();
}

TEST_CASE("what is written of a block-mapped region while it waits goes out together") {
  LogSetup setup("block-mapped");
  setup.config.buffer.flush_at = 1;
  const auto rig = filled(setup, 16);
  for (const std::uint64_t unit : {3U, 9U, 3U, 15U}) rig->write_unit(unit);
  rig->host.write(5 * 8 + 2, 3);
  rig->host.flush();
  CHECK(rig->programs() == 16);
  CHECK(rig->statistics().units_rewritten == 12);
  rig->host.verify_all();
}

TEST_CASE("with copyback only what is left of program units that are written is read") {
  for (const bool copyback : {false, true}) {
    for (const std::uint32_t program_unit : {1U, 4U}) {
      INFO((copyback ? "on the die, " : "through the controller, ") << program_unit << " pages at a time");
      LogSetup setup("block-mapped");
      setup.copyback = copyback;
      setup.shape.program_unit = program_unit;
      const auto rig = filled(setup, 16);
      rig->host.write(5 * 8, 8, true);
      const std::uint64_t copied = 16 - program_unit;
      CHECK(rig->statistics().units_rewritten == 15);
      CHECK(rig->statistics().copybacks == (copyback ? copied / program_unit : 0));
      CHECK(rig->statistics().rmw_reads == (copyback ? program_unit - 1 : 15));
      rig->start_counting();
      rig->host.write(5 * 8 + 2, 3, true);  // its own other sectors, too
      CHECK(rig->statistics().rmw_reads == (copyback ? program_unit : 16));
      rig->host.verify_all();
    }
  }
}

TEST_CASE("what is programmed of block-mapped regions is data or padding, in programs that fail as well") {
  LogSetup setup("block-mapped");
  setup.fill = 0.4;
  const auto rig = filled(setup, 8);
  rig->hw.flash.options.program_failure = 0.003;
  rig->hw.flash.options.fail_from = 0;
  const std::uint64_t units = setup.shape.logical_blocks / 8;
  for (std::uint64_t first = 0; first + 8 <= units; first += 8) rig->host.trim({{first * 8, 3 * 8}});
  for (int n = 0; n < 600; ++n) rig->host.write(rig->host.random.below(units) * 8, 8, true);
  const FtlStatistics& s = rig->statistics();
  REQUIRE(s.program_failures > 0);
  REQUIRE_FALSE(rig->ftl.read_only());
  CHECK(std::reduce(s.units_programmed.begin(), s.units_programmed.end()) +
            std::reduce(s.units_padded.begin(), s.units_padded.end()) ==
        rig->programs());
  rig->host.verify_all();
}

TEST_CASE("a block-mapped region counts as programmed when it is ordered, wholly written or not yet") {
  LogSetup setup("block-mapped");
  setup.options.timed = true;
  const auto rig = filled(setup, 16);
  rig->host.drain();
  rig->start_counting();
  rig->host.write(5 * 8, 8);
  rig->host.flush();  // starts the rewrite, which is seen from its first program to its last
  const FtlStatistics& s = rig->statistics();
  std::uint64_t seen_under_way = 0;
  for (;;) {
    REQUIRE(s.programs[0] >= rig->programs());
    if (s.programs[0] > 0) {
      REQUIRE(s.units_programmed[0] == 16);
      REQUIRE(s.units_rewritten == 15);
      if (rig->hw.flash.pending(DieId{0}) > 0) ++seen_under_way;
    }
    if (rig->hw.event_queue.empty()) break;
    rig->hw.event_queue.run_until(rig->hw.event_queue.next());
  }
  CHECK(seen_under_way > 0);
  CHECK(s.programs[0] == 16);
  CHECK(rig->ftl.write_amplification() == Approx(16));
  rig->host.verify_all();
}

TEST_CASE("trimmed units of a block-mapped region are holes, and the last one frees it") {
  LogSetup setup("block-mapped");
  const auto rig = filled(setup, 16);
  rig->host.trim({{2 * 8, 10 * 8}});
  rig->host.write(0, 8, true);
  CHECK(rig->programs() == 16);
  CHECK(rig->statistics().units_rewritten == 5);
  rig->host.verify_all();
  rig->host.trim({{0, 16 * 8}});
  rig->start_counting();
  rig->host.write(7 * 8, 8, true);
  CHECK(rig->statistics().units_rewritten == 0);
  CHECK(rig->statistics().units_padded[0] == 15);
  rig->host.verify_all();
}

TEST_CASE("placed as a log, pages of a block-mapped region are written without copying others") {
  LogSetup setup("block-mapped");
  setup.placement = "log";
  LogRig rig(setup);
  for (std::uint64_t unit = 0; unit < setup.shape.logical_blocks / 8; ++unit) rig.write_unit(unit);
  rig.start_counting();
  rig.host.write(5 * 8, 8, true);
  CHECK(rig.programs() <= 1 + 16 * 2);  // one, and what collection may move
  CHECK(rig.statistics().units_rewritten == 0);
  rig.host.verify_all();
}
