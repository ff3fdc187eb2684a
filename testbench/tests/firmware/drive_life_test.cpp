// Allocation, coalescing, durability, wear-out, snapshots, and complaints about impossible
// configurations.
#include <algorithm>

#include "firmware/base/allocation_order.h"
#include "models/base/input_error.h"
#include "models/base/memory_archive.h"
#include "testbench/tests/firmware/life_setup.h"
#include "testbench/tests/support/given.h"

using namespace tlmssd;
using namespace tlmssd::firmware;
using namespace tlmssd::firmware::testing;

TEST_CASE("all 24 allocation orders go round as their letters say") {
  REQUIRE(allocation_orders().size() == 24);
  for (const std::string& order : allocation_orders()) {
    INFO(order);
    LifeSetup setup({2, 3, 2, 2, 8, 4, 4096, 0});
    setup.config.allocation.order = order;
    setup.size();
    ModelRig rig(setup);
    std::vector<std::pair<std::uint32_t, std::uint32_t>> seen;
    rig.hw.flash.watch = [&](const FlashOp& op) { seen.emplace_back(index(op.die), index(op.plane)); };
    rig.host.write(0, 24 * 8);
    rig.host.drain();
    REQUIRE(seen.size() == 24);
    for (std::uint32_t n = 0; n < 24; ++n) {
      std::uint32_t rest = n;
      std::uint32_t c = 0, w = 0, d = 0, p = 0;
      for (const char letter : order) {
        const std::uint32_t count = letter == 'W' ? 3 : 2;
        (letter == 'C' ? c : letter == 'W' ? w : letter == 'D' ? d : p) = rest % count;
        rest /= count;
      }
      REQUIRE(seen[n] == std::pair{(c * 3 + w) * 2 + d, p});
    }
  }
}

TEST_CASE("units of one page, or of one page across planes, are read by one operation") {
  for (const bool multi_plane : {false, true}) {
    LifeSetup setup({1, 2, 1, 2, 16, 8, 16384, 0});
    setup.config.allocation.multi_plane = multi_plane;
    setup.size();
    ModelRig rig(setup);
    rig.host.write(0, 64 * 8);
    rig.host.drain();
    rig.ftl.reset_statistics();
    rig.host.read(0, 32 * 8);
    REQUIRE(rig.ftl.statistics().reads[0] == (multi_plane ? 4 : 8));
    rig.host.read(8, 8);
    REQUIRE(rig.ftl.statistics().reads[0] == (multi_plane ? 5 : 9));
    rig.host.verify_all();
  }
}

TEST_CASE("write-back completes in the buffer, forced and flushed data on flash") {
  LifeSetup setup({1, 1, 1, 1, 16, 8, 4096, 0});
  setup.size();
  setup.options.timed = true;
  ModelRig rig(setup);
  const auto lasts = [&](auto&& command) {
    const Picoseconds start = rig.hw.event_queue.now();
    command();
    rig.host.wait_below(1);
    return rig.hw.event_queue.now() - start;
  };
  REQUIRE(lasts([&] { rig.host.write(0, 8); }) < setup.options.program_time);
  REQUIRE(lasts([&] { rig.host.flush(); }) <= setup.options.program_time + 10 * setup.options.stage_time);
  REQUIRE(rig.hw.flash.programs == 1);
  REQUIRE(lasts([&] { rig.host.write(8, 8, true); }) >= setup.options.program_time);
  REQUIRE(rig.hw.flash.programs == 2);
  REQUIRE(lasts([&] { rig.host.write(16, 4); }) < setup.options.program_time);  // part of a unit
  REQUIRE(lasts([&] { rig.host.flush(); }) > 0);
  REQUIRE(rig.hw.flash.programs == 3);
  REQUIRE(lasts([&] { rig.host.flush(); }) < setup.options.program_time);  // nothing left
  rig.host.verify_all();
}

TEST_CASE("a power failure takes what the write buffer held, and nothing that was flushed") {
  LifeSetup setup({1, 1, 1, 1, 16, 8, 4096, 0});
  setup.config.buffer.flush_at = 1;
  setup.size();
  ModelRig rig(setup);
  rig.host.write(0, 8);
  rig.host.flush();
  rig.host.write(8, 8);
  rig.ftl.power_cycle();
  std::fill_n(rig.host.reference.begin() + 8, 8, k_zeros);
  rig.host.verify_all();
}

TEST_CASE("a power failure takes what a drive that has become read-only could not write") {
  LifeSetup setup({1, 1, 1, 1, 16, 8, 4096, 0});
  setup.size();
  ModelRig rig(setup);
  rig.host.write(0, 8);
  rig.host.flush();
  rig.host.drain();
  rig.hw.flash.options.program_failure = 1;
  rig.hw.flash.options.fail_from = 0;
  rig.host.write(8, 8);
  rig.host.flush();
  rig.host.drain();
  REQUIRE(rig.ftl.read_only());
  CHECK(rig.ftl.buffered_units() == 1);
  rig.host.verify_all();  // it can be read as long as there is power
  rig.ftl.power_cycle();
  CHECK(rig.ftl.buffered_units() == 0);
  std::fill_n(rig.host.reference.begin() + 8, 8, k_zeros);
  rig.host.verify_all();
}

TEST_CASE("half a unit is read, merged and written, two halves together are not") {
  LifeSetup setup({1, 1, 1, 1, 16, 8, 4096, 0});
  setup.config.buffer.flush_at = 1;
  setup.size();
  ModelRig rig(setup);
  rig.host.write(0, 16);
  rig.host.drain();
  rig.host.write(0, 4);
  rig.host.flush();
  REQUIRE(rig.ftl.statistics().rmw_reads == 1);
  rig.host.write(8, 4);
  rig.host.write(12, 4);
  rig.host.flush();
  REQUIRE(rig.ftl.statistics().rmw_reads == 1);
  REQUIRE(rig.ftl.statistics().buffer_overwrites == 1);
  rig.host.verify_all();
}

TEST_CASE("trimmed and zeroed blocks read as zeros and leave flash to collection") {
  LifeSetup setup({1, 1, 1, 1, 32, 16, 4096, 0}, 1.0);
  setup.size();
  ModelRig rig(setup);
  for (std::uint64_t lba = 0; lba + 64 <= setup.shape.logical_blocks; lba += 64) rig.host.write(lba, 64);
  rig.host.trim({{3, 30}, {100, 1}, {200, setup.shape.logical_blocks - 200}});
  rig.host.zeroes(64, 10);
  rig.host.verify_all();
  rig.host.drain();
  rig.host.verify_all();
  rig.ftl.reset_statistics();
  rig.host.read(208, 64);
  REQUIRE(rig.ftl.statistics().unmapped_reads == 8);
  REQUIRE(rig.ftl.statistics().reads[0] == 0);
}

TEST_CASE("a drive that is read-only says whether blocks are short, or those that collection works with") {
  for (const bool full : {false, true}) {
    INFO((full ? "full" : "with room"));
    LifeSetup setup({1, 1, 1, 1, 60, 8, 8192, 0}, full ? 1 : 0.95);
    setup.config.gc.low_water = 1;
    setup.size();
    setup.options.endurance = 15;
    ModelRig rig(setup);
    for (int n = 0; !rig.ftl.read_only() && n < 1'000'000; ++n) {
      rig.host.write(rig.host.random.below(setup.shape.logical_blocks / 8) * 8, 8);
      rig.host.wait_below(1);
    }
    REQUIRE(rig.ftl.read_only());
    if (full) {
      CHECK(rig.ftl.why_read_only() == "no spare blocks are left");
    } else {
      CHECK_THAT(std::string(rig.ftl.why_read_only()), Catch::Contains("collection has no free block"));
    }
  }
}

TEST_CASE("a worn-out drive becomes read-only, keeps its data and never hangs") {
  for (const bool timed : {false, true}) {
    for (const char* wear : {"none", "dynamic", "static", "static with the map in flash"}) {
      for (const bool multi_plane : {false, true}) {
        INFO((timed ? "timed " : "untimed ") << wear << (multi_plane ? " multi-plane" : ""));
        LifeSetup setup({2, 1, 1, 2, 20, 8, 8192, 0}, 0.9);
        const Given two_entries({{"cache", whole(16)}});
        const bool map_in_flash = std::string(wear).size() > 7;
        if (map_in_flash) setup.config.mapping.scheme = "dftl";
        setup.config.mapping_policy = borrowed(two_entries);
        setup.config.wear.policy = map_in_flash ? "static" : wear;
        setup.config.allocation.multi_plane = multi_plane;
        setup.size();
        setup.options.timed = timed;
        setup.options.endurance = 15;
        ModelRig rig(setup);
        std::uint64_t writes = 0;
        while (rig.host.refused == 0 && writes < 2'000'000) {
          const std::uint64_t unit = rig.host.random.below(setup.shape.logical_blocks / 8);
          std::vector<Stamp> before(rig.host.reference.begin() + static_cast<std::ptrdiff_t>(unit * 8),
                                    rig.host.reference.begin() + static_cast<std::ptrdiff_t>(unit * 8 + 8));
          rig.host.write(unit * 8, 8);
          rig.host.wait_below(1);
          if (rig.host.last_status != HostStatus::success) {
            std::copy(before.begin(), before.end(),
                      rig.host.reference.begin() + static_cast<std::ptrdiff_t>(unit * 8));
          }
          ++writes;
        }
        REQUIRE(rig.ftl.read_only());
        REQUIRE(rig.ftl.statistics().erase_failures > 0);
        rig.host.verify_all();
        rig.host.trim({{0, 8}});
        rig.host.wait_below(1);
        REQUIRE(rig.host.last_status == HostStatus::write_protected);
        rig.host.zeroes(0, 8);
        rig.host.write(0, 8, true);
        rig.host.flush();
        rig.host.wait_below(1);
        REQUIRE(rig.host.refused >= 4);
        rig.host.drain();
        rig.host.verify_all();
      }
    }
  }
}

TEST_CASE("a deep queue meets the end of life without hanging") {
  for (std::uint64_t seed = 1; seed <= 8 * stress(); ++seed) {
    LifeSetup setup({2, 1, 1, 1, 16, 8, 8192, 0}, 1.0);
    const Given five_entries({{"cache", whole(40)}});
    if (seed % 5 > 2) setup.config.mapping.scheme = "dftl";
    setup.config.mapping_policy = borrowed(five_entries);
    setup.config.allocation.streams = seed % 2 == 0 ? "shared" : "separate";
    setup.config.buffer.mode = seed % 4 < 2 ? "write-back" : "write-through";
    setup.shape.program_unit = seed % 3 == 0 ? 8 : 1;
    setup.size();
    setup.options.timed = true;
    setup.options.shuffle = true;
    setup.options.seed = seed;
    setup.options.endurance = 10;
    setup.options.program_failure = 0.002;
    setup.options.fail_from = 500;
    ModelRig rig(setup, seed);
    rig.host.check_data =
        false;  // which of the commands under way at the end succeeded is not the model's business
    for (int n = 0; n < 40'000 && rig.host.refused < 200; ++n) {
      rig.host.anything(40);
      rig.host.wait_below(24);
    }
    REQUIRE(rig.ftl.read_only());
    rig.host.drain();
  }
}

TEST_CASE("failed programs lose nothing") {
  for (std::uint64_t seed = 1; seed <= 6 * stress(); ++seed) {
    LifeSetup setup({2, 1, 1, 2, 60, 8, 8192, 0}, 0.7);
    const Given fifty_entries({{"cache", whole(400)}});
    if (seed % 2 == 1) setup.config.mapping.scheme = "dftl";
    setup.config.mapping_policy = borrowed(fifty_entries);
    setup.config.allocation.streams = seed % 2 == 0 ? "shared" : "separate";
    setup.config.allocation.multi_plane = seed % 3 == 0;
    setup.size();
    setup.options.timed = seed > 2;
    setup.options.shuffle = true;
    setup.options.seed = seed;
    setup.options.program_failure = 0.002;
    setup.options.fail_from = 0;
    ModelRig rig(setup, seed);
    for (int n = 0; n < 16'000; ++n) {
      rig.host.anything(60);
      rig.host.wait_below(16);
    }
    rig.host.drain();
    rig.host.verify_all();
    INFO("seed " << seed << ", " << rig.hw.flash.programs << " programs, " << rig.host.completions
                 << " commands");
    REQUIRE(rig.ftl.statistics().program_failures > 0);
    REQUIRE(!rig.ftl.read_only());
  }
}

TEST_CASE("a restored drive goes on exactly like the one it was taken from") {
  for (const char* policy :
       {"greedy", "cost-benefit", "fifo", "random", "d-choices", "windowed-greedy", "dftl"}) {
    for (const bool timed : {false, true}) {
      INFO(policy << (timed ? " timed" : " untimed"));
      LifeSetup setup({2, 1, 1, 2, 20, 8, 8192, 0}, 0.9);
      const bool map_in_flash = std::string(policy) == "dftl";
      const Given hundred_entries({{"cache", whole(800)}});
      if (map_in_flash) setup.config.mapping.scheme = "dftl";
      setup.config.mapping_policy = borrowed(hundred_entries);
      setup.config.gc.policy = map_in_flash ? "greedy" : policy;
      setup.config.wear.policy = "static";
      setup.size();
      setup.options.timed = timed;
      setup.options.shuffle = timed;
      ModelRig first(setup, 3);
      for (int n = 0; n < 3000; ++n) {
        first.host.anything(50);
        first.host.wait_below(8);
      }
      first.host.drain();
      ModelRig second(setup, 3);
      restore(first, second);
      REQUIRE((saved(second.hw, second.ftl) == saved(first.hw, first.ftl)));
      std::vector<std::uint64_t> history[2];
      ModelRig* rigs[2] = {&first, &second};
      for (int r = 0; r < 2; ++r) {
        rigs[r]->hw.flash.watch = [&history, r](const FlashOp& op) {
          history[r].push_back((std::uint64_t{index(op.die)} << 48U) +
                               (std::uint64_t{index(op.block)} << 32U) +
                               (std::uint64_t{index(op.page)} << 16U) +
                               static_cast<std::uint64_t>(op.command) + 4 * index(op.plane));
        };
        rigs[r]->host.random = RandomStream(99, "after");
        for (int n = 0; n < 3000; ++n) {
          rigs[r]->host.anything(50);
          rigs[r]->host.wait_below(8);
        }
        rigs[r]->host.drain();
        rigs[r]->host.verify_all();
      }
      REQUIRE(history[0] == history[1]);
    }
  }
}

TEST_CASE("a snapshot of another drive is refused with the difference") {
  LifeSetup setup({1, 1, 1, 1, 16, 8, 4096, 0});
  setup.size();
  ModelRig rig(setup);
  rig.host.write(0, 64);
  REQUIRE_NOTHROW(rig.host.drain());
  MemoryArchive saved;
  saved(rig.ftl);
  LifeSetup other({1, 1, 1, 1, 18, 8, 4096, 0});
  other.size();
  ModelRig larger(other);
  MemoryArchive load(saved.content());
  REQUIRE_THROWS_WITH(load(larger.ftl), Catch::Contains("16 blocks per parallel unit, this drive has 18"));
  setup.config.gc.policy = "fifo";
  ModelRig fifo(setup);
  MemoryArchive reload(saved.content());
  REQUIRE_THROWS_WITH(reload(fifo.ftl), Catch::Contains("firmware.gc.policy greedy"));
  auto cut = saved.content();
  cut.resize(cut.size() / 2);
  ModelRig same(setup);
  MemoryArchive torn(cut);
  REQUIRE_THROWS_AS(torn(same.ftl), ArchiveError);
}

TEST_CASE("what cannot work is refused with the key and the nearest valid value") {
  const auto complaint = [](auto&& change) {
    LifeSetup setup({2, 1, 1, 2, 32, 12, 16384, 0});
    setup.size();
    change(setup);
    FakeOptions options;
    LifeSetup sane({1, 1, 1, 1, 8, 4, 4096, 0});
    sane.size();
    FakeHardware hw(sane.shape, options);
    try {
      Ftl ftl(hw.ports, setup.shape, setup.config);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  using Catch::Contains;
  CHECK(complaint([](LifeSetup&) {}) == "accepted");
  CHECK_THAT(complaint([](LifeSetup& s) { s.config.buffer.capacity = 16384; }),
             Contains("firmware.buffer.capacity") && Contains("32768 B"));
  CHECK_THAT(complaint([](LifeSetup& s) {
               s.shape.program_unit = 12;
               s.config.allocation.multi_plane = true;
             }),
             Contains("firmware.buffer.capacity") && Contains("786432 B"));
  CHECK_THAT(complaint([](LifeSetup& s) { s.shape.program_unit = 5; }),
             Contains("program units of 5 pages; nearest valid: 10"));
  CHECK_THAT(complaint([](LifeSetup& s) { s.shape.mapping_page_bytes = 5120; }),
             Contains("firmware.mapping.unit") && Contains("4096 B"));
  CHECK_THAT(complaint([](LifeSetup& s) { s.shape.mapping_page_bytes = 65536; }),
             Contains("firmware.mapping.unit") && Contains("16384 B"));
  CHECK_THAT(complaint([](LifeSetup& s) { s.shape.lba_bytes = 520; }), Contains("nearest valid: 512 B"));
  CHECK_THAT(complaint([](LifeSetup& s) { s.config.allocation.order = "CWDX"; }),
             Contains("firmware.allocation.order"));
  CHECK_THAT(complaint([](LifeSetup& s) {
               s.shape.multi_plane_allowed = false;
               s.config.allocation.multi_plane = true;
             }),
             Contains("firmware.allocation.multi_plane"));
  CHECK_THAT(complaint([](LifeSetup& s) { s.config.gc.policy = "gredy"; }),
             Contains("firmware.gc.policy") && Contains("greedy"));
  CHECK_THAT(complaint([](LifeSetup& s) { s.config.wear.policy = "x"; }), Contains("firmware.wear.policy"));
  CHECK_THAT(complaint([](LifeSetup& s) { s.config.mapping.scheme = "none"; }),
             Contains("firmware.mapping.scheme"));
  CHECK_THAT(complaint([](LifeSetup& s) { s.config.buffer.mode = "none"; }),
             Contains("firmware.buffer.mode"));
  CHECK_THAT(complaint([](LifeSetup& s) { s.config.allocation.streams = "two"; }),
             Contains("firmware.allocation.streams"));
  CHECK_THAT(complaint([](LifeSetup& s) { s.config.gc.low_water = 0; }), Contains("firmware.gc.low_water"));
  CHECK_THAT(complaint([](LifeSetup& s) { s.config.gc.low_water = 40; }),
             Contains("ssd.flash.part.blocks_per_plane") && Contains("43"));
  CHECK_THAT(complaint([](LifeSetup& s) { s.shape.logical_blocks *= 2; }),
             Contains("over_provisioning") && Contains("nearest valid"));
  CHECK_THAT(complaint([](LifeSetup& s) { s.shape.logical_blocks = 0; }), Contains("no capacity"));
  CHECK_THAT(complaint([](LifeSetup& s) { s.shape.geometry.blocks = 1U << 31U; }), Contains("32-bit"));
}

TEST_CASE("commands beyond the drive are refused, and a stall tells who waits for what") {
  LifeSetup setup({1, 1, 1, 1, 16, 8, 4096, 0});
  setup.size();
  setup.options.timed = true;
  ModelRig rig(setup);
  HostCommand command;
  std::vector<Stamp> data(16);
  HostStatus status = HostStatus::success;
  rig.hw.host.on_complete = [&](HostCommand& done) { status = done.status; };
  command.opcode = HostOpcode::read;
  command.lba = setup.shape.logical_blocks - 8;
  command.blocks = 16;
  command.set_data(data);
  rig.ftl.submit(command);
  rig.hw.event_queue.run_until(k_never);
  REQUIRE(status == HostStatus::lba_out_of_range);
  command.lba = ~std::uint64_t{0} - 4;
  rig.ftl.submit(command);
  rig.hw.event_queue.run_until(k_never);
  REQUIRE(status == HostStatus::lba_out_of_range);
  command.blocks = 0;
  rig.ftl.submit(command);
  rig.hw.event_queue.run_until(k_never);
  REQUIRE(status == HostStatus::invalid_field);
  command.opcode = HostOpcode::write;
  command.lba = 8;
  command.blocks = 16;
  command.force_unit_access = true;
  command.ledger = Ledger(rig.hw.event_queue.now());
  rig.ftl.submit(command);
  rig.hw.event_queue.run_until(rig.hw.event_queue.now() + setup.options.program_time / 2);
  std::string text;
  rig.ftl.describe_stall(text);
  REQUIRE_THAT(text, Catch::Contains("write of 16 blocks at 8 waits for its data to reach flash"));
  REQUIRE_THAT(text, Catch::Contains("1 commands under way, 2 program units"));
  // Left unfinished on purpose: what waits must go with the drive.
}
