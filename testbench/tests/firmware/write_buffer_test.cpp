// What the write buffer answers, takes together and reads back, and when it begins to write out.
#include "firmware/buffer/write_buffer.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "firmware/core/core.h"
#include "testbench/tests/firmware/life_setup.h"

using namespace tlmssd;
using namespace tlmssd::firmware;
using namespace tlmssd::firmware::testing;

// A page holds one mapping page, and what is written or read is whole ones: each read from flash is
// one operation, and each program slot that is not padding one unit taken from the write buffer.
TEST_CASE("what the write buffer answers and takes together is neither read nor programmed") {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    for (const bool timed : {false, true}) {
      INFO("seed " << seed << (timed ? ", timed" : ", untimed"));
      LifeSetup setup({2, 1, 1, 1, 40, 16, 4096, 0});
      setup.size();
      setup.options.timed = setup.options.shuffle = timed;
      setup.options.seed = seed;
      ModelRig rig(setup, seed);
      const std::uint64_t units = setup.shape.logical_blocks / 8;
      for (int n = 0; n < 4000; ++n) {
        const std::uint64_t unit = rig.host.random.below(rig.host.random.below(2) == 0 ? units : 40);
        const auto count =
            static_cast<std::uint32_t>(std::min<std::uint64_t>(1 + rig.host.random.below(3), units - unit));
        if (rig.host.random.below(2) == 0) {
          rig.host.write(unit * 8, 8 * count);
        } else {
          rig.host.read(unit * 8, 8 * count);
        }
        rig.host.wait_below(24);
      }
      rig.host.drain();
      const FtlStatistics& s = rig.ftl.statistics();
      const ModelHost::Given& given = rig.host.given;
      constexpr auto k_host = static_cast<std::size_t>(Purpose::host);
      CHECK(s.unmapped_reads == given.nothing_read);
      CHECK(s.buffer_read_hits == given.units_read - given.nothing_read - rig.hw.flash.work[k_host].reads);
      CHECK(s.buffer_overwrites == given.units_written - rig.hw.flash.work[k_host].units);
      if (timed) CHECK(std::min(s.buffer_read_hits, s.buffer_overwrites) > 0);
    }
  }
}

TEST_CASE("an entry is the host's as soon as it holds something of the host's") {
  DriveShape shape;
  shape.geometry = {1, 1, 1, 1, 16, 16, 4096, 0};
  const Layout layout = make_layout(shape, FirmwareConfig{});
  WriteBuffer buffer(8, layout, 0, 1);
  const WriteBuffer::Index evicted = buffer.add(Lpn{5}, WriteBuffer::k_none, 1);
  CHECK(buffer.accepted_from_host() == 0);
  const WriteBuffer::Index other = buffer.add(Lpn{6}, WriteBuffer::k_none, 2);
  buffer.mark_from_host(evicted);  // merged into it, past the cache
  CHECK(buffer.accepted_from_host() == 1);
  buffer.take(evicted);
  // An eviction takes over what flies of the host's.
  const WriteBuffer::Index newer = buffer.add(Lpn{5}, evicted, 3);
  CHECK(buffer.entry(newer).from_host);
  CHECK(buffer.accepted_from_host() == 3);
  CHECK_FALSE(buffer.entry(other).from_host);
}

TEST_CASE("read-modify-write reads are those that flash does for writes of a part") {
  LifeSetup setup({2, 1, 1, 1, 40, 16, 4096, 0});
  setup.size();
  setup.options.timed = true;
  setup.config.buffer.flush_at = 0.5;
  ModelRig rig(setup);
  const std::uint64_t units = setup.shape.logical_blocks / 8;
  for (std::uint64_t unit = 0; unit < units; ++unit) {
    rig.host.write(unit * 8, 8);
    rig.host.wait_below(8);
  }
  rig.host.drain();
  REQUIRE(rig.ftl.statistics().rmw_reads == 0);
  for (int n = 0; n < 2000; ++n) {
    const auto first = static_cast<std::uint32_t>(rig.host.random.below(8));
    rig.host.write(rig.host.random.below(units) * 8 + first,
                   1 + static_cast<std::uint32_t>(rig.host.random.below(8 - first)));
    rig.host.wait_below(8);
  }
  rig.host.drain();
  const std::uint64_t reads = rig.hw.flash.work[static_cast<std::size_t>(Purpose::host)].reads;
  CHECK(rig.ftl.statistics().rmw_reads == reads);
  CHECK(reads > 500);
  CHECK(reads < rig.ftl.statistics().host_units_written - units);  // some were written as a whole
  rig.host.verify_all();
}

TEST_CASE("read-modify-write reads are counted one by one, not by programs") {
  LifeSetup setup({1, 1, 1, 1, 40, 16, 16384, 0});
  setup.size();
  ModelRig rig(setup);
  rig.host.write(0, 4 * 8);  // a page of four units
  rig.host.drain();
  for (const std::uint64_t unit : {0, 1, 3}) rig.host.write(unit * 8 + 2, 3);
  rig.host.write(2 * 8, 8);
  rig.host.drain();
  CHECK(rig.hw.flash.programs == 2);
  CHECK(rig.ftl.statistics().rmw_reads == 3);
  CHECK(rig.hw.flash.reads == 3);
}

TEST_CASE("reading what a forced write lacks is charged to that write, and to no other") {
  LifeSetup setup({2, 1, 1, 1, 40, 16, 4096, 0});
  setup.size();
  setup.options.timed = true;
  ModelRig rig(setup);
  rig.host.write(0, 16);  // two units, on two dies
  rig.host.drain();
  std::map<std::uint64_t, Ledger> ledgers;  // by the command's first block
  const auto before = rig.hw.host.on_complete;
  rig.hw.host.on_complete = [&](HostCommand& command) {
    ledgers[command.lba] = command.ledger;
    before(command);
  };
  rig.host.write(0, 3, true);  // lacks five
  rig.host.write(8, 8, true);
  rig.host.wait_below(1);
  REQUIRE(rig.ftl.statistics().rmw_reads == 1);
  CHECK(ledgers.at(0).spent(Cause::sense) == setup.options.read_time);
  CHECK(ledgers.at(0).spent(Cause::program) == setup.options.program_time);
  CHECK(ledgers.at(8).spent(Cause::sense) == 0);
  CHECK(ledgers.at(8).spent(Cause::program) == setup.options.program_time);
}

TEST_CASE("commands that wait for room are not taken apart by those behind them") {
  for (const std::uint32_t longest : {1U, 3U, 16U, 40U}) {
    for (const std::uint32_t depth : {1U, 2U, 5U, 24U}) {
      INFO("commands of up to " << longest << " units, depth " << depth);
      LifeSetup setup({1, 1, 1, 1, 40, 16, 4096, 0});
      setup.config.buffer.capacity = 12 * 4096;
      setup.size();
      setup.options.timed = true;
      ModelRig rig(setup, depth);
      std::vector<std::uint64_t> programmed;
      rig.hw.flash.watch = [&](const FlashOp& op) {
        if (op.command != FlashCommand::program) return;
        for (std::uint32_t slot = 0; slot < op.slots; ++slot) programmed.push_back(op.spare[slot]);
      };
      std::uint64_t unit = 0;
      while (unit + longest <= 400) {
        const auto count = static_cast<std::uint32_t>(1 + rig.host.random.below(longest));
        rig.host.write(unit * 8, 8 * count);
        rig.host.wait_below(depth);
        unit += count;
      }
      rig.host.drain();
      std::vector<std::uint64_t> in_order(unit);
      std::iota(in_order.begin(), in_order.end(), 0);
      CHECK(programmed == in_order);
      if (longest > 12) CHECK(rig.ftl.statistics().full_waits > 0);
    }
  }
}

TEST_CASE("nothing is sent to flash until more of the write buffer waits than flush_at says") {
  for (const std::uint32_t quarters : {0U, 1U, 2U, 3U}) {
    INFO(quarters << " quarters");
    LifeSetup setup({2, 1, 1, 1, 40, 16, 4096, 0});
    setup.config.buffer.flush_at = quarters / 4.0;
    setup.size();
    ModelRig rig(setup);
    const std::uint32_t capacity = 64;
    const std::uint32_t wait = capacity * quarters / 4;
    for (std::uint64_t unit = 0; unit < wait; ++unit) rig.host.write(unit * 8, 8);
    CHECK(rig.hw.flash.programs == 0);
    rig.host.write(wait * 8, 8);
    CHECK(rig.hw.flash.programs > 0);
  }
}
