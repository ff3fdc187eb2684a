// Wrong calls of firmware in C: each ends in one line with its name.
#include <array>
#include <catch2/catch.hpp>
#include <cstddef>
#include <fmt/format.h>
#include <functional>
#include <limits>

#include "firmware/foreign/c_adapter.h"
#include "firmware/foreign/c_firmware.h"
#include "models/base/memory_archive.h"
#include "testbench/tests/firmware/fake_hardware.h"
#include "testbench/tests/firmware/model_host.h"
#include "testbench/tests/support/statistics_of.h"

namespace tlmssd::firmware::testing {
namespace {

using Act = std::function<void(tlmssd_host* host, tlmssd_command* command)>;

/// A firmware that knows its host and does nothing.
tlmssd_firmware idle_firmware() {
  tlmssd_firmware firmware{};
  firmware.size = sizeof firmware;
  firmware.api = TLMSSD_FIRMWARE_API;
  firmware.name = "acme";
  firmware.version = "1";
  firmware.create = [](tlmssd_host* host, const tlmssd_shape*) -> void* { return host; };
  firmware.destroy = [](void*) {};
  firmware.buffers = [](void*) { return 4U; };
  firmware.dram_bytes = [](void*) { return std::uint64_t{0}; };
  firmware.submit = [](void*, tlmssd_command*) {};
  firmware.drain = [](void*) {};
  return firmware;
}

DriveShape small_shape() {
  DriveShape shape;
  shape.geometry = {1, 1, 1, 2, 4, 64, 16384, 0};
  shape.lba_bytes = 4096;
  shape.logical_blocks = 64;
  return shape;
}

/// What a firmware that does this with its first command, four blocks from 8 on unless it is a
/// flush, is refused with; empty: nothing.
std::string refused(const Act& act, HostOpcode opcode = HostOpcode::flush) {
  static Act acting;
  acting = act;
  tlmssd_firmware firmware = idle_firmware();
  firmware.submit = [](void* self, tlmssd_command* command) {
    acting(static_cast<tlmssd_host*>(self), command);
  };
  const DriveShape shape = small_shape();
  FakeHardware hardware(shape, {.timed = true});
  const std::vector<ParameterSpec> parameters;
  foreign::CFirmware adapter(firmware, NoValues{}, {hardware.ports, shape}, parameters);
  std::array<Stamp, 4> data{};
  HostCommand command;
  command.opcode = opcode;
  command.lba = 8;
  command.blocks = opcode == HostOpcode::flush ? 0 : 4;
  const LbaRange range{8, 4};
  if (opcode == HostOpcode::trim) {
    command.set_ranges({&range, 1});
  } else {
    command.set_data(data);
  }
  try {
    adapter.submit(command);
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

tlmssd_flash one_unit() {
  tlmssd_flash request{};
  request.size = sizeof request;
  return request;
}

void done(void* /*self*/, const tlmssd_result* /*result*/) {}

std::string refused_read(const std::function<void(tlmssd_flash& request)>& change) {
  return refused([&](tlmssd_host* host, tlmssd_command*) {
    tlmssd_flash request = one_unit();
    change(request);
    tlmssd_read(host, &request, done, nullptr);
  });
}

std::string refused_program(const std::function<void(tlmssd_flash& request)>& change) {
  return refused([&](tlmssd_host* host, tlmssd_command*) {
    const std::vector<std::uint32_t> lpns(1024, TLMSSD_NO_UNIT);
    tlmssd_flash request = one_unit();
    request.lpns = lpns.data();
    change(request);
    tlmssd_program(host, &request, done, nullptr);
  });
}

/// What a firmware with these parameters is refused with; empty: it is taken.
std::string refused_parameters(const std::vector<tlmssd_parameter>& parameters) {
  tlmssd_firmware firmware{};
  firmware.size = sizeof firmware;
  firmware.api = TLMSSD_FIRMWARE_API;
  firmware.name = "acme-with-parameters";
  firmware.version = "1";
  firmware.create = [](tlmssd_host*, const tlmssd_shape*) -> void* { return nullptr; };
  firmware.destroy = [](void*) {};
  firmware.buffers = [](void*) { return 0U; };
  firmware.dram_bytes = [](void*) { return std::uint64_t{0}; };
  firmware.submit = [](void*, tlmssd_command*) {};
  firmware.drain = [](void*) {};
  firmware.parameters = parameters.data();
  firmware.parameter_count = parameters.size();
  try {
    add_c_firmware(firmware, "acme 1");
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

tlmssd_parameter whole_number(const char* name, double fallback = 3, double minimum = 1, double maximum = 8) {
  return {name, TLMSSD_INTEGER, fallback, minimum, maximum, "a number"};
}

/// What becomes of a snapshot of a firmware that saves and restores by `act`; empty: it fits.
std::string after_snapshot(void (*act)(tlmssd_host* host, tlmssd_archive* archive)) {
  static decltype(act) acting;
  acting = act;
  tlmssd_firmware firmware = idle_firmware();
  firmware.archive = [](void* self, tlmssd_archive* archive) {
    acting(static_cast<tlmssd_host*>(self), archive);
  };
  const DriveShape shape = small_shape();
  FakeHardware hardware(shape, {.timed = true});
  const std::vector<ParameterSpec> parameters;
  foreign::CFirmware adapter(firmware, NoValues{}, {hardware.ports, shape}, parameters);
  MemoryArchive saved;
  std::uint32_t behind = 77;
  try {
    adapter.archive(saved);
    saved(behind);
    MemoryArchive reader(saved.content());
    adapter.archive(reader);
    behind = 0;
    reader(behind);
  } catch (const InputError& error) {
    return error.what();
  }
  return behind == 77 ? "" : "what lies behind is lost";
}

constexpr std::uint32_t k_most = std::numeric_limits<std::uint32_t>::max();
const std::string k_order = "firmware acme: orders a flash operation ";

}  // namespace

TEST_CASE("numbers of firmware in C that do not fit are refused as they are") {
  CHECK(refused_program([](tlmssd_flash&) {}).empty());
  CHECK(refused_read([](tlmssd_flash& r) { r.code = static_cast<tlmssd_code>(77); }) ==
        k_order + "with code 77; valid: 0 to 5");
  CHECK(refused_read([](tlmssd_flash& r) { r.retry_level = 1'000'000'000; }) ==
        k_order + "with retry level 1000000000; valid: 0 to 255");
  CHECK(refused_read([](tlmssd_flash& r) {
          r.purpose = static_cast<tlmssd_purpose>(256);
        }).starts_with(k_order + "with purpose 256; valid: 0 to "));
  const std::string outside = k_order + "outside the array: ";
  CHECK(refused_read([](tlmssd_flash& r) {
          r.first_unit = k_most;
          r.units = 2;
        }) == outside + "2 of units from 4294967295 on; valid: 0 to 3");
  CHECK(refused_read([](tlmssd_flash& r) { r.units = k_most; }) ==
        outside + "4294967295 of units from 0 on; valid: 0 to 3");
  CHECK(refused_read([](tlmssd_flash& r) { r.die = 1; }) == outside + "1 of dies from 1 on; valid: 0 to 0");
  CHECK(refused_read([](tlmssd_flash& r) { r.plane = k_most; }) ==
        outside + "1 of planes from 4294967295 on; valid: 0 to 1");
  CHECK(refused_read([](tlmssd_flash& r) { r.planes = 65'537; }) ==
        outside + "65537 of planes from 0 on; valid: 0 to 1");
  CHECK(refused_read([](tlmssd_flash& r) { r.block = 4; }) ==
        outside + "1 of blocks from 4 on; valid: 0 to 3");
  CHECK(refused_read([](tlmssd_flash& r) { r.page = k_most; }) ==
        outside + "1 of pages from 4294967295 on; valid: 0 to 63");
  CHECK(refused_program([](tlmssd_flash& r) { r.pages = 65'537; }) ==
        outside + "65537 of pages from 0 on; valid: 0 to 63");
  CHECK(refused([](tlmssd_host* host, tlmssd_command*) { tlmssd_pending(host, 9); }) ==
        outside + "1 of dies from 9 on; valid: 0 to 0");
  CHECK(refused([](tlmssd_host* host, tlmssd_command*) {
          tlmssd_timer(
              host, ~std::uint64_t{0}, [](void*) {}, nullptr);
        }) == "firmware acme: sets a timer of 18446744073709551615 ps, which ends beyond all time");
  CHECK(refused([](tlmssd_host* host, tlmssd_command* command) {
          tlmssd_access(
              host, command, TLMSSD_WAIT_MEMORY, static_cast<tlmssd_memory>(9), 0, 64, 0, [](void*) {},
              nullptr);
        }) == "firmware acme: accesses memory 9; valid: 0 (DRAM) and 1 (SCM)");
  CHECK(refused([](tlmssd_host* host, tlmssd_command*) { tlmssd_refuse(host, nullptr, nullptr); }) ==
        "firmware acme: is refused, and no reason is given");
}

TEST_CASE("firmware in C takes data only from commands that have them") {
  const auto takes = [](HostOpcode opcode, std::uint32_t lpn) {
    return refused([&](tlmssd_host* host, tlmssd_command* command) { tlmssd_take(host, command, lpn, 0); },
                   opcode);
  };
  for (const HostOpcode opcode : {HostOpcode::write, HostOpcode::write_zeroes, HostOpcode::trim}) {
    CHECK(takes(opcode, 11).empty());
    for (const std::uint32_t lpn : {7U, 12U, k_most})
      CHECK(takes(opcode, lpn) ==
            fmt::format("firmware acme: takes unit {} from a command that has none of it", lpn));
  }
  for (const std::uint32_t lpn : {7U, 12U, k_most})
    CHECK(refused([&](tlmssd_host* host,
                      tlmssd_command* command) { tlmssd_deliver(host, command, lpn, TLMSSD_NO_BUFFER); },
                  HostOpcode::read) ==
          fmt::format("firmware acme: delivers unit {} to a command that has none of it", lpn));
  CHECK(takes(HostOpcode::read, 8) == "firmware acme: takes data from a read");
  CHECK(takes(HostOpcode::flush, 8) == "firmware acme: takes data from a flush");
}

TEST_CASE("firmware in C has a name that a scenario can say") {
  for (const char* const name : {"", "my ftl", "my\nftl", "Acme", "9lives", "-acme"}) {
    tlmssd_firmware firmware = idle_firmware();
    firmware.name = name;
    try {
      add_c_firmware(firmware, "acme 1");
      FAIL("taken");
    } catch (const InputError& error) {
      CHECK(
          std::string(error.what())
              .ends_with("' is no name of a firmware; write small letters, digits, - and _, a letter first"));
    }
  }
}

TEST_CASE("null pointers of firmware in C are refused") {
  for (const auto order : {&tlmssd_read, &tlmssd_program, &tlmssd_erase}) {
    CHECK(refused([&](tlmssd_host* host, tlmssd_command*) { order(host, nullptr, done, nullptr); }) ==
          "firmware acme: orders a flash operation, but names none (null)");
  }
  CHECK(refused([](tlmssd_host* host, tlmssd_command*) { tlmssd_fail(host, nullptr); }) ==
        "firmware acme: fails, and does not say why (null)");
  CHECK(refused([](tlmssd_host* host, tlmssd_command*) { tlmssd_note(host, nullptr, nullptr, 0); }) ==
        "firmware acme: notes a decision, but does not say what (null)");
  CHECK(refused([](tlmssd_host* host, tlmssd_command*) {
          tlmssd_run(host, nullptr, nullptr, 2, nullptr, nullptr);
        }) == "firmware acme: runs stages, but names none (null)");
  CHECK(refused([](tlmssd_host* host, tlmssd_command*) { tlmssd_number(host, nullptr); }) ==
        "firmware acme: asks for a parameter other than in create()");
}

TEST_CASE("a figure of firmware in C without a name is refused") {
  tlmssd_firmware firmware = idle_firmware();
  firmware.report = [](void* self, tlmssd_report* report) {
    tlmssd_value(static_cast<tlmssd_host*>(self), report, nullptr, 1, "", "what it is");
  };
  const DriveShape shape = small_shape();
  FakeHardware hardware(shape, {.timed = true});
  const std::vector<ParameterSpec> parameters;
  const foreign::CFirmware adapter(firmware, NoValues{}, {hardware.ports, shape}, parameters);
  CHECK_THROWS_WITH(test::statistics_of(adapter),
                    "firmware acme: reports a figure, but does not say its name (null)");
}

TEST_CASE("firmware in C completes no command that accesses and flash operations are charged to") {
  const auto left_behind = [](bool awaited) {
    return refused(
        [awaited](tlmssd_host* host, tlmssd_command* command) {
          tlmssd_access(host, command, TLMSSD_WAIT_MEMORY, TLMSSD_DRAM, 0, 4096, 0,
                        awaited ? [](void*) {} : tlmssd_done{}, nullptr);
          tlmssd_complete(host, command, TLMSSD_SUCCESS);
        },
        HostOpcode::flush);
  };
  const std::string charged =
      " before what is charged to it has ended (memory accesses and flash operations: 1)";
  CHECK(left_behind(true) == "firmware acme: completes a flush" + charged);
  CHECK(left_behind(false).empty());
  CHECK(refused(
            [](tlmssd_host* host, tlmssd_command* command) {
              tlmssd_flash request = one_unit();
              request.command = command;
              tlmssd_erase(host, &request, done, nullptr);
              tlmssd_complete(host, command, TLMSSD_MEDIA_ERROR);
            },
            HostOpcode::read) == "firmware acme: completes a read" + charged);
}

TEST_CASE("a stage of firmware in C that takes more than a minute is refused") {
  CHECK(refused([](tlmssd_host* host, tlmssd_command* command) {
          const tlmssd_work work{TLMSSD_STAGE_FLASH, k_most};
          tlmssd_run(
              host, command, &work, 1, [](void*) {}, nullptr);
        }).starts_with("firmware acme: runs stage 3 4294967295 times, which takes "));
}

TEST_CASE("parameters of firmware in C that cannot be are refused") {
  const std::string its = "plug-in acme 1: parameter ";
  CHECK(refused_parameters({whole_number(nullptr)}) == its + "1 of its firmware has no name");
  for (const char* const name : {"", "Depth", "queue-depth", "queue depth", "9lives", "_depth", "a.b"}) {
    CHECK(refused_parameters({whole_number("depth"), whole_number(name)}) ==
          its + "'" + name +
              "' of its firmware is no key; write small letters, digits and _, a letter first");
  }
  const std::string depth = its + "'depth' of its firmware ";
  CHECK(refused_parameters({whole_number("model")}) ==
        its + "'model' of its firmware is taken: firmware.model says which firmware");
  CHECK(refused_parameters({whole_number("depth"), whole_number("depth")}) == depth + "is declared twice");
  CHECK(refused_parameters({{"depth", static_cast<tlmssd_kind>(77), 0, 0, 0, ""}}) ==
        depth + "is of kind 77; valid: 0 to 6");
  CHECK(refused_parameters({whole_number("depth", 3, 8, 1)}) == depth + "has a range from 8 down to 1");
  CHECK(refused_parameters({whole_number("depth", 9)}) ==
        depth + "has the default 9, which is not in its range of 1 to 8");
  CHECK(refused_parameters({whole_number("depth", 2.5)}) ==
        depth + "has the default 2.5, which is no whole number that fits");
  CHECK(refused_parameters({whole_number("depth", 1e19, 0, 1e20)}) ==
        depth + "has the default 1e+19, which is no whole number that fits");
  constexpr double k_none = std::numeric_limits<double>::quiet_NaN();
  CHECK(refused_parameters({whole_number("depth", k_none)}) ==
        depth + "has a default or a range that is no number");
  CHECK(refused_parameters({whole_number("depth", 3, 1, k_none)}) ==
        depth + "has a default or a range that is no number");
  CHECK(refused_parameters({{"depth", TLMSSD_BYTES, -4096, 0, 0, "a size"}}) ==
        depth + "has the default -4096, which is less than no bytes");
  CHECK(refused_parameters({{"depth", TLMSSD_TIME, -1, 0, 0, "a time"}}) ==
        depth + "has the default -1, which is less than no time");
  CHECK(refused_parameters({whole_number("depth"),
                            whole_number("free", 7, 0, 0),
                            {"eager", TLMSSD_FLAG, 1, 0, 0, "?"},
                            {"title", TLMSSD_TEXT, 0, 0, 0, nullptr}})
            .empty());
}

TEST_CASE("what firmware in C saves and restores amiss is its own fault") {
  const auto restores = [](tlmssd_host* host, tlmssd_archive* archive, std::size_t saved,
                           std::size_t restored) {
    std::uint32_t state[3] = {1, 2, 3};
    tlmssd_save(host, archive, state, 4 * (tlmssd_saving(host, archive) != 0 ? saved : restored));
  };
  static auto with = restores;
  const std::string otherwise = "; another build of it may have saved them, or one with other parameters";
  CHECK(
      after_snapshot([](tlmssd_host* host, tlmssd_archive* archive) { with(host, archive, 3, 3); }).empty());
  CHECK(after_snapshot([](tlmssd_host* host, tlmssd_archive* archive) { with(host, archive, 2, 3); }) ==
        "firmware acme: restores more than the 8 bytes that were saved" + otherwise);
  CHECK(after_snapshot([](tlmssd_host* host, tlmssd_archive* archive) { with(host, archive, 3, 1); }) ==
        "firmware acme: restores 4 of the 12 bytes that were saved" + otherwise);
  CHECK(after_snapshot([](tlmssd_host* host, tlmssd_archive* archive) {
          tlmssd_save(host, archive, nullptr, 4);
        }) == "firmware acme: saves or restores bytes, but does not say where they are (null)");
}

TEST_CASE("a loss of power takes what is in the buffers of firmware in C") {
  static tlmssd_host* host;
  tlmssd_firmware firmware = idle_firmware();
  firmware.create = [](tlmssd_host* own, const tlmssd_shape*) -> void* { return host = own; };
  firmware.power_cycle = [](void*) {};
  firmware.submit = [](void*, tlmssd_command* command) {
    for (std::uint32_t unit = 8; unit < 10; ++unit) {
      if (command->opcode == TLMSSD_WRITE) {
        tlmssd_take(host, command, unit, unit - 8);
      } else {
        tlmssd_deliver(host, command, unit, unit - 8);
      }
    }
    tlmssd_complete(host, command, TLMSSD_SUCCESS);
  };
  const DriveShape shape = small_shape();
  FakeHardware hardware(shape, {.timed = true});
  const std::vector<ParameterSpec> parameters;
  foreign::CFirmware adapter(firmware, NoValues{}, {hardware.ports, shape}, parameters);
  const std::array<Stamp, 2> written = {make_stamp(8, 1), make_stamp(9, 1)};
  std::array<Stamp, 2> data = written;
  HostCommand command;
  command.lba = 8;
  command.blocks = 2;
  command.set_data(data);
  const auto read = [&] {
    command.opcode = HostOpcode::read;
    data = {};
    adapter.submit(command);
    return data;
  };
  command.opcode = HostOpcode::write;
  adapter.submit(command);
  CHECK(read() == written);
  CHECK(adapter.power_cycle());
  const std::array<Stamp, 2> left = read();
  CHECK(left[0] != written[0]);
  CHECK(left[1] != written[1]);
}

TEST_CASE("structs of firmware in C that say no size, or too small a one, are refused as that") {
  for (const std::size_t size : {std::size_t{0}, offsetof(tlmssd_firmware, quiet) - 1}) {
    tlmssd_firmware firmware = idle_firmware();
    firmware.size = size;
    CHECK_THROWS_WITH(
        add_c_firmware(firmware, "acme 1"),
        fmt::format("acme 1: its struct tlmssd_firmware says a size of {} bytes, less than the {} that each "
                    "has; write .size = sizeof(struct tlmssd_firmware)",
                    size, offsetof(tlmssd_firmware, quiet)));
    CHECK(refused_read([size](tlmssd_flash& r) { r.size = size % sizeof r; }) ==
          fmt::format("{}by a struct that says a size of {} bytes, less than {}; write .size = sizeof(struct "
                      "tlmssd_flash)",
                      k_order, size % sizeof(tlmssd_flash), sizeof(tlmssd_flash)));
  }
}

TEST_CASE("firmware in C programs no units that there are not, but in pages of a map") {
  const auto programs = [](std::uint32_t unit, tlmssd_purpose purpose) {
    return refused([&](tlmssd_host* host, tlmssd_command*) {
      const std::vector<std::uint32_t> lpns(1024, unit);
      tlmssd_flash request = one_unit();
      request.lpns = lpns.data();
      request.purpose = purpose;
      tlmssd_program(host, &request, done, nullptr);
    });
  };
  CHECK(programs(63, TLMSSD_FOR_HOST).empty());
  CHECK(programs(TLMSSD_NO_UNIT, TLMSSD_FOR_HOST).empty());
  CHECK(programs(64, TLMSSD_FOR_MAP).empty());
  for (const std::uint32_t unit : {64U, k_most - 1}) {
    CHECK(
        programs(unit, TLMSSD_FOR_GC) ==
        fmt::format("firmware acme: programs unit {} of 64; only pages with TLMSSD_FOR_MAP may have numbers "
                    "of their own",
                    unit));
  }
}

TEST_CASE("what firmware in C says of itself in a call that it answers at once is heard") {
  static tlmssd_host* host;
  tlmssd_firmware firmware = idle_firmware();
  firmware.create = [](tlmssd_host* own, const tlmssd_shape*) -> void* { return host = own; };
  firmware.report = [](void*, tlmssd_report*) { tlmssd_fail(host, "in report"); };
  firmware.reset_statistics = [](void*) { tlmssd_fail(host, "in reset"); };
  firmware.read_only = [](void*) { return tlmssd_fail(host, "in read_only"), 0; };
  firmware.describe_stall = [](void*, char*, std::size_t) {
    return tlmssd_fail(host, "in describe_stall"), std::size_t{0};
  };
  const DriveShape shape = small_shape();
  FakeHardware hardware(shape, {.timed = true});
  const std::vector<ParameterSpec> parameters;
  {
    foreign::CFirmware adapter(firmware, NoValues{}, {hardware.ports, shape}, parameters);
    test::NumbersSink sink;
    std::string text;
    CHECK_THROWS_WITH(adapter.report(sink), "firmware acme: in report");
    CHECK_THROWS_WITH(adapter.reset_statistics(), "firmware acme: in reset");
    CHECK_THROWS_WITH(adapter.read_only(), "firmware acme: in read_only");
    CHECK_THROWS_WITH(adapter.describe_stall(text), "firmware acme: in describe_stall");
  }
  firmware.buffers = [](void*) { return tlmssd_fail(host, "in buffers"), 4U; };
  CHECK_THROWS_WITH(foreign::CFirmware(firmware, NoValues{}, {hardware.ports, shape}, parameters),
                    "firmware acme: in buffers");
}

}  // namespace tlmssd::firmware::testing
