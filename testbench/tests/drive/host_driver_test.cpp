// The host by itself, in front of a memory whose commands take 100 us each: what it issues when,
// what it says of each request, and how its loads end.
#include "testbench/host/host_driver.h"

#include <systemc>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "models/base/stalled.h"
#include "testbench/tests/drive/support.h"
#include "testbench/tests/support/memory_drive.h"

namespace tlmssd::drive_tests {
namespace {

constexpr std::uint64_t k_host_blocks = 4096;
constexpr Bytes k_host_unit = 4_KiB;  // 8 blocks
const DriveSize k_host_drive{k_host_blocks * 512, 512};

class HostRig {
 public:
  explicit HostRig(const HostDriverConfig& config = {})
      : process("event_queue", event_queue),
        drive("drive", event_queue,
              {.blocks = k_host_blocks, .lba_bytes = 512, .least = 100_us, .most = 100_us}),
        scoreboard(k_host_blocks, 8),
        driver("host_driver", event_queue, process, config, scoreboard) {
    drive.free_for_all = k_host_blocks;
    driver.device_isock.bind(drive.tsock);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    driver.set_completion_hook([this](const Completed& done) {
      latencies.push_back(done.completed - done.submitted);
      queues.push_back(done.queue);
    });
  }
  /// Runs `loads` and returns what was measured.
  Measurement run(std::vector<Load> loads) {
    running = std::move(loads);
    Measurement measurement(std::vector<std::string>(running.size(), "load"));
    driver.start(running, measurement);
    process.simulate();
    return measurement;
  }
  Measurement run(Load load) { return run(one(std::move(load))); }

  EventQueue event_queue;
  EventQueueProcess process;
  MemoryDrive drive;
  Scoreboard scoreboard;
  HostDriver driver;
  std::vector<Load> running;
  std::vector<Picoseconds> latencies;  ///< of the commands, as they completed
  std::vector<std::uint16_t> queues;   ///< theirs
};

struct TimedRead {
  Picoseconds time;
  std::uint64_t units = 1;
};

/// Reads from the drive's start, each at its time.
Load timed_reads(std::vector<TimedRead> reads, std::uint32_t depth = 0) {
  Load load = make_load(
      [reads = std::move(reads), at = std::size_t{0}](Request& request) mutable {
        if (at == reads.size()) return false;
        request = {};
        request.bytes = reads[at].units * k_host_unit;
        request.time = reads[at++].time;
        return true;
      },
      k_host_drive, depth);
  load.pacing = Pacing::open_loop;
  return load;
}

/// So many requests of one unit, one after another.
Load plain_requests(std::uint64_t count, HostOpcode opcode = HostOpcode::read) {
  return script(std::vector<Step>(count, {opcode, 0, k_host_unit}), k_host_drive);
}

/// Commands of at most 8 blocks.
HostDriverConfig short_commands() {
  HostDriverConfig config;
  config.limit = {8, 8, k_host_blocks};
  return config;
}

Picoseconds longest_read(const Measurement& measurement) {
  return measurement.load(0).operation(HostOpcode::read).latency().maximum();
}

}  // namespace

// ---- time

TEST_CASE("a request in open loop takes from the time that it was due", "[drive]") {
  HostRig rig;
  Load load = timed_reads({{0}, {10_us}, {500_us}}, 1);
  load.start = 1_ms;
  rig.run(std::move(load));
  CHECK(rig.latencies == std::vector<Picoseconds>{100_us, 190_us, 100_us});
}

TEST_CASE("how a load came to its end counts from its start", "[drive]") {
  HostRig rig;
  Load load = timed_reads({{0}, {10_us}}, 1);
  load.start = 1_ms;
  rig.run(std::move(load));
  const StreamEnd end = rig.driver.stream_ends().at(0);
  CHECK(end.issued == 2);
  CHECK(end.lag == 90_us);  // the second was issued when the first had completed
  CHECK(end.lasted == 100_us);
  CHECK_FALSE(end.by_time);
}

TEST_CASE("a split request in open loop takes from the time that it was due", "[drive]") {
  HostRig rig(short_commands());
  const Measurement measured = rig.run(timed_reads({{0}, {10_us, 2}}, 1));
  // The first piece was due with it; the second is sent together with that, and takes from there.
  CHECK(rig.latencies == std::vector<Picoseconds>{100_us, 190_us, 100_us});
  CHECK(measured.load(0).count() == 2);
  CHECK(longest_read(measured) == 190_us);
}

TEST_CASE("a split request ends with its last piece where one has room at a time", "[drive]") {
  HostDriverConfig config = short_commands();
  config.queue_depth = 1;
  HostRig rig(config);
  const Measurement measured = rig.run(timed_reads({{0, 3}}));
  CHECK(rig.latencies.size() == 3);
  CHECK(measured.load(0).count() == 1);
  CHECK(longest_read(measured) == 300_us);
}

TEST_CASE("of a split request one is outstanding, whatever pieces it has", "[drive]") {
  HostRig rig(short_commands());
  const Measurement measured = rig.run(timed_reads({{0, 3}, {100_us}}));
  CHECK(measured.load(0).mean_depth() == Approx(1));
  CHECK(measured.load(0).time_at_depth().size() == 2);
}

TEST_CASE("a split request is told as it came, not as its pieces", "[drive]") {
  HostDriverConfig config = short_commands();
  config.queues = 3;
  HostRig rig(config);
  Load load = script({{HostOpcode::read, 16 * k_host_unit, 3 * k_host_unit}}, k_host_drive);
  load.queue = 2;
  const Measurement measured = rig.run(std::move(load));
  const auto slowest = measured.load(0).operation(HostOpcode::read).slowest().sorted();
  REQUIRE(slowest.size() == 1);
  CHECK(slowest[0]->latency == 100_us);
  CHECK(slowest[0]->lba == 128);
  CHECK(slowest[0]->bytes == 3 * k_host_unit);
  CHECK(slowest[0]->queue == 2);
}

TEST_CASE("nothing is issued at the instant at which a runtime is over", "[drive]") {
  HostRig rig;
  Load load = timed_reads({{0}, {150_us}, {200_us}, {250_us}});
  load.runtime = 200_us;
  rig.run(std::move(load));
  CHECK(rig.latencies.size() == 2);
  CHECK(rig.driver.stream_ends().at(0).by_time);
}

TEST_CASE("a runtime follows the ramp time", "[drive]") {
  HostRig rig;
  Load load = plain_requests(100);
  load.ramp_time = 1_ms + 1;
  load.runtime = 2_ms;
  const Measurement measured = rig.run(std::move(load));
  CHECK(rig.latencies.size() == 31);  // the last at 3 ms
  CHECK(measured.load(0).count() == 21);
}

// ---- queues and ends

TEST_CASE("a load uses the queue that it names", "[drive]") {
  HostDriverConfig config;
  config.queues = 3;
  HostRig rig(config);
  std::vector<Load> loads;
  for (const int queue : {-1, 2, -1, -1, 1}) {
    loads.push_back(plain_requests(1));
    loads.back().queue = queue;
    loads.back().start = static_cast<Picoseconds>(loads.size()) * 1_us;
  }
  rig.run(std::move(loads));
  CHECK(rig.queues == std::vector<std::uint16_t>{0, 2, 2, 0, 1});  // by their numbers without a name
}

TEST_CASE("loads that are stopped end at once, those that wait for their time too", "[drive]") {
  HostRig rig;
  int seen = 0;
  rig.driver.set_completion_hook([&](const Completed&) {
    if (++seen == 2) rig.driver.stop_loads();
  });
  std::vector<Load> loads;
  loads.push_back(plain_requests(10));
  loads.push_back(plain_requests(10));
  loads.back().start = 1_s;
  rig.run(std::move(loads));
  CHECK(rig.driver.finished());
  CHECK(rig.event_queue.now() == 200_us);
  for (const StreamEnd& end : rig.driver.stream_ends()) CHECK(end.by_time);
  rig.run(plain_requests(5));  // who runs again starts anew
  CHECK(rig.driver.completed() == 7);
}

TEST_CASE("a load with end_fsync that has only trimmed sends no flush", "[drive]") {
  HostRig rig;
  Load load = plain_requests(3, HostOpcode::trim);
  load.end_fsync = true;
  rig.run(std::move(load));
  CHECK(rig.drive.seen[HostOpcode::trim] == 3);
  CHECK(rig.drive.seen[HostOpcode::flush] == 0);
}

TEST_CASE("untimed loads with end_fsync send a flush for what they have written alone", "[drive]") {
  HostRig rig;
  const auto flushes = [&](std::vector<Step> steps) {
    const std::uint64_t before = rig.drive.seen[HostOpcode::flush];
    std::vector<Load> loads = one(script(std::move(steps), k_host_drive));
    loads.front().end_fsync = true;
    rig.driver.run_untimed(loads);
    return rig.drive.seen[HostOpcode::flush] - before;
  };
  const Step write{HostOpcode::write, 0, k_host_unit};
  const Step flush{HostOpcode::flush, 0, 0};
  CHECK(flushes({}) == 0);
  CHECK(flushes({{HostOpcode::read, 0, k_host_unit}}) == 0);
  CHECK(flushes({write, {HostOpcode::read, 0, k_host_unit}}) == 1);
  CHECK(flushes({write, flush}) == 1);  // its own
  CHECK(flushes({flush, write}) == 2);
}

TEST_CASE("measurement of an untimed run begins with the last request of the ramp", "[drive]") {
  HostRig rig;
  std::vector<std::uint64_t> begun;
  rig.driver.set_measurement_hook([&] { begun.push_back(rig.driver.completed()); });
  std::vector<Load> loads = one(plain_requests(5));
  loads.front().ramp_requests = 3;
  rig.driver.run_untimed(loads);
  CHECK(begun == std::vector<std::uint64_t>{3});
  // One that ends before: it is no longer waited for.
  loads = one(plain_requests(2));
  loads.front().ramp_requests = 3;
  rig.driver.run_untimed(loads);
  CHECK(begun == std::vector<std::uint64_t>{3, 7});
}

TEST_CASE("commands are numbered from one on in every run", "[drive]") {
  HostRig rig;
  std::vector<std::uint32_t> numbers;
  rig.driver.set_completion_hook([&](const Completed& done) { numbers.push_back(done.ledger->command()); });
  rig.run(plain_requests(3));
  rig.run(plain_requests(2));
  CHECK(numbers == std::vector<std::uint32_t>{1, 2, 3, 1, 2});
}

TEST_CASE("a pause comes behind the command that it was asked for", "[drive]") {
  HostRig rig;
  std::vector<std::uint64_t> paused;
  rig.driver.set_pause_hook(3, [&] { paused.push_back(rig.driver.completed()); });
  rig.run(plain_requests(5));
  CHECK(paused == std::vector<std::uint64_t>{3});
}

TEST_CASE("writes are counted in the commands that they become, where these are whole units", "[drive]") {
  HostDriverConfig config;
  config.limit = {20, 8, k_host_blocks};  // of two units, since three are too long
  HostRig rig(config);
  CHECK(rig.driver.whole_pieces(8) == 1);
  CHECK(rig.driver.whole_pieces(16) == 1);
  CHECK(rig.driver.whole_pieces(40) == 3);
  CHECK(rig.driver.whole_pieces(44) == 0);
}

TEST_CASE("progress is told in requests, however many commands each becomes", "[drive]") {
  constexpr std::uint64_t k_requests = 3 * HostDriver::k_progress_interval;
  for (const bool timed : {false, true}) {
    INFO((timed ? "timed" : "untimed"));
    CHECK(in_child<std::uint64_t>([timed] {
            HostRig rig(short_commands());
            std::uint64_t told = 0;
            rig.driver.set_progress_hook([&](std::uint64_t done) { told = done; });
            const std::vector<Step> reads(k_requests, {HostOpcode::read, 0, 2 * k_host_unit});
            std::vector<Load> loads = one(script(reads, k_host_drive));
            if (timed) {
              rig.run(std::move(loads));
            } else {
              rig.driver.run_untimed(loads);
            }
            return told;
          }) == k_requests - 1);  // the last one ends behind that
  }
}

// ---- failures

TEST_CASE("a split request fails with any of its pieces", "[drive]") {
  for (const std::uint64_t bad : {0, 8, 16}) {
    CHECK(in_child<bool>([bad] {
      HostRig rig(short_commands());
      rig.drive.unreadable = {bad};
      const Measurement measured = rig.run(timed_reads({{0, 3}}));
      const OperationMeasurement& reads = measured.load(0).operation(HostOpcode::read);
      return rig.driver.failed() == 1 && reads.with_status(HostStatus::media_error) == 1;
    }));
  }
}

// The drive carries a write out in part and refuses it nonetheless, as one that wears out meanwhile
// may; once it has said that it takes no writes, it must not.
TEST_CASE("only of a drive known to be read-only a refused write has changed nothing", "[drive]") {
  HostRig rig;
  rig.drive.writes_allowed = 0;
  rig.drive.time = [&](const HostCommand& command) {
    if (command.opcode == HostOpcode::write) rig.drive.content[command.lba] = command.data().front();
    return 100_us;
  };
  const auto write_and_read = [&] {
    rig.run(script({{HostOpcode::write, 0, k_host_unit}, {HostOpcode::read, 0, k_host_unit}}, k_host_drive));
  };
  CHECK_NOTHROW(write_and_read());
  CHECK(rig.driver.failed() == 1);
  CHECK_THROWS_AS(write_and_read(), DataMismatch);
}

TEST_CASE("a stall names the commands that have waited for longest", "[drive]") {
  HostDriverConfig config;
  config.stall_after = 1_ms;
  HostRig rig(config);
  rig.drive.time = [](const HostCommand&) { return 1_s; };
  std::vector<TimedRead> reads;
  for (int i = 0; i < 10; ++i) reads.push_back({i * 1_us});
  std::string expected = "no command has completed for 0.001 s of simulated time; 10 commands outstanding";
  for (int i = 0; i < 8; ++i)
    expected += fmt::format("\n  read of LBA 0 (8 blocks), queue 0, submitted at {} ps", i * 1_us);
  std::string text;
  try {
    rig.run(timed_reads(reads));
  } catch (const Stalled& stalled) {
    text = stalled.what();
  }
  CHECK(text == expected + "\n  and 2 more");
  CHECK(rig.event_queue.now() == 1_ms);
}

TEST_CASE("a stall counts from the last completion, also after nothing was outstanding", "[drive]") {
  HostDriverConfig config;
  config.stall_after = 1_ms;
  HostRig rig(config);
  rig.drive.time = [&](const HostCommand&) { return rig.event_queue.now() < 10_ms ? 900_us : 1_s; };
  // At most 0.9 ms without a completion, then nothing for a while, and then a command that hangs.
  CHECK_THROWS_AS(rig.run(timed_reads({{0}, {800_us}, {1600_us}, {10_ms}})), Stalled);
  CHECK(rig.latencies.size() == 3);
  CHECK(rig.event_queue.now() == 11_ms);
}

TEST_CASE("a run that has ended is no longer watched", "[drive]") {
  HostDriverConfig config;
  config.stall_after = 1_s;
  HostRig rig(config);
  rig.run(plain_requests(3));
  CHECK(rig.event_queue.empty());
}

TEST_CASE("time that stands still is that of one instant", "[drive]") {
  HostRig rig;
  Load endless = plain_requests(1);
  endless.time_based = true;
  StallWatch watch(rig.event_queue, rig.driver, 0, false);
  for (const Picoseconds instant : {0_us, 1_us, 2_us}) {
    rig.event_queue.run_until(instant);
    for (int n = 1; n < 1024; ++n) watch.check_time(endless);
  }
  CHECK_THROWS_AS(watch.check_time(endless), TimeStandsStill);
}

}  // namespace tlmssd::drive_tests
