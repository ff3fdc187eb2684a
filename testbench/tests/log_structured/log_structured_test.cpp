// The log-structured host layer between a host and a memory: every read is right, the memory sees
// each segment written from its start to its end, the base protocol is kept on both sides, nothing
// hangs.
#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "models/base/memory_archive.h"
#include "testbench/tests/log_structured/small_segments.h"
#include "testbench/tests/support/statistics_of.h"
#include "testbench/tests/support/wa_oracle.h"

namespace tlmssd::log_structured_tests {
namespace {

/// Everything a host can ask for, from several loads at once, then all of it is read. Throws when
/// something is wrong.
void survives(const RigOptions& options, std::uint32_t loads_count, std::uint32_t reads = 40) {
  Rig rig(options);
  std::vector<Load> loads;
  for (std::uint32_t i = 0; i < loads_count; ++i) {
    loads.push_back(
        mixed_load({.requests = 8000, .depth = 7, .reads = reads, .longest = 96_KiB, .hot_blocks = 1'000'000},
                   rig.size(), 10 * options.drive.seed + i));
    loads.back().queue = static_cast<int>(i % options.queues);
  }
  rig.run(loads);
  rig.run(read_all(rig.size(), 4));
  const auto must = [](bool holds, const std::string& what) {
    if (!holds) throw std::runtime_error(what);
  };
  must(rig.violations().empty(), rig.violations());
  must(rig.driver.failed() == 0, rig.driver.take_first_failure());
  must(rig.scoreboard.mismatches() == 0, "wrong reads");
  must(rig.log_structured.statistics().segments_cleaned > 50, "hardly any cleaning");
  must(rig.drive.seen[HostOpcode::flush] > 0, "no flush");
}

struct MixedOutcome {
  LogStructuredLayer::Statistics statistics;
  Picoseconds end = 0;
  std::uint64_t commands = 0;
};

MixedOutcome mixed_outcome(bool stalls) {
  RigOptions options = small_log();
  options.drive.stalls = stalls;
  options.log_structured.cost = 3_us;
  Rig rig(options);
  std::vector<Load> loads;
  for (std::uint32_t i = 0; i < 3; ++i)
    loads.push_back(mixed_load({.requests = 3000, .depth = 9, .hot_blocks = 1'000'000}, rig.size(), i));
  rig.run(loads);
  return {rig.log_structured.statistics(), rig.event_queue.now(), rig.drive.seen[HostOpcode::read]};
}

}  // namespace

TEST_CASE("random commands from one queue") {
  CHECK_NOTHROW(survives(small_log(), 1));
}
TEST_CASE("random commands from several queues") {
  CHECK_NOTHROW(survives(small_log(), 5));
}
TEST_CASE("random commands when the drive holds requests back") {
  RigOptions options = small_log();
  options.drive.stalls = true;
  CHECK_NOTHROW(survives(options, 3));
}
TEST_CASE("random commands with a processor that takes its time") {
  RigOptions options = small_log();
  options.log_structured.cost = 20_us;
  CHECK_NOTHROW(survives(options, 3));
}
TEST_CASE("random commands, blocks of 4 KiB") {
  RigOptions options = small_log();
  options.lba_bytes = 4096;
  CHECK_NOTHROW(survives(options, 2));
}
TEST_CASE("random commands, grains of 16 KiB") {
  RigOptions options = small_log();
  options.log_structured.grain = 16_KiB;
  CHECK_NOTHROW(survives(options, 3));
}
TEST_CASE("random commands, segments shorter than a command") {
  RigOptions options = small_log();
  options.log_structured.segment = 12_KiB;
  options.segments = 200;
  CHECK_NOTHROW(survives(options, 3));
}
TEST_CASE("random commands, commands shorter than a segment") {
  RigOptions options = small_log();
  options.log_structured.segment = 512_KiB;
  options.max_transfer = 100_KiB;
  CHECK_NOTHROW(survives(options, 3));
}
TEST_CASE("the least spare that is allowed: hardly anything but writes, deep queues") {
  for (std::uint32_t low_water : {2U, 3U}) {
    for (std::uint64_t segments : {8U, 13U}) {
      RigOptions options = tight(segments, low_water);
      options.drive.seed = segments;
      options.queue_depth = 32;
      INFO(segments << " segments, low water " << low_water);
      CHECK(in_child<bool>([&] {
        survives(options, 4, 5);
        return true;
      }));
    }
  }
}
TEST_CASE("the least spare that is allowed, slow reads") {
  RigOptions options = tight(9, 2);
  options.drive.least = 10_ns;
  options.drive.most = 3_ms;
  CHECK_NOTHROW(survives(options, 4, 50));
}

// Grain 0 is moved from place 0, and while that write is under way the host writes it twice: the
// second time it would land at place 0 again, and the old data would be taken for the newest, if
// the victim's places were used again before cleaning is through with it.
TEST_CASE("a victim is not written anew before its copies have committed") {
  RigOptions options = tight(8, 2);
  options.log_structured.segment = 8_KiB;
  Rig rig(options);
  rig.drive.time = [&, moved = std::uint64_t{0}](const HostCommand& command) mutable -> Picoseconds {
    const bool moves = std::exchange(moved, rig.log_structured.statistics().grains_moved) != moved;
    return moves ? 1_ms : command.opcode == HostOpcode::read ? 1'500_ns : 1_us;
  };
  std::vector<Step> steps;
  // Two grains in each segment; in the first five all but one becomes a hole, and when segment 6 is
  // begun, cleaning takes segment 0.
  for (const Bytes grain : {0, 1, 3, 1, 4, 1, 5, 1, 6, 1, 1, 2, 1, 2, 0, 1, 2, 0})
    steps.push_back({HostOpcode::write, grain * 4_KiB, 4_KiB});
  rig.run(script(steps, rig.size()));
  CHECK(rig.log_structured.statistics().grains_moved > 0);
  CHECK_NOTHROW(rig.run(read_all(rig.size(), 1)));
}

TEST_CASE("cleaning begins below low water and ends at it") {
  Rig rig(segments_of_two());
  fill_to_low_water(rig);
  rig.run(script({write(0)}, rig.size()));
  CHECK(rig.log_structured.statistics().segments_cleaned == 1);
  CHECK(rig.log_structured.statistics().grains_moved == 1);
  CHECK(rig.log_structured.log().free_segments() == 2);
}

TEST_CASE("what is written while cleaning reads it is not moved") {
  Rig rig(segments_of_two());
  fill_to_low_water(rig);
  rig.run(script({write(0), write(1)}, rig.size(), 2));  // grain 1 is being read
  CHECK(rig.log_structured.statistics().segments_cleaned == 1);
  CHECK(rig.log_structured.statistics().grains_moved == 0);
  CHECK_NOTHROW(rig.run(read_all(rig.size(), 1)));
}

TEST_CASE("writes that wait for a segment go on in the order in which they came") {
  Rig rig(segments_of_two());
  fill_to_low_water(rig);
  std::vector<std::uint64_t> order;
  rig.driver.set_completion_hook([&](const Completed& done) { order.push_back(done.lba / 8); });
  // Behind the first there is room for one grain, but not for two.
  rig.run(script({write(0), write(4, 2), write(6)}, rig.size(), 3));
  CHECK(order == std::vector<std::uint64_t>{0, 4, 6});
  CHECK(rig.log_structured.statistics().waits_for_segment == 2);
  // One until segment 0 has been read and its grain moved, the other until the first has completed,
  // which leaves nothing in segments 2 and 4.
  CHECK(rig.log_structured.statistics().segment_wait == 1001_us + 1002_us);
}

TEST_CASE("a trim that frees a segment lets a write that waits go on at once") {
  Rig rig(segments_of_two());
  fill_to_low_water(rig);
  const Step trim{HostOpcode::trim, 3 * 4_KiB, 4_KiB};  // all that segment 1 holds
  for (const Seen& one : seen_of(rig, {write(0), write(2), write(4), trim}, 4))
    CHECK(one.latency == (one.opcode == HostOpcode::trim ? 0 : 1_us));
  CHECK(rig.log_structured.statistics().waits_for_segment == 1);
}

TEST_CASE("commands have the host's processor one after another") {
  RigOptions options = small_log();
  options.log_structured.cost = 20_us;
  Rig rig(options);
  const Step read{HostOpcode::read, 0, 4_KiB};  // of nothing: the drive has no part in it
  const std::vector<Seen> seen = seen_of(rig, {read, read, read}, 3);
  REQUIRE(seen.size() == 3);
  for (int i = 0; i < 3; ++i) {
    const Seen& one = seen[static_cast<std::size_t>(i)];
    CHECK(one.latency == (i + 1) * 20_us);
    CHECK(one.ledger.spent(Cause::host_software) == one.latency);
  }
  CHECK(rig.log_structured.statistics().processor == 120_us);
}

TEST_CASE("untimed commands") {
  Rig rig(tight(9, 2));
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    rig.run_untimed(mixed_load({.requests = 20'000, .reads = 20, .hot_blocks = 1'000'000}, rig.size(), seed));
    rig.run(mixed_load({.requests = 2'000, .hot_blocks = 1'000'000}, rig.size(), seed));  // timed in between
  }
  rig.run_untimed(read_all(rig.size(), 1));
  CHECK(rig.violations().empty());
  CHECK(rig.log_structured.statistics().segments_cleaned > 500);
}

TEST_CASE("what was never written, and what was trimmed, is read without a command") {
  Rig rig(small_log());
  rig.run(read_all(rig.size(), 4));
  CHECK(rig.drive.seen[HostOpcode::read] == 0);
  rig.run(script({{HostOpcode::write, 0, 64_KiB}, {HostOpcode::trim, 4_KiB, 56_KiB}}, rig.size()));
  CHECK(rig.log_structured.log().mapped() == 2);
  rig.run(script({{HostOpcode::read, 4_KiB, 56_KiB}}, rig.size()));
  CHECK(rig.drive.seen[HostOpcode::read] == 0);
  rig.run(script({{HostOpcode::read, 0, 64_KiB}}, rig.size()));
  CHECK(rig.drive.seen[HostOpcode::read] == 2);
}

TEST_CASE("a read is split into the pieces that lie together") {
  Rig rig(small_log());
  rig.run(script({{HostOpcode::write, 0, 16_KiB},        // places 0 to 3
                  {HostOpcode::write, 4_KiB, 4_KiB},     // 4
                  {HostOpcode::write, 16_KiB, 44_KiB}},  // 5 to 15: the end of the segment
                 rig.size()));
  rig.run(script({{HostOpcode::read, 0, 16_KiB}}, rig.size()));
  CHECK(rig.drive.seen[HostOpcode::read] == 3);  // grain 0, grain 1, grains 2 and 3
  rig.run(script({{HostOpcode::read, 16_KiB, 44_KiB}}, rig.size()));
  CHECK(rig.drive.seen[HostOpcode::read] == 4);
  rig.run(script({{HostOpcode::read, 512, 3_KiB}}, rig.size()));
  CHECK(rig.drive.seen[HostOpcode::read] == 5);
  rig.run(script({write(15)}, rig.size()));  // place 16: behind grain 14, but in the next segment
  rig.run(script({{HostOpcode::read, 56_KiB, 8_KiB}}, rig.size()));
  CHECK(rig.drive.seen[HostOpcode::read] == 7);
}

TEST_CASE("a grain that is written in part is read first") {
  Rig rig(small_log());
  rig.run(script({{HostOpcode::write, 1_KiB, 1_KiB}}, rig.size()));  // nothing there yet
  CHECK(rig.drive.seen[HostOpcode::read] == 0);
  rig.run(script({{HostOpcode::write, 3_KiB, 14_KiB}}, rig.size()));  // two edges, of which one has data
  CHECK(rig.drive.seen[HostOpcode::read] == 1);
  rig.run(script({{HostOpcode::write_zeroes, 1_KiB, 15_KiB}}, rig.size()));
  CHECK(rig.log_structured.statistics().edges_read == 2);
  rig.run(read_all(rig.size(), 1));
  CHECK(rig.log_structured.log().mapped() == 2);  // grains 0 and 4
}

TEST_CASE("zeros over a part of what was never written are not written") {
  Rig rig(small_log());
  rig.run(script({{HostOpcode::write_zeroes, 1_KiB, 2_KiB}, {HostOpcode::write_zeroes, 5_KiB, 9_KiB}},
                 rig.size()));
  CHECK(rig.drive.seen.empty());
  CHECK(rig.log_structured.log().mapped() == 0);
}

TEST_CASE("a read keeps its queue, and a write its force unit access") {
  struct Sent {
    HostOpcode opcode;
    std::uint16_t queue;
    bool force_unit_access;
    bool operator==(const Sent&) const = default;
  };
  Rig rig(small_log());
  std::vector<Sent> sent;
  rig.drive.time = [&](const HostCommand& command) {
    sent.push_back({command.opcode, command.queue, command.force_unit_access});
    return 1_us;
  };
  Load load = script({write(0),
                      {HostOpcode::write, 4_KiB, 4_KiB, true},
                      {HostOpcode::read, 0, 8_KiB},
                      {HostOpcode::flush, 0, 0}},
                     rig.size());
  load.queue = 2;
  rig.run(std::move(load));
  CHECK(sent == std::vector<Sent>{{HostOpcode::write, 0, false},
                                  {HostOpcode::write, 0, true},
                                  {HostOpcode::read, 2, false},
                                  {HostOpcode::flush, 0, false}});
}

TEST_CASE("a flush goes out when the writes before it have, and waits for nothing else") {
  RigOptions options = small_log();
  options.drive.least = options.drive.most = 100_us;
  Rig rig(options);
  rig.run(script({{HostOpcode::write, 0, 4_KiB}}, rig.size()));
  rig.drive.keep_order = true;
  // The first write has an edge to read; flush and the second write come meanwhile.
  rig.run(
      script({{HostOpcode::write, 0, 1_KiB}, {HostOpcode::flush, 0, 0}, {HostOpcode::write, 8_KiB, 4_KiB}},
             rig.size(), 3));
  CHECK(rig.drive.order ==
        std::vector{HostOpcode::read, HostOpcode::write, HostOpcode::write, HostOpcode::flush});
}

TEST_CASE("a flush waits for both edges of a trim before it") {
  Rig rig(small_log());
  rig.run(script({write(0), write(1)}, rig.size()));
  rig.drive.keep_order = true;
  rig.run(script({{HostOpcode::trim, 2_KiB, 4_KiB}, {HostOpcode::flush, 0, 0}}, rig.size(), 2));
  CHECK(rig.drive.order == std::vector{HostOpcode::read, HostOpcode::write, HostOpcode::read,
                                       HostOpcode::write, HostOpcode::flush});
}

TEST_CASE("the report tells pieces of reads and waits for earlier commands") {
  RigOptions options = small_log();
  options.drive.least = options.drive.most = 100_us;
  Rig rig(options);
  rig.run(script({write(0)}, rig.size()));
  // The write has its edge to read and then to be written, while the read behind it waits.
  rig.run(script({{HostOpcode::write, 0, 1_KiB}, {HostOpcode::read, 0, 4_KiB}}, rig.size(), 2));
  // A piece and what was never written, and nothing but that.
  rig.run(script({{HostOpcode::read, 0, 8_KiB}, {HostOpcode::read, 8_KiB, 4_KiB}}, rig.size()));
  const auto reported = test::statistics_of(rig.log_structured);
  CHECK(reported.at("log_structured/pieces per read") == Approx(2. / 3));
  CHECK(reported.at("log_structured/LBA hazard wait") == Approx(200e-6));
  CHECK(reported.at("log_structured/segment wait") == 0);
  CHECK(reported.at("log_structured/edges read") == 1);
  CHECK(reported.at("log_structured/free segments") == 15);
}

TEST_CASE("a stalled run says what the oldest commands wait for behind the log") {
  RigOptions options = small_log();
  options.queue_depth = 16;
  Rig rig(options);
  rig.drive.time = [](const HostCommand&) { return 1000_s; };
  std::vector<Step> steps = {write(0), {HostOpcode::read, 0, 4_KiB}};
  std::string expected =
      "log_structured: 10 commands under way, 15 of 16 segments free\n"
      "  write of LBA 0 (8 blocks) waits for writes of the drive\n"
      "  read of LBA 0 (8 blocks) waits for an earlier command on the same grains";
  for (Bytes grain = 1; grain < 9; ++grain) {
    steps.push_back(write(grain));
    if (grain < 7)
      expected += fmt::format("\n  write of LBA {} (8 blocks) waits for writes of the drive", 8 * grain);
  }
  CHECK_THROWS_AS(rig.run(script(steps, rig.size(), 10)), Stalled);
  std::string text;
  rig.log_structured.describe_stall(text);
  CHECK(text == expected);
}

TEST_CASE("the same loads end the same way") {
  const auto bytes = [](bool stalls) {
    return in_child<MixedOutcome>([stalls] { return mixed_outcome(stalls); });
  };
  for (const bool stalls : {false, true}) {
    const MixedOutcome a = bytes(stalls);
    const MixedOutcome b = bytes(stalls);
    CHECK(std::memcmp(&a, &b, sizeof a) == 0);
    CHECK(a.statistics.segments_cleaned > 0);
  }
}

TEST_CASE("a log-structured host layer restored goes on as the one saved") {
  const auto outcome = [](bool restored) {
    Rig rig(small_log());
    rig.run_untimed(mixed_load({.requests = 5000, .hot_blocks = 1'000'000}, rig.size(), 1));
    if (restored) {
      MemoryArchive archive;
      rig.log_structured.archive(archive);
      rig.run_untimed(script({{HostOpcode::trim, 0, 64_KiB}}, rig.size()));  // undone by what follows
      archive.rewind();
      rig.log_structured.archive(archive);
    }
    rig.log_structured.reset_statistics();
    std::vector<Load> loads = make_loads({.rw = "randwrite", .amount = 4_MiB}, rig.size(), 3);
    rig.driver.run_untimed(loads);
    return rig.log_structured.statistics();
  };
  const auto plain = in_child<LogStructuredLayer::Statistics>([&] { return outcome(false); });
  const auto restored = in_child<LogStructuredLayer::Statistics>([&] { return outcome(true); });
  CHECK(plain.grains_moved == restored.grains_moved);
  CHECK(plain.segments_cleaned == restored.segments_cleaned);
  CHECK(plain.segments_cleaned > 10);
}

// ---- theory

TEST_CASE("write amplification of uniform random writes meets greedy cleaning's theory", "[figure]") {
  // A victim is chosen when the head has just been opened and the free segments have fallen below
  // low_water, so low_water segments are empty; the others are what counts. This drive
  // works on all commands at once, so that cleaning keeps up.
  const auto amplification = [](double spare, bool timed, std::uint32_t low_water = 2) {
    RigOptions options;
    options.lba_bytes = 4096;
    options.segments = timed ? 258 : 1026;
    options.log_structured.segment = 64 * 4_KiB;
    options.log_structured.spare = spare;
    options.log_structured.low_water = low_water;
    options.max_transfer = 1_MiB;
    options.drive.most = 20_us;
    Rig rig(options);
    const Bytes all = rig.size().bytes;
    const auto uniform = [&](double rounds, std::uint64_t seed) {
      const auto amount = static_cast<Bytes>(rounds * static_cast<double>(all)) / 4096 * 4096;
      return make_loads({.rw = "randwrite", .depth = 16, .amount = amount}, rig.size(), seed);
    };
    std::vector<Load> fill = make_loads({.rw = "write", .bs = 64_KiB}, rig.size());
    rig.driver.run_untimed(fill);
    std::vector<Load> warm_up = uniform(12, 2);
    rig.driver.run_untimed(warm_up);
    rig.log_structured.reset_statistics();
    std::vector<Load> measured = uniform(timed ? 6 : 16, 3);
    if (timed) {
      rig.run(measured);
    } else {
      rig.driver.run_untimed(measured);
    }
    const double alpha = static_cast<double>((options.segments - low_water) * 64) /
                         static_cast<double>(rig.log_structured.log().shape().grains);
    return rig.log_structured.write_amplification() / oracle::greedy(alpha, 64);
  };
  for (const double spare : {0.07, 0.10, 0.20}) {
    INFO("spare " << spare);
    CHECK(in_child<double>([&] { return amplification(spare, false); }) == Approx(1).epsilon(0.005));
  }
  CHECK(in_child<double>([&] { return amplification(0.20, true); }) == Approx(1).epsilon(0.03));
  CHECK(in_child<double>([&] { return amplification(0.20, false, 8); }) == Approx(1).epsilon(0.005));
  CHECK(in_child<double>([&] { return amplification(0.20, true, 8); }) == Approx(1).epsilon(0.03));
}

}  // namespace tlmssd::log_structured_tests
