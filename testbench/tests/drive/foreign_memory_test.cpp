// Memories from outside in the place of the DRAM, against their closed forms through the whole
// drive, with a protocol checker on every socket: unloaded latency to the picosecond, cause by
// cause; saturated bandwidth within 0.5 %. The third party's DRAM with rows, banks and refresh is
// the one that testbench/tests/package builds as a plug-in.
#include <systemc>
#include <tlm_utils/simple_target_socket.h>

#include <catch2/catch.hpp>
#include <filesystem>

#include "models/base/input_error.h"
#include "models/base/memory_archive.h"
#include "testbench/report/files/snapshot.h"
#include "testbench/report/json_sink.h"
#include "testbench/tests/drive/latency_parts.h"
#include "testbench/tests/drive/mixed_load.h"
#include "testbench/tests/package/memories/banked_dram.h"

namespace tlmssd::drive_tests {
namespace {

constexpr Bytes k_burst = vendor::BankedDram::k_burst;

class Banked final : public MemoryModel {
 public:
  static constexpr std::uint64_t k_base = 0x8000'0000;
  Banked(const vendor::BankedTimings& timings, const MemoryContext& context)
      : dram_("dram", k_base, context.capacity, timings) {}
  MemorySocket socket() override { return dram_.socket; }
  [[nodiscard]] MemoryTraits traits() const override {
    return {.blocking = false, .base = k_base, .burst = k_burst};
  }

 private:
  vendor::BankedDram dram_;
};

/// The drive's own DRAM, as if it came from outside.
class Own final : public MemoryModel {
 public:
  Own(const DramConfig& config, bool blocking) : blocking_(blocking), dram_("dram", config, event_queue_) {}
  MemorySocket socket() override { return dram_.bus_tsock; }
  [[nodiscard]] MemoryTraits traits() const override {
    // It answers ahead of time, so it may have a second access before the first has ended.
    return {.blocking = blocking_, .at_once = blocking_ ? ForeignMemory::k_most_threads : 0};
  }

 private:
  bool blocking_;
  EventQueue event_queue_;
  Dram dram_;
};

/// It changes what belongs to the initiator.
class Meddling final : public MemoryModel {
 public:
  Meddling() : module_("module") {}
  MemorySocket socket() override { return module_.socket; }
  [[nodiscard]] MemoryTraits traits() const override { return {.keeps_bytes = false}; }

 private:
  struct Module final : sc_core::sc_module {
    explicit Module(const sc_core::sc_module_name& name) : sc_core::sc_module(name), socket("socket") {
      socket.register_b_transport(this, &Module::b_transport);
    }
    void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& /*delay*/) {
      payload.set_streaming_width(1);
      payload.set_response_status(tlm::TLM_OK_RESPONSE);
    }
    tlm_utils::simple_target_socket<Module> socket;
  } module_;
};

SsdConfig with_banks(SsdConfig config, const vendor::BankedTimings& timings) {
  config.check_protocol = true;
  config.dram_memory.make = [timings](const MemoryContext& context) {
    return std::make_unique<Banked>(timings, context);
  };
  return config;
}

/// A clock so fast that nothing waits for its edges.
vendor::BankedTimings picoseconds() {
  vendor::BankedTimings timings;
  timings.clock = sc_core::sc_time(1, sc_core::SC_PS);
  timings.rcd = 13'750;
  timings.cas = 14'251;
  timings.rp = 13'907;
  timings.burst = 3'333;
  timings.refi = 0;
  return timings;
}

void commands(Check& check) {
  check.fill(128_KiB);
  static_cast<void>(run_unloaded(check.simulation(), {{HostOpcode::read, 64_KiB, 16_KiB}}));
  check.step(
      "a whole page", {HostOpcode::read, 16_KiB, 16_KiB},
      check.parts().fetch().command().translate(4).map(4).flash(1).sense(PageId{0}, 0, 4).complete(16_KiB));
  check.step("a unit that was never written", {HostOpcode::read, 1_MiB, 4096},
             check.parts().fetch().command().translate(1).map(1).complete(4096));
  check.step("a write that stays in the buffer", {HostOpcode::write, 1_MiB, 4096},
             check.parts().fetch(4096, true).command().buffer(1).complete());
  check.step("a read from the buffer", {HostOpcode::read, 1_MiB, 4096},
             check.parts().fetch().command().translate(1).map(1).buffer(1).complete(4096));
  check.simulation().ssd().finish_checks();
  CHECK(check.simulation().ssd().silent_sockets().empty());
}

Picoseconds bursts(Bytes bytes) {
  return static_cast<Picoseconds>((bytes + k_burst - 1) / k_burst);
}

SsdConfig with_own(SsdConfig config, bool blocking) {
  config.check_protocol = true;
  config.dram_memory.make = [dram = config.dram, blocking](const MemoryContext& /*context*/) {
    return std::make_unique<Own>(dram, blocking);
  };
  return config;
}

/// What a mixed load comes to.
struct MixedOutcome {
  std::uint64_t commands;
  Picoseconds last;
};

MixedOutcome mixed(const SsdConfig& config) {
  Simulation simulation(config);
  run_untimed(simulation, {.rw = "write", .bs = 64_KiB});
  std::vector<Load> loads =
      one(mixed_load({.requests = 4000, .hot_blocks = 6000}, simulation.drive_size(), 1));
  Measurement measurement({"mixed"});
  simulation.run(loads, measurement);
  return {measurement.completed(), simulation.ssd().event_queue().now()};
}

}  // namespace

TEST_CASE("rows that stay open: each access takes cas and its bursts", "[drive]") {
  vendor::BankedTimings timings = picoseconds();
  timings.banks = 1;
  timings.row = 1_GiB;
  Check check(with_banks(drive("pcie5x16", 4096), timings),
              [](Bytes bytes) { return 14'251 + bursts(bytes) * 3'333; });
  commands(check);
}

TEST_CASE("rows of one burst: each burst takes precharge, activate, cas and itself", "[drive]") {
  vendor::BankedTimings timings = picoseconds();
  timings.banks = 1;
  timings.row = k_burst;
  Check check(with_banks(drive("pcie5x16", 4096), timings),
              [](Bytes bytes) { return bursts(bytes) * (13'907 + 13'750 + 14'251 + 3'333); });
  commands(check);
}

TEST_CASE("the drive's own DRAM from outside, called by b_transport, takes its own closed form", "[drive]") {
  Check check(with_own(drive("pcie3x4", 4096), true));
  commands(check);
}

TEST_CASE("the drive's own DRAM from outside, called by nb_transport, takes its own closed form", "[drive]") {
  Check check(with_own(drive("pcie3x4", 4096), false));
  commands(check);
}

// What is answered late is booked late on the link, so that under load the order may differ from
// that with a DRAM whose answers are known ahead.
TEST_CASE("under load b_transport and nb_transport of one memory are the same drive", "[drive]") {
  const SsdConfig config = drive("pcie3x4", 512);
  const auto blocking = in_child<MixedOutcome>([&] { return mixed(with_own(config, true)); });
  const auto phases = in_child<MixedOutcome>([&] { return mixed(with_own(config, false)); });
  const auto built_in = in_child<MixedOutcome>([&] { return mixed(config); });
  CHECK(blocking.commands == 4000);
  CHECK(phases.commands == blocking.commands);
  CHECK(phases.last == blocking.last);
  CHECK(static_cast<double>(phases.last) == Approx(static_cast<double>(built_in.last)).epsilon(0.03));
}

TEST_CASE("a DRAM of rows, banks and refresh saturates at its closed form", "[drive]") {
  const bool refresh = GENERATE(false, true);
  vendor::BankedTimings timings;
  timings.burst = 40;
  if (!refresh) timings.refi = 0;
  SsdConfig config;
  config.host.lba_size = 4096;
  config.host.link = "pcie6x16";
  config.host.queue_depth = 1024;
  config.cpu.cores = 16;
  config.cpu.clock = 2'000_MHz;
  config.dram.capacity = 256_MiB;
  config.bus.width = 1024;
  config.flash.channels = 8;
  config.flash.ways = 4;
  config.flash.bus = 1'600'000'000;
  config.part.planes = 1;
  config.part.page_size = 16384;
  config.part.spare_size = 1872;
  config.part.pages_per_block = 64;
  config.part.blocks_per_plane = 24;
  config.part.read_latency = {20_us};
  config.capacity.over_provisioning = 0.6;
  config.firmware.gc.background_start = 0;
  const SsdConfig whole = with_banks(config, timings);
  // A page comes in, goes out, and its four map entries are one burst.
  const double seconds = static_cast<double>((2 * bursts(16_KiB) + 1) * 40) * 1e-9;
  const double bytes = 2 * 16384 + 16;
  // After a refresh the first burst waits for its row.
  const double share = refresh ? 1 - static_cast<double>(350 + 14 + 14) / 7800 : 1;
  const double measured = in_child<double>([&] {
    Simulation simulation(whole);
    run_untimed(simulation, {.rw = "write", .bs = 64_KiB, .size = 64_MiB});
    std::vector<Load> loads =
        make_loads({.rw = "randread", .bs = 16_KiB, .depth = 256, .size = 64_MiB, .amount = 10_GiB},
                   simulation.drive_size());
    loads.front().ramp_time = 3_ms;
    loads.front().runtime = 10_ms;
    Measurement measurement({"load"});
    simulation.driver().set_measurement_hook([&] { simulation.reset_statistics(); });
    simulation.run(loads, measurement);
    const MemoryCounters counters = simulation.ssd().foreign_memories().front()->counters();
    simulation.drain();
    simulation.ssd().finish_checks();
    return static_cast<double>(counters.read_bytes + counters.written_bytes) /
           (static_cast<double>(measurement.span()) * 1e-12);
  });
  CHECK(measured == Approx(bytes / seconds * share).epsilon(0.005));
}

#ifndef __SANITIZE_ADDRESS__  // it takes exceptions behind switches of SystemC's stacks for errors
TEST_CASE("what is wrong at a memory's own socket is that memory's fault", "[drive]") {
  SsdConfig config = drive("pcie3x4", 4096);
  config.check_protocol = true;
  config.dram_memory.make = [](const MemoryContext&) { return std::make_unique<Meddling>(); };
  Simulation simulation(config);
  static_cast<void>(run_unloaded(simulation, {{HostOpcode::write, 0, 16_KiB}}));
  std::string said;
  try {
    simulation.ssd().finish_checks();
  } catch (const InputError& error) {
    said = error.what();
  }
  CHECK_THAT(said, Catch::StartsWith("ssd.dram.model: of one's own breaks the TLM-2.0 base protocol: ") &&
                       Catch::Contains("attribute: changed during b_transport") && Catch::Contains(" more"));
  CHECK(said.find('\n') == std::string::npos);
}
#endif

TEST_CASE("a snapshot of a drive with a memory that does not archive itself is refused", "[drive]") {
  Simulation simulation(with_banks(drive("pcie3x4", 4096), {}));
  MemoryArchive archive;
  CHECK_THROWS_WITH(
      simulation.archive(archive),
      "ssd.dram.model: of one's own does not archive itself, so there are no snapshots with it");
}

namespace {

/// The drive's own DRAM from outside, which keeps nothing.
class Forgetful final : public MemoryModel {
 public:
  explicit Forgetful(const DramConfig& config) : own_(config, true) {}
  MemorySocket socket() override { return own_.socket(); }
  [[nodiscard]] MemoryTraits traits() const override { return own_.traits(); }
  [[nodiscard]] bool archives() const override { return true; }

 private:
  Own own_;
};

/// The same, of which there is less.
class Small final : public MemoryModel {
 public:
  Small(const DramConfig& config, Bytes holds) : own_(config, true), holds_(holds) {}
  MemorySocket socket() override { return own_.socket(); }
  [[nodiscard]] MemoryTraits traits() const override {
    MemoryTraits traits = own_.traits();
    traits.capacity = holds_;
    return traits;
  }

 private:
  Own own_;
  Bytes holds_;
};

/// What a drive of 64 MiB of DRAM is refused with whose memory holds so much.
InputError refusal_of_memory(Bytes holds) {
  SsdConfig config = small_drive();
  config.dram_memory.make = [dram = config.dram, holds](const MemoryContext& /*context*/) {
    return std::make_unique<Small>(dram, holds);
  };
  try {
    const Ssd drive("drive", config);
  } catch (const InputError& error) {
    return error;
  }
  throw std::logic_error("nothing was refused");
}

/// A drive whose firmware, ours, comes from outside.
SsdConfig with_firmware_from_outside() {
  SsdConfig config = small_drive();
  config.firmware_model = "ours";
  config.make_firmware = [ours = config.firmware](const firmware::FirmwareContext& context) {
    return std::make_unique<firmware::Ftl>(context.hw, context.shape, ours);
  };
  return config;
}

}  // namespace

TEST_CASE("what a memory holds is proposed only where the drive can do with it", "[drive]") {
  const std::string fits = refusal_of_memory(32_MiB).what();
  CHECK(fits == "ssd.dram.capacity: 64 MiB is more than model of one's own holds; nearest valid: 32 MiB");
}

TEST_CASE("a memory smaller than any may be is at fault itself", "[drive]") {
  const InputError refused = refusal_of_memory(1000);
  CHECK(refused.complaint().key == "ssd.dram.model");
  CHECK_FALSE(refused.complaint().proposal);
  CHECK_THAT(refused.what(),
             Catch::Contains("of one's own holds 1") && Catch::Contains(" kB, too little for this drive: "));
}

TEST_CASE("a memory too small for the drive is at fault itself", "[drive]") {
  const InputError refused = refusal_of_memory(100'000);
  CHECK(refused.complaint().key == "ssd.dram.model");
  CHECK_FALSE(refused.complaint().proposal);
  CHECK_THAT(refused.what(),
             Catch::Contains("of one's own holds 1") && Catch::Contains(" kB, too little for this drive: "));
}

TEST_CASE("a snapshot is not for a drive with another memory, with firmware from outside neither",
          "[drive]") {
  const std::string path =
      (std::filesystem::temp_directory_path() / ("tlmssd_memory_" + std::to_string(getpid()))).string();
  REQUIRE(in_child<bool>([&] {
    Simulation simulation(with_firmware_from_outside());
    save_snapshot(path, simulation.identity(), [&](Archive& a) { simulation.archive(a); });
    return true;
  }));
  SsdConfig other = with_firmware_from_outside();
  other.dram_memory.make = [dram = other.dram](const MemoryContext& /*context*/) {
    return std::make_unique<Forgetful>(dram);
  };
  Simulation simulation(other);
  std::string refused;
  try {
    load_snapshot(path, simulation.identity(), [&](Archive& a) { simulation.archive(a); });
  } catch (const InputError& error) {
    refused = error.what();
  }
  std::filesystem::remove(path);
  CHECK_THAT(refused, Catch::Contains("ssd.dram.model is absent there, of one's own here"));
}

}  // namespace tlmssd::drive_tests
