// Firmware in C in a whole drive: what it refuses keeps its keys, its timers do not hold up a
// drain, and what it does wrong is said with its name.
#include <catch2/catch.hpp>
#include <functional>
#include <utility>

#include "firmware/foreign/c_adapter.h"
#include "models/base/input_error.h"
#include "models/base/stalled.h"
#include "platform/drive_check.h"
#include "testbench/tests/drive/mixed_load.h"
#include "testbench/tests/drive/support.h"

namespace tlmssd::drive_tests {
namespace {

/// What each piece of firmware is: it knows its host.
struct Acme {
  tlmssd_host* host = nullptr;
  std::uint32_t page = 0;
  tlmssd_command* command = nullptr;
};

Acme& of(void* self) {
  return *static_cast<Acme*>(self);
}

void nothing(void* /*self*/) {}
void programmed(void* /*self*/, const tlmssd_result* /*result*/) {}

void complete(void* self) {
  tlmssd_complete(of(self).host, of(self).command, TLMSSD_SUCCESS);
}

/// One command at a time, each through a stage; what is written is lost.
tlmssd_firmware plain_firmware() {
  tlmssd_firmware firmware{};
  firmware.size = sizeof firmware;
  firmware.api = TLMSSD_FIRMWARE_API;
  firmware.name = "acme";
  firmware.version = "1";
  firmware.create = [](tlmssd_host* host, const tlmssd_shape*) -> void* { return new Acme{.host = host}; };
  firmware.destroy = [](void* self) { delete &of(self); };
  firmware.buffers = [](void*) { return 4U; };
  firmware.dram_bytes = [](void*) { return std::uint64_t{0}; };
  firmware.submit = [](void* self, tlmssd_command* command) {
    of(self).command = command;
    const tlmssd_work work{TLMSSD_STAGE_COMMAND, 1};
    tlmssd_run(of(self).host, command, &work, 1, complete, self);
  };
  firmware.drain = [](void* self) { tlmssd_drained(of(self).host); };
  return firmware;
}

SsdConfig with(const tlmssd_firmware& firmware) {
  static const std::vector<ParameterSpec> k_none;
  SsdConfig config = small_drive();
  config.firmware_model = "acme";
  config.make_firmware = [firmware](const firmware::FirmwareContext& context) {
    static tlmssd_firmware kept;
    kept = firmware;
    return std::make_unique<firmware::foreign::CFirmware>(kept, NoValues{}, context, k_none);
  };
  return config;
}

std::vector<Load> writes(Simulation& simulation) {
  return one(script(std::vector<Step>(20, {HostOpcode::write, 0, 4096}), simulation.drive_size()));
}

/// What a run of writes and the drain after it end in; empty: all was well.
std::string outcome(const tlmssd_firmware& firmware) {
  SsdConfig config = with(firmware);
  config.check_protocol = true;
  Simulation simulation(config);
  std::vector<Load> loads = writes(simulation);
  Measurement measurement({"writes"});
  try {
    simulation.run(loads, measurement);
    simulation.drain();
    simulation.finish_checks();
  } catch (const InputError& error) {
    return error.what();
  } catch (const Stalled& error) {
    return std::string("stalled: ") + error.what();
  }
  CHECK(measurement.completed() == 20);
  return {};
}

/// The key that a firmware's refusal of `key` comes to.
std::string refused_key(const char* key) {
  static const char* refused;
  refused = key;
  tlmssd_firmware firmware = plain_firmware();
  firmware.create = [](tlmssd_host* host, const tlmssd_shape*) -> void* {
    tlmssd_refuse(host, refused, "is not for me");
    return nullptr;
  };
  try {
    const Ssd drive("drive", with(firmware));
  } catch (const InputError& error) {
    return error.complaint().key;
  }
  return "none";
}

void tick(void* self) {
  tlmssd_timer(of(self).host, 100'000'000, tick, self);
}

tlmssd_firmware ticking() {
  tlmssd_firmware firmware = plain_firmware();
  firmware.create = [](tlmssd_host* host, const tlmssd_shape*) -> void* {
    auto* const self = new Acme{.host = host};
    tick(self);
    return self;
  };
  return firmware;
}

void again(void* self) {
  tlmssd_timer(of(self).host, 0, again, self);
}

}  // namespace

TEST_CASE("what firmware does wrong at the very beginning ends the making of a drive, as what it is") {
  tlmssd_firmware firmware = plain_firmware();
  firmware.create = [](tlmssd_host* host, const tlmssd_shape*) -> void* {
    auto* const self = new Acme{.host = host};
    tlmssd_timer(
        host, 0, [](void* own) { tlmssd_fail(of(own).host, "no table"); }, self);
    return self;
  };
  CHECK_THROWS_WITH(Simulation(with(firmware)), "firmware acme: no table");
}

TEST_CASE("keys that firmware refuses are those of the scenario", "[drive]") {
  CHECK(refused_key("firmware.buffer_size") == "firmware.buffer_size");
  CHECK(refused_key("buffer_size") == "firmware.buffer_size");
  CHECK(refused_key("ssd.flash.over_provisioning") == "ssd.flash.over_provisioning");
}

TEST_CASE("a drain does not wait for timers that firmware sets again and again", "[drive]") {
  tlmssd_firmware firmware = ticking();
  firmware.drain = [](void* self) {
    const tlmssd_work work{TLMSSD_STAGE_COMMAND, 1};
    tlmssd_run(
        of(self).host, nullptr, &work, 1, [](void* late) { tlmssd_drained(of(late).host); }, self);
  };
  CHECK(outcome(firmware).empty());
}

TEST_CASE("firmware that only sets timers when it is to drain is stalled", "[drive]") {
  tlmssd_firmware firmware = ticking();
  firmware.drain = [](void*) {};
  CHECK(outcome(firmware).starts_with("stalled: the drive does not come to rest:\nfirmware acme: "));
}

TEST_CASE("timers without end at one instant are the firmware's fault", "[drive]") {
  tlmssd_firmware firmware = plain_firmware();
  firmware.submit = [](void* self, tlmssd_command*) { again(self); };
  CHECK(outcome(firmware).starts_with("firmware acme: livelock: simulated time stands still at "));
}

TEST_CASE("firmware that takes more DRAM than a number holds does not fit") {
  tlmssd_firmware firmware = plain_firmware();
  firmware.dram_bytes = [](void*) { return ~std::uint64_t{0}; };
  std::string refused;
  try {
    check_drive(with(firmware));
  } catch (const InputError& error) {
    refused = error.what();
  }
  CHECK_THAT(refused, Catch::StartsWith("ssd.dram.capacity: ") &&
                          Catch::Contains("write buffer (17592186044416 MiB) and one transfer"));
}

namespace {

/// Firmware that may read a unit so many times.
class Persistent final : public firmware::Firmware {
 public:
  explicit Persistent(std::uint32_t attempts) : attempts_(attempts) {}
  void submit(HostCommand& /*command*/) override {}
  Task<> drain() override { co_return; }
  [[nodiscard]] Bytes dram_bytes() const override { return 0; }
  [[nodiscard]] std::uint32_t most_attempts() const override { return attempts_; }

 private:
  std::uint32_t attempts_;
};

/// The bound on untimed work of a drive with such firmware.
std::uint64_t untimed_limit(std::uint32_t attempts) {
  return in_child<std::uint64_t>([attempts] {
    SsdConfig config = small_drive();
    config.firmware_model = "persistent";
    config.make_firmware = [attempts](const firmware::FirmwareContext& /*context*/) {
      return std::make_unique<Persistent>(attempts);
    };
    return Ssd("drive", config).cpu().untimed_limit();
  });
}

}  // namespace

TEST_CASE("the bound on untimed work grows with the attempts that firmware makes, however many") {
  const std::uint64_t more = untimed_limit(1) - 1'000'000;  // of 2 + 4 steps
  CHECK(untimed_limit(4) - 1'000'000 == 2 * more);
  CHECK(untimed_limit((1U << 31U) - 2) - 1'000'000 == more / 6 << 32U);
}

TEST_CASE("firmware that takes more buffers than any DRAM holds does not fit") {
  tlmssd_firmware firmware = plain_firmware();
  firmware.buffers = [](void*) { return ~std::uint32_t{0}; };
  CHECK_THROWS_WITH(check_drive(with(firmware)), Catch::StartsWith("ssd.dram.capacity: "));
}

TEST_CASE("firmware may have two stages under way for a command", "[drive]") {
  tlmssd_firmware firmware = plain_firmware();
  firmware.submit = [](void* self, tlmssd_command* command) {
    of(self).command = command;
    const tlmssd_work aside{TLMSSD_STAGE_GC, 100'000};
    tlmssd_run(of(self).host, command, &aside, 1, nothing, self);
    tlmssd_access(of(self).host, command, TLMSSD_WAIT_MEMORY, TLMSSD_DRAM, 0, 4096, 0, complete, self);
  };
  CHECK(outcome(firmware).empty());
}

TEST_CASE("firmware that is not yet drained when it says so is found out", "[drive]") {
  tlmssd_firmware firmware = plain_firmware();
  firmware.submit = [](void* self, tlmssd_command* command) {
    const std::vector<std::uint32_t> lpns(64, TLMSSD_NO_UNIT);
    tlmssd_flash program{};
    program.size = sizeof program;
    program.page = of(self).page;
    program.lpns = lpns.data();
    if (of(self).page < 16) tlmssd_program(of(self).host, &program, programmed, self);
    ++of(self).page;
    tlmssd_complete(of(self).host, command, TLMSSD_SUCCESS);
  };
  CHECK(outcome(firmware).starts_with("firmware acme: says that it is drained, but "));
}

namespace {

/// What is wrong with the durability of firmware that completes all and writes nothing.
std::string found_wrong(const std::vector<Step>& steps) {
  Simulation simulation(with(plain_firmware()));
  REQUIRE(simulation.ssd().check_durability());
  std::vector<Load> loads = one(script(steps, simulation.drive_size()));
  try {
    simulation.run_untimed(loads);
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

constexpr Step k_write{HostOpcode::write, 8192, 4096};
constexpr Step k_flush{HostOpcode::flush, 0, 0};

}  // namespace

TEST_CASE("a flush that leaves what was written in DRAM is found", "[drive]") {
  CHECK(found_wrong({k_write, k_flush}) ==
        "firmware acme: completes a flush before LBA 16, whose write had completed, is on flash");
}

TEST_CASE("force unit access that leaves its data in DRAM is found", "[drive]") {
  CHECK(found_wrong({{HostOpcode::write, 8192, 4096, true}}) ==
        "firmware acme: completes a write with force unit access before LBA 16 of it is on flash");
}

TEST_CASE("a flush is not asked for what came after it or was trimmed", "[drive]") {
  CHECK(found_wrong({k_flush, k_write, {HostOpcode::trim, 8192, 4096}, k_flush}).empty());
}

TEST_CASE("firmware that leaves in DRAM what it was to write out is found", "[drive]") {
  Simulation simulation(with(plain_firmware()));
  REQUIRE(simulation.ssd().check_durability());
  std::vector<Load> loads = one(script({k_write}, simulation.drive_size()));
  CHECK_THROWS_WITH(
      [&] {
        simulation.run_untimed(loads);
        simulation.drain();
      }(),
      "firmware acme: says that it is drained before LBA 16, whose write had completed, is on flash");
}

TEST_CASE("firmware in C asks for the codes that it has named, and for no other", "[drive]") {
  tlmssd_firmware firmware = plain_firmware();
  firmware.codes = 1U << TLMSSD_CODE_HARD_LDPC;
  firmware.submit = [](void* self, tlmssd_command* command) {
    tlmssd_flash read{};
    read.size = sizeof read;
    read.code = TLMSSD_CODE_SOFT_LDPC;
    tlmssd_read(of(self).host, &read, programmed, self);
    tlmssd_complete(of(self).host, command, TLMSSD_SUCCESS);
  };
  CHECK(outcome(firmware) ==
        "firmware acme: read of die 0, plane 0, block 0, page 0: asks for code soft-ldpc, but its codes are "
        "hard-ldpc");
}

namespace {

/// Firmware in C++ that does one thing with its first command.
class OneAct final : public firmware::Firmware {
 public:
  using Act = std::function<void(firmware::Hardware&, HostCommand&)>;
  OneAct(const firmware::FirmwareContext& context, Act act) : hw_(context.hw), act_(std::move(act)) {}
  void submit(HostCommand& command) override { act_(hw_, command); }
  Task<> drain() override { co_return; }
  [[nodiscard]] Bytes dram_bytes() const override { return 0; }

 private:
  firmware::Hardware& hw_;
  Act act_;
};

/// What it is refused with.
std::string refused_act(const OneAct::Act& act) {
  SsdConfig config = small_drive();
  config.firmware_model = "acme";
  config.make_firmware = [&](const firmware::FirmwareContext& context) {
    return std::make_unique<OneAct>(context, act);
  };
  Simulation simulation(config);
  std::vector<Load> loads = writes(simulation);
  Measurement measurement({"writes"});
  try {
    simulation.run(loads, measurement);
  } catch (const InputError& error) {
    return error.what();
  }
  return "nothing";
}

/// The same of an operation with one thing changed.
std::string refused_operation(const std::function<void(FlashOp&)>& change) {
  return refused_act([&](firmware::Hardware& hw, HostCommand& /*command*/) {
    Lpn spare = k_no_unit;
    Stamp stamp = k_zeros;
    FlashOp op;
    op.slots = 1;
    op.spare = &spare;
    op.stamps = &stamp;
    change(op);
    FlashTransaction operation(op);
    hw.flash.submit(operation);
  });
}

}  // namespace

TEST_CASE("firmware in C++ that asks for a code that there is not is refused", "[drive]") {
  CHECK(refused_operation([](FlashOp& op) { op.code = static_cast<EccCode>(77); }) ==
        "firmware acme: read of die 0, plane 0, block 0, page 0: asks for code number 77, but its codes are "
        "none");
}

TEST_CASE("firmware in C++ with a purpose that there is not is refused", "[drive]") {
  CHECK(refused_operation([](FlashOp& op) { op.purpose = static_cast<Purpose>(99); }) ==
        "firmware acme: orders a flash operation with purpose 99, which there is not; valid: 0 to 5");
}

TEST_CASE("firmware in C++ that orders what flash cannot do is refused", "[drive]") {
  CHECK(refused_operation([](FlashOp& op) { op.command = static_cast<FlashCommand>(9); }) ==
        "firmware acme: orders flash operation 9, which there is not; valid: 0 to 3");
}

TEST_CASE("firmware in C++ that programs no page is refused", "[drive]") {
  CHECK(refused_operation([](FlashOp& op) {
          op.command = FlashCommand::program;
          op.pages = 0;
          op.slots = 0;
        }) == "firmware acme: program of die 0, plane 0, block 0, page 0: is of no page");
}

TEST_CASE("firmware in C++ that orders an operation as one that has begun is refused", "[drive]") {
  CHECK(refused_operation([](FlashOp& op) {
          op.command = FlashCommand::program;
          op.program_pass = 3;
        }) ==
        "firmware acme: program of die 0, plane 0, block 0, page 0: has begun already (program_pass 3), "
        "which is the hardware's to say");
}

namespace {

/// What firmware is refused with that charges a command up to `first`, then up to `then` from now.
std::string refused_charges(Picoseconds first, Picoseconds then) {
  return refused_act([first, then](firmware::Hardware& hw, HostCommand& command) {
    command.ledger.charge(Cause::space_wait, hw.event_queue.now() + first);
    command.ledger.charge(Cause::decode, hw.event_queue.now() + then);
    hw.host.complete(command);
  });
}

}  // namespace

TEST_CASE("firmware in C++ that charges time which has not passed is refused", "[drive]") {
  CHECK(refused_charges(0, 1'000) == "firmware acme: charges a command with 1000 ps that have not passed");
}

TEST_CASE("firmware in C++ that charges less than no time is refused", "[drive]") {
  CHECK_THAT(refused_charges(1'000, 0),
             Catch::StartsWith("firmware acme: charges a command with times below 0"));
}

TEST_CASE("firmware in C++ that runs a stage that there is not is refused", "[drive]") {
  CHECK(refused_act([](firmware::Hardware& hw, HostCommand&) {
          static_cast<void>(hw.cpu.run(static_cast<Stage>(77), 1));
        }) == "firmware acme: runs stage 77, which there is not; valid: 0 to 5");
}

TEST_CASE("firmware in C++ that completes with a status that there is not is refused", "[drive]") {
  CHECK(refused_act([](firmware::Hardware& hw, HostCommand& command) {
          command.status = static_cast<HostStatus>(99);
          hw.host.complete(command);
        }) == "firmware acme: completes a command with status 99, which there is not; valid: 0 to 4");
}

namespace {

/// Firmware whose report leaves a group open.
class Talkative final : public firmware::Firmware {
 public:
  void submit(HostCommand& /*command*/) override {}
  Task<> drain() override { co_return; }
  [[nodiscard]] Bytes dram_bytes() const override { return 0; }
  void report(StatisticsSink& sink) const override { sink.open("mine", ""); }
};

/// A reading of the drive's report, of which nothing is kept.
struct NoSink final : StatisticsSink {
  void open(std::string_view /*group*/, std::string_view /*doc*/) override {}
  void close() override {}
  void value(std::string_view /*name*/, double /*value*/, std::string_view /*unit*/,
             std::string_view /*doc*/) override {}
  void value(std::string_view /*name*/, std::uint64_t /*value*/, std::string_view /*unit*/,
             std::string_view /*doc*/) override {}
  void text(std::string_view /*name*/, std::string_view /*value*/, std::string_view /*doc*/) override {}
};

}  // namespace

TEST_CASE("firmware whose report leaves a group open is refused", "[drive]") {
  SsdConfig config = small_drive();
  config.firmware_model = "acme";
  config.make_firmware = [](const firmware::FirmwareContext&) { return std::make_unique<Talkative>(); };
  const Ssd drive("drive", config);
  NoSink sink;
  CHECK_THROWS_WITH(drive.report(sink), "firmware acme: report() leaves 1 group open");
}

TEST_CASE("our own firmware has on flash what flushes and force unit access are for", "[drive]") {
  SsdConfig config = small_drive();
  config.host.lba_size = 512;
  config.firmware_model = "ours";
  const firmware::FirmwareConfig ours = config.firmware;
  config.make_firmware = [&](const firmware::FirmwareContext& context) {
    return std::make_unique<firmware::Ftl>(context.hw, context.shape, ours);
  };
  Simulation simulation(config);
  REQUIRE(simulation.ssd().check_durability());
  for (const std::uint64_t seed : {1, 2}) {
    std::vector<Load> loads = one(mixed_load({.requests = 5000, .depth = 16}, simulation.drive_size(), seed));
    if (seed == 1) {
      simulation.run_untimed(loads);
    } else {
      Measurement measurement({"mixed"});
      simulation.run(loads, measurement);
      simulation.drain();
    }
  }
}

}  // namespace tlmssd::drive_tests
