// The life of drives with log blocks and block-mapped regions: failures, end of life, loss of
// power, snapshots, wear levelling, refresh, idle time.
#include <algorithm>

#include "testbench/tests/firmware/log_rig.h"

using namespace tlmssd;
using namespace tlmssd::firmware;
using namespace tlmssd::firmware::testing;

namespace {

const std::vector<std::string> k_schemes = {"bast", "fast", "superblock", "block-mapped",
                                            "block-mapped as a log"};

bool has_logs(const std::string& scheme) {
  return !scheme.starts_with("block-mapped");
}

/// Two parallel units of each scheme, with multi-plane program units if asked to.
LogSetup two_pus(const std::string& scheme, std::uint32_t blocks, bool multi_plane = false) {
  LogSetup setup(scheme.starts_with("block-mapped") ? "block-mapped" : scheme);
  setup.shape.geometry = {2, 1, 1, multi_plane ? 2U : 1U, blocks, 8, 8192, 0};
  setup.config.allocation.multi_plane = multi_plane;
  setup.logs = 3;
  setup.adjacent = 2;
  if (scheme == "block-mapped") setup.block = Bytes{multi_plane ? 4U : 2U} * 8192;
  if (scheme.ends_with("log")) setup.placement = "log";
  return setup;
}

void keep_busy(LogRig& rig, int commands, std::uint32_t longest, std::uint32_t depth) {
  for (int n = 0; n < commands; ++n) {
    rig.host.anything(longest);
    rig.host.wait_below(depth);
  }
}

}  // namespace

TEST_CASE("worn-out drives of every scheme become read-only, keep their data and never hang") {
  for (const std::string& scheme : k_schemes) {
    for (const bool timed : {false, true}) {
      for (const char* wear : {"none", "dynamic", "static"}) {
        const bool multi_plane = timed;
        INFO(scheme << (timed ? ", timed, " : ", untimed, ") << wear);
        LogSetup setup = two_pus(scheme, 24, multi_plane);
        setup.fill = 0.9;
        setup.config.wear.policy = wear;
        setup.options.timed = timed;
        setup.options.endurance = 15;
        LogRig rig(setup);
        std::uint64_t writes = 0;
        while (rig.host.refused == 0 && writes < 500'000) {
          const std::uint64_t unit = rig.host.random.below(setup.shape.logical_blocks / 8);
          const auto at = rig.host.reference.begin() + static_cast<std::ptrdiff_t>(unit * 8);
          const std::vector<Stamp> before(at, at + 8);
          rig.host.write(unit * 8, 8);
          rig.host.wait_below(1);
          if (rig.host.last_status != HostStatus::success) std::copy(before.begin(), before.end(), at);
          ++writes;
        }
        REQUIRE(rig.ftl.read_only());
        REQUIRE(rig.statistics().erase_failures > 0);
        rig.host.verify_all();
        const std::uint64_t refused = rig.host.refused;
        rig.host.trim({{0, 8}});
        rig.host.zeroes(0, 8);
        rig.host.write(0, 8, true);
        rig.host.flush();
        rig.host.drain();
        CHECK(rig.host.refused >= refused + 3);
        rig.host.verify_all();
      }
    }
  }
}

TEST_CASE("failed programs lose nothing with any scheme") {
  for (const std::string& scheme : k_schemes) {
    std::uint64_t failures = 0;
    for (std::uint64_t seed = 1; seed <= 4 * stress(); ++seed) {
      INFO(scheme << ", seed " << seed);
      LogSetup setup = two_pus(scheme, 90, seed % 3 == 0);
      setup.data_blocks = 40;
      setup.options.timed = seed > 1;
      setup.options.shuffle = true;
      setup.options.seed = seed;
      setup.options.program_failure = scheme == "fast" ? 0.001 : 0.002;
      setup.options.fail_from = 0;
      setup.config.wear.policy = seed % 2 == 0 ? "static" : "dynamic";
      setup.config.buffer.mode = seed % 4 < 2 ? "write-back" : "write-through";
      LogRig rig(setup, seed);
      keep_busy(rig, 4000, 60, 16);
      rig.host.drain();
      rig.host.verify_all();
      failures += rig.statistics().program_failures;
      CHECK(!rig.ftl.read_only());
    }
    CHECK(failures > 0);
  }
}

TEST_CASE("the first program of a log that fails does not hold the drive up") {
  for (const std::string& scheme : k_schemes) {
    for (const bool timed : {false, true}) {
      INFO(scheme << (timed ? ", timed" : ", untimed"));
      LogSetup setup = two_pus(scheme, 40);
      setup.data_blocks = 20;
      setup.options.timed = timed;
      LogRig rig(setup);
      for (int n = 0; n < 40; ++n) {
        rig.hw.flash.options.program_failure = n % 8 == 0 ? 1 : 0;
        rig.hw.flash.options.fail_from = 0;
        std::uint64_t seen = 0;
        rig.hw.flash.watch = [&](const FlashOp& op) {
          if (op.command == FlashCommand::program && ++seen == 2) rig.hw.flash.options.program_failure = 0;
        };
        rig.host.write(rig.host.random.below(setup.shape.logical_blocks / 8) * 8, 8);
        rig.host.drain();
      }
      rig.hw.flash.watch = nullptr;
      rig.host.verify_all();
      CHECK(!rig.ftl.read_only());
    }
  }
}

TEST_CASE("a deep queue meets the end of life of every scheme without hanging") {
  for (const std::string& scheme : k_schemes) {
    for (std::uint64_t seed = 1; seed <= 6 * stress(); ++seed) {
      INFO(scheme << ", seed " << seed);
      LogSetup setup = two_pus(scheme, 16, seed % 2 == 0);
      setup.fill = seed % 3 == 0 ? 1.0 : 0.8;
      if (seed % 3 == 0 && has_logs(scheme)) setup.shape.program_unit = 8;
      setup.config.buffer.capacity = 512 << 10;
      if (scheme == "block-mapped" && seed % 3 == 0) setup.block = 0;
      setup.config.buffer.mode = seed % 4 < 2 ? "write-back" : "write-through";
      setup.config.wear.policy = seed % 2 == 0 ? "static" : "dynamic";
      setup.options.timed = true;
      setup.options.shuffle = true;
      setup.options.seed = seed;
      setup.options.endurance = 10;
      setup.options.program_failure = 0.002;
      setup.options.fail_from = 500;
      LogRig rig(setup, seed);
      rig.host.check_data =
          false;  // which commands under way at the end succeeded is not the model's business
      for (int n = 0; n < 40'000 && rig.host.refused < 200; ++n) {
        rig.host.anything(40);
        rig.host.wait_below(24);
      }
      CHECK(rig.ftl.read_only());
      rig.host.drain();
    }
  }
}

TEST_CASE("drives of every scheme go on after a snapshot exactly as without") {
  for (const std::string& scheme : k_schemes) {
    for (const bool timed : {false, true}) {
      INFO(scheme << (timed ? ", timed" : ", untimed"));
      LogSetup setup = two_pus(scheme, 20, timed);
      setup.fill = 0.9;
      setup.config.wear.policy = "static";
      setup.options.timed = timed;
      setup.options.shuffle = timed;
      LogRig first(setup, 3);
      keep_busy(first, 2500, 50, 8);
      first.host.drain();
      LogRig second(setup, 3);
      restore(first, second);
      REQUIRE((saved(second.hw, second.ftl) == saved(first.hw, first.ftl)));
      std::vector<std::uint64_t> history[2];
      LogRig* rigs[2] = {&first, &second};
      for (int r = 0; r < 2; ++r) {
        rigs[r]->hw.flash.watch = [&history, r](const FlashOp& op) {
          history[r].push_back((std::uint64_t{index(op.die)} << 48U) +
                               (std::uint64_t{index(op.block)} << 32U) +
                               (std::uint64_t{index(op.page)} << 16U) +
                               static_cast<std::uint64_t>(op.command) + 4 * index(op.plane));
        };
        rigs[r]->host.random = RandomStream(99, "after");
        keep_busy(*rigs[r], 2500, 50, 8);
        rigs[r]->host.drain();
        rigs[r]->host.verify_all();
        rigs[r]->hw.flash.watch = nullptr;
      }
      REQUIRE((history[0] == history[1]));
    }
  }
}

TEST_CASE("what was forced or flushed outlives a loss of power with every scheme") {
  for (const std::string& scheme : k_schemes) {
    INFO(scheme);
    LogSetup setup = two_pus(scheme, 20);
    setup.options.timed = true;
    setup.config.buffer.flush_at = 1;
    LogRig rig(setup);
    keep_busy(rig, 1500, 40, 8);
    rig.host.wait_below(1);
    rig.host.flush();
    rig.host.wait_below(1);
    rig.host.write(16, 8, true);
    rig.host.write(40, 3, true);
    rig.host.wait_below(1);
    const std::vector<Stamp> safe = rig.host.reference;
    rig.host.write(64, 8);  // stays in the write buffer
    rig.host.wait_below(1);
    while (rig.ftl.statistics().commands < rig.host.completions)
      rig.hw.event_queue.run_until(rig.hw.event_queue.next());
    rig.hw.event_queue.run_until(k_never);
    rig.ftl.power_cycle();
    rig.host.reference = safe;
    rig.host.verify_all();
    keep_busy(rig, 500, 40, 8);
    rig.host.drain();
    rig.host.verify_all();
  }
}

TEST_CASE("a drive that is exactly full can be overwritten, trimmed and filled again with every scheme") {
  for (const std::string& scheme : k_schemes) {
    for (const bool timed : {false, true}) {
      INFO(scheme << (timed ? ", timed" : ", untimed"));
      LogSetup setup = two_pus(scheme, 16, timed);
      setup.fill = 1.0;
      setup.options.timed = timed;
      LogRig rig(setup);
      const std::uint64_t all = setup.shape.logical_blocks;
      for (int pass = 0; pass < 3; ++pass) {
        for (std::uint64_t lba = 0; lba < all; lba += 40) {
          rig.host.write(lba, static_cast<std::uint32_t>(std::min<std::uint64_t>(40, all - lba)));
          rig.host.wait_below(8);
        }
        for (int n = 0; n < 2000; ++n) {
          rig.host.write(rig.host.random.below(all / 8) * 8, 8, n % 7 == 0);
          rig.host.wait_below(16);
        }
        rig.host.verify_all();
        rig.host.trim({{0, all}});
        rig.host.wait_below(1);
        const std::uint64_t unmapped = rig.statistics().unmapped_reads;
        rig.host.verify_all();
        CHECK(rig.statistics().unmapped_reads == unmapped + all / 8);
      }
      rig.host.drain();
      CHECK(!rig.ftl.read_only());
    }
  }
}

TEST_CASE("static wear levelling keeps erase counts together with every scheme, where dynamic cannot") {
  for (const std::string& scheme : k_schemes) {
    INFO(scheme);
    std::uint64_t spread[2];
    int which = 0;
    for (const char* wear : {"dynamic", "static"}) {
      LogSetup setup = two_pus(scheme, 64);
      setup.shape.geometry = {1, 1, 1, 1, 64, 16, 4096, 0};
      setup.block = scheme == "block-mapped" ? 2 * 4096 : 0;
      setup.fill = 0.9;
      setup.config.wear.policy = wear;
      const Given limits({{"threshold", whole(8)}, {"interval", whole(8)}});
      setup.config.wear_policy = borrowed(limits);
      LogRig rig(setup);
      const std::uint64_t units = setup.shape.logical_blocks / 8;
      for (std::uint64_t unit = 0; unit < units; ++unit) rig.write_unit(unit);
      rig.host.drain();
      while (rig.statistics().erases < 64 * 30) rig.write_unit(rig.host.random.below(units / 10));
      rig.host.drain();
      std::uint32_t low = ~0U;
      std::uint32_t high = 0;
      for (std::uint32_t b = 0; b < 64; ++b) {
        low = std::min(low, rig.hw.flash.erases(0, 0, b));
        high = std::max(high, rig.hw.flash.erases(0, 0, b));
      }
      spread[which++] = high - low;
      CHECK((rig.statistics().wear_moves > 0) == (std::string(wear) == "static"));
      CHECK((rig.copied_for(Purpose::wear) > 0) == (std::string(wear) == "static"));
      rig.host.verify_all();
    }
    CHECK(spread[0] > 30);
    CHECK(spread[1] <= 8 + 8 + 8);  // threshold, and what happens between two moves
  }
}

TEST_CASE("refresh writes all old data anew with every scheme, those in open logs too") {
  if (!has_feature("firmware.refresh")) return;
  for (const std::string& scheme : k_schemes) {
    for (const bool timed : {false, true}) {
      INFO(scheme << (timed ? ", timed" : ", untimed"));
      LogSetup setup = two_pus(scheme, 24);
      setup.fill = 0.8;
      setup.options.timed = timed;
      choose(setup.config, "firmware.refresh", "limits",
             {{"retention", Value(3 * 86'400.0)}, {"reads", whole(0)}, {"patrol", Value(86'400.0)}});
      LogRig rig(setup);
      const std::uint64_t units = setup.shape.logical_blocks / 8;
      for (std::uint64_t unit = 0; unit < units; ++unit) {
        rig.write_unit(unit);
        rig.host.wait_below(8);
      }
      for (int n = 0; n < 37; ++n) {
        rig.write_unit(rig.host.random.below(units));
        rig.host.wait_below(8);
      }
      rig.host.drain();
      rig.start_counting();
      std::vector<bool> anew(units);
      rig.hw.flash.watch = [&](const FlashOp& op) {
        if (op.command != FlashCommand::program) return;
        for (std::uint32_t n = 0; n < op.slots; ++n) {
          if (op.spare[n] != k_no_unit) anew[op.spare[n]] = true;
        }
      };
      rig.ftl.rest(0, std::int64_t{4} * 86'400 * 1'000'000'000);
      rig.ftl.patrol();
      rig.host.drain();
      CHECK(std::count(anew.begin(), anew.end(), false) == 0);
      CHECK(rig.statistics().feature_moves() > 0);
      CHECK(rig.copied_for(Purpose::refresh) >= units);
      CHECK(rig.copied_for(Purpose::gc) == 0);
      rig.hw.flash.watch = nullptr;
      rig.host.verify_all();
    }
  }
}

TEST_CASE("idle time merges all log blocks, and stops when the host comes back") {
  for (const std::string& scheme : k_schemes) {
    if (!has_logs(scheme)) continue;
    INFO(scheme);
    LogSetup setup = two_pus(scheme, 40);
    setup.fill = 0.9;
    setup.options.timed = true;
    setup.config.gc.idle_after = 1'000'000'000'000;
    LogRig rig(setup);
    const std::uint64_t units = setup.shape.logical_blocks / 8;
    for (std::uint64_t unit = 0; unit < units; ++unit) {
      rig.write_unit(unit);
      rig.host.wait_below(8);
    }
    for (std::uint64_t n = 0; n < 500; ++n) {
      rig.write_unit(rig.host.random.below(units));
      rig.host.wait_below(8);
    }
    rig.host.wait_below(1);
    rig.host.flush();
    rig.host.wait_below(1);
    while (!rig.ftl.idle()) rig.hw.event_queue.run_until(rig.hw.event_queue.next());
    const std::uint64_t before = rig.copies();
    rig.hw.event_queue.run_until(rig.hw.event_queue.now() + setup.config.gc.idle_after / 2);
    CHECK(rig.copies() == before);
    while (rig.copies() == before) rig.hw.event_queue.run_until(rig.hw.event_queue.next());
    rig.host.read(0, 8);
    rig.host.wait_below(1);
    rig.hw.event_queue.run_until(rig.hw.event_queue.now() + setup.config.gc.idle_after / 2);
    const std::uint64_t interrupted = rig.copies();
    rig.hw.event_queue.run_until(k_never);
    CHECK(rig.copies() > interrupted);
    CHECK(rig.ftl.idle());
    // Nothing is left to merge: another silence copies nothing.
    const std::uint64_t done = rig.copies();
    rig.host.read(0, 8);
    rig.host.wait_below(1);
    rig.hw.event_queue.run_until(k_never);
    CHECK(rig.copies() == done);
    rig.host.verify_all();
  }
}
