// The end of a drive's life, and of a run that cannot go on: writes are refused with a clear status
// while reads stay right; a stall is reported with the commands and the free blocks; nothing hangs.
#include <systemc>

#include <catch2/catch.hpp>
#include <memory>

#include "models/base/memory_archive.h"
#include "testbench/tests/drive/mixed_load.h"
#include "testbench/tests/support/statistics_of.h"

namespace tlmssd::drive_tests {
namespace {

SsdConfig worn_drive() {
  SsdConfig config;
  config.host.lba_size = 4096;
  config.dram.capacity = 16_MiB;
  config.flash.channels = 2;
  config.flash.ways = 1;
  config.part.planes = 1;
  config.part.page_size = 4096;
  config.part.pages_per_block = 16;
  config.part.blocks_per_plane = 24;
  config.part.endurance = 12;
  config.part.endurance_spread = 0.1;
  config.part.read_latency = {static_cast<std::int64_t>(20_us)};
  config.part.program_latency = {static_cast<std::int64_t>(100_us)};
  config.part.erase_latency = 1_ms;
  config.capacity.over_provisioning = 0.4;
  config.firmware.buffer.capacity = 64_KiB;
  return config;
}

/// The same with blocks in SLC mode, which bear twice as many cycles there.
SsdConfig worn_pslc_drive(const char* when_full) {
  SsdConfig config = worn_drive();
  config.part.cell = "tlc";
  config.part.program_unit = "word-line";
  config.part.pages_per_block = 18;
  config.part.slc_read_latency = 15_us;
  config.part.slc_program_latency = 60_us;
  config.part.slc_erase_latency = 1_ms;
  config.part.slc_endurance = 24;
  config.capacity.over_provisioning = 0.6;
  const Bytes block = config.geometry().dies() * Bytes{config.part.page_size} * 6;
  config.firmware.pslc.policy = "all";
  config.firmware.pslc.static_bytes = block;
  config.firmware.pslc.dynamic_bytes = 4 * block;
  config.firmware.pslc.when_full = when_full;
  return config;
}

void writes_until_read_only(const SsdConfig& config) {
  Simulation simulation(config);
  run_untimed(simulation, {.rw = "write", .bs = 64_KiB});
  const std::uint64_t untimed_failures = simulation.driver().failed();
  CHECK(untimed_failures == 0);
  std::vector<Seen> seen;
  std::uint64_t refused = 0;
  std::uint64_t other = 0;
  std::uint64_t written_after_refusal = 0;
  simulation.driver().set_completion_hook([&](const Completed& command) {
    if (command.status == HostStatus::write_protected) {
      ++refused;
    } else if (command.status != HostStatus::success) {
      ++other;
    } else if (refused > 64 && command.opcode == HostOpcode::write) {
      ++written_after_refusal;
    }
  });
  std::vector<Load> loads = one(mixed_load(
      {.requests = 60'000, .depth = 16, .reads = 20, .hot_blocks = 1'000'000}, simulation.drive_size(), 5));
  Measurement measurement({"load"});
  simulation.run(loads, measurement);
  CHECK(simulation.ssd().ftl().read_only());
  CHECK(refused > 1000);
  CHECK(other == 0);
  CHECK(written_after_refusal == 0);
  CHECK(simulation.driver().take_first_failure().find("write protected") != std::string::npos);
  simulation.drain();
  std::vector<Load> all = one(read_all(simulation.drive_size(), 8));
  Measurement reading({"all"});
  simulation.run(all, reading);
  CHECK(reading.load(0).operation(HostOpcode::read).errors() == 0);
  CHECK(simulation.scoreboard().mismatches() == 0);
}

}  // namespace

TEST_CASE("a worn-out drive goes read-only: write-back", "[drive]") {
  writes_until_read_only(worn_drive());
}

TEST_CASE("a worn-out drive goes read-only: write-through, multi-plane", "[drive]") {
  SsdConfig config = worn_drive();
  config.part.planes = 2;
  config.firmware.allocation.multi_plane = true;
  config.firmware.buffer.mode = "write-through";
  writes_until_read_only(config);
}

TEST_CASE("a worn-out drive goes read-only: static wear levelling, word lines, SATA", "[drive]") {
  SsdConfig config = worn_drive();
  config.host.protocol = "sata";
  config.host.link = "sata6";
  config.host.lba_size = 512;
  config.part.cell = "tlc";
  config.part.program_unit = "word-line";
  config.part.pages_per_block = 18;
  config.firmware.wear.policy = "static";
  writes_until_read_only(config);
}

TEST_CASE("a worn-out drive goes read-only: static and dynamic pSLC, waiting", "[drive]") {
  writes_until_read_only(worn_pslc_drive("wait"));
}

TEST_CASE(
    "a worn-out drive goes read-only: static and dynamic pSLC, copies on the die, deep in native blocks",
    "[drive]") {
  SsdConfig config = worn_pslc_drive("bypass");
  config.firmware.pslc.fold_by = "copyback";
  config.firmware.buffer.mode = "write-through";
  writes_until_read_only(config);
}

TEST_CASE("a worn-out drive goes read-only without simulated time", "[drive]") {
  Simulation simulation(worn_drive());
  const DriveSize size = simulation.drive_size();
  std::vector<Load> loads = one(mixed_load({.requests = 60'000, .hot_blocks = 1'000'000}, size, 6));
  simulation.run_untimed(loads);
  CHECK(simulation.ssd().ftl().read_only());
  std::vector<Load> all = one(read_all(size, 1));
  simulation.run_untimed(all);
  CHECK(simulation.scoreboard().mismatches() == 0);
}

namespace {

/// A drive of which blocks go bad all the time, while no block wears out.
SsdConfig failing_drive() {
  SsdConfig config = worn_drive();
  config.part.endurance = 600;
  config.part.endurance_spread = 0;
  config.part.grown_bad_blocks = 0.25;
  config.part.blocks_per_plane = 48;
  return config;
}

/// Programs and erases fail, and the host never learns of it.
void blocks_go_bad(const SsdConfig& config, std::uint64_t seed) {
  Simulation simulation(config);
  const DriveSize size = simulation.drive_size();
  run_untimed(simulation, {.rw = "write", .bs = 64_KiB});
  std::vector<Load> loads =
      one(mixed_load({.requests = 30'000, .depth = 16, .reads = 20, .hot_blocks = 1'000'000}, size, seed));
  Measurement measurement({"load"});
  simulation.run(loads, measurement);
  simulation.drain();
  const std::map<std::string, double> statistics = test::statistics_of(simulation.ssd());
  CHECK(statistics.at("firmware/flash/program failures") > 0);
  CHECK(statistics.at("firmware/flash/erase failures") > 0);
  INFO(statistics.at("firmware/blocks/erases mean")
       << " erases, " << statistics.at("firmware/blocks/retired") << " retired");
  CHECK_FALSE(simulation.ssd().ftl().read_only());
  CHECK(simulation.driver().failed() == 0);
  std::vector<Load> all = one(read_all(size, 8));
  Measurement reading({"all"});
  simulation.run(all, reading);
  CHECK(reading.load(0).operation(HostOpcode::read).errors() == 0);
  CHECK(simulation.scoreboard().mismatches() == 0);
}

}  // namespace

TEST_CASE("blocks that go bad are replaced: write-back", "[drive]") {
  blocks_go_bad(failing_drive(), 11);
}

TEST_CASE("blocks that go bad are replaced: write-through, multi-plane, word lines", "[drive]") {
  SsdConfig config = failing_drive();
  config.part.grown_bad_blocks = 0.1;  // a block here is one of each plane
  config.part.cell = "tlc";
  config.part.program_unit = "word-line";
  config.part.pages_per_block = 18;
  config.part.planes = 2;
  config.firmware.allocation.multi_plane = true;
  config.firmware.buffer.mode = "write-through";
  blocks_go_bad(config, 12);
}

TEST_CASE("blocks that go bad are replaced: map on flash", "[drive]") {
  SsdConfig config = failing_drive();
  config.firmware.mapping.scheme = "dftl";
  blocks_go_bad(config, 13);
}

TEST_CASE("blocks that go bad are replaced: blocks in SLC mode, copies on the die", "[drive]") {
  SsdConfig config = worn_pslc_drive("wait");
  config.part.endurance = 600;
  config.part.slc_endurance = 1200;
  config.part.endurance_spread = 0;
  config.part.grown_bad_blocks = 0.3;
  config.part.blocks_per_plane = 48;
  config.firmware.pslc.fold_by = "copyback";
  blocks_go_bad(config, 14);
}

TEST_CASE("a drive whose blocks go bad is written from the start, page by page", "[drive]") {
  Simulation simulation(failing_drive());
  CHECK(simulation.ssd().steady_only_by_writing() == "ssd.flash.part.grown_bad_blocks is not modelled");
  CHECK(simulation.ssd().fill({}) == 0);
}

TEST_CASE("a read-only drive can be saved and restored", "[drive]") {
  Simulation simulation(worn_drive());
  const DriveSize size = simulation.drive_size();
  std::vector<Load> loads = one(mixed_load({.requests = 60'000, .hot_blocks = 1'000'000}, size, 7));
  simulation.run_untimed(loads);
  REQUIRE(simulation.ssd().ftl().read_only());
  MemoryArchive saved;
  simulation.archive(saved);
  saved.rewind();
  simulation.archive(saved);
  CHECK(saved.at_end());
  std::vector<Load> all = one(read_all(size, 4));
  Measurement measurement({"all"});
  simulation.run(all, measurement);
  CHECK(simulation.ssd().ftl().read_only());
  CHECK(simulation.scoreboard().mismatches() == 0);
}

TEST_CASE("a stall names the commands and the free blocks", "[drive]") {
  SsdConfig config = worn_drive();
  config.firmware.buffer.mode = "write-through";
  config.part.program_latency = {static_cast<std::int64_t>(5_ms)};
  SimulationConfig impatient;
  impatient.stall_after = 1_ms;
  Simulation simulation(config, impatient);
  std::vector<Load> loads =
      make_loads({.rw = "randwrite", .depth = 4, .size = 1_MiB}, simulation.drive_size());
  Measurement measurement({"load"});
  std::string text;
  try {
    simulation.run(loads, measurement);
  } catch (const Stalled& stalled) {
    text = stalled.what();
  }
  INFO(text);
  CHECK(text.find("no command has completed for 0.001 s") != std::string::npos);
  CHECK(text.find("4 commands outstanding") != std::string::npos);
  CHECK(text.find("write of LBA") != std::string::npos);
  CHECK(text.find("waits for its data to reach flash") != std::string::npos);
  CHECK(text.find("free") != std::string::npos);
}

namespace {

/// Comes round every microsecond, for ever.
struct Ticker {
  explicit Ticker(EventQueue& on) : event_queue(on) { tick(this); }
  static void tick(void* self) {
    EventQueue& on = static_cast<Ticker*>(self)->event_queue;
    on.at(on.now() + 1_us, &Ticker::tick, self);
  }
  EventQueue& event_queue;
};

/// As slow as no data sheet may say.
class SluggishTiming final : public TimingModel {
 public:
  explicit SluggishTiming(const NandPart& part) : part_(part) {}
  [[nodiscard]] ArrayAnswer answer(const ArrayOperation& op) const override {
    return {.duration = op.command == ArrayCommand::program ? static_cast<Picoseconds>(1000_s)
                                                            : data_sheet_latency(part_, op)};
  }

 private:
  const NandPart& part_;
};

/// A drive whose writes take a thousand seconds each.
SsdConfig sluggish_drive() {
  SsdConfig config = worn_drive();
  config.part.endurance = 0;
  config.firmware.buffer.mode = "write-through";
  config.make_timing = [](const NandPart& part) { return std::make_unique<SluggishTiming>(part); };
  return config;
}

/// Takes less than no time.
class HastyTiming final : public TimingModel {
 public:
  [[nodiscard]] ArrayAnswer answer(const ArrayOperation& /*op*/) const override { return {.duration = -7}; }
};

}  // namespace

TEST_CASE("an answer of a timing model of one's own is not taken for the part's", "[drive]") {
  SsdConfig config = sluggish_drive();
  config.make_timing = [](const NandPart&) { return std::make_unique<HastyTiming>(); };
  Simulation simulation(config);
  std::vector<Load> loads = make_loads({.rw = "randwrite", .amount = 4096}, simulation.drive_size());
  Measurement measurement({"load"});
  CHECK_THROWS_WITH(simulation.run(loads, measurement),
                    Catch::StartsWith("ssd.flash.part.timing: of one's own answers -7 ps to "));
}

TEST_CASE("one that takes its time is no stall", "[drive]") {
  Simulation simulation(sluggish_drive());
  std::vector<Load> loads = make_loads({.rw = "randwrite", .amount = 3 * 4096}, simulation.drive_size());
  Measurement measurement({"load"});
  simulation.run(loads, measurement);
  CHECK(measurement.completed() == 3);
}

TEST_CASE("what goes on for ever and completes nothing is a stall", "[drive][slow]") {
  Simulation simulation(sluggish_drive());
  const Ticker ticker(simulation.ssd().event_queue());
  std::vector<Load> loads = make_loads({.rw = "randwrite", .amount = 3 * 4096}, simulation.drive_size());
  Measurement measurement({"load"});
  CHECK_THROWS_AS(simulation.run(loads, measurement), Stalled);
  CHECK(measurement.completed() == 0);
}

}  // namespace tlmssd::drive_tests
