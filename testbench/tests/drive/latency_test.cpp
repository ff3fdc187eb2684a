// Unloaded latency: one command on a drive at rest takes exactly the sum of its parts, to the picosecond, and each part is
// charged to its cause. The parts are computed here from the configuration alone: link, core cycles, bus and DRAM closed forms,
// bus phases and array times of the flash.
#include <systemc>

#include <algorithm>
#include <catch2/catch.hpp>

#include "models/host/link.h"
#include "models/nand/bus_timing.h"
#include "testbench/tests/drive/support.h"

namespace tlmssd::drive_tests {
namespace {

constexpr std::uint32_t k_map_entry = 4;  // bytes of a map entry
constexpr Bytes k_nvme_range = 16;        // of one range of a dataset management command
constexpr Bytes k_ata_block = 512;        // that carries ranges of a data set management command

/// What one command should cost, cause by cause.
class Parts {
 public:
  explicit Parts(const SsdConfig& config)
      : config_(config),
        link_(config.host),
        bus_(config.part, config.flash.bus_rate(), config.firmware.mapping.unit),
        sata_(config.host.protocol == "sata") {}

  void add(Cause cause, Picoseconds time) { spent_[static_cast<std::size_t>(cause)] += time; }
  [[nodiscard]] Picoseconds of(Cause cause) const { return spent_[static_cast<std::size_t>(cause)]; }
  [[nodiscard]] Picoseconds total() const {
    Picoseconds sum = 0;
    for (const Picoseconds part : spent_) sum += part;
    return sum;
  }

  /// From submission until the entry is in; then `data` bytes over the link and, of a write, into DRAM meanwhile.
  Parts& fetch(Bytes data = 0, bool to_memory = false) {
    add(Cause::link,
        sata_ ? link_.entry_time() + link_.latency()
              : link_.doorbell() + link_.request_time() + link_.entry_time() + 2 * link_.latency());
    if (data == 0) return *this;
    const auto direction = LinkDirection::to_device;
    Picoseconds wire = link_.wire_time(link_.data_wire_bytes(direction, data));
    if (sata_) wire += link_.wire_time(link_.control_wire_bytes(direction, data)) - link_.request_time();
    add(Cause::link, link_.request_time() + 2 * link_.latency() + wire);
    if (to_memory) add(Cause::memory, std::max<Picoseconds>(memory(data) - wire, 0));
    return *this;
  }
  Parts& stage(std::uint32_t cycles, std::uint32_t times = 1) {
    add(Cause::firmware, cycle_time(std::uint64_t{cycles} * times, config_.cpu.clock));
    return *this;
  }
  Parts& command() { return stage(config_.cpu.cycles.command); }
  Parts& translate(std::uint32_t units) { return stage(config_.cpu.cycles.translate, units); }
  Parts& buffer(std::uint32_t units) { return stage(config_.cpu.cycles.buffer, units); }
  Parts& flash(std::uint32_t operations) { return stage(config_.cpu.cycles.flash, operations); }
  Parts& map(std::uint32_t units) {
    add(Cause::map_fetch, memory(Bytes{k_map_entry} * units));
    return *this;
  }
  Parts& copy(Bytes bytes) {
    add(Cause::memory, memory(bytes));
    return *this;
  }
  /// Read of slots [first, first + count) of a page.
  Parts& sense(PageId page, std::uint32_t first, std::uint32_t count, std::uint32_t planes = 1) {
    add(Cause::flash_command, bus_.read_command(planes));
    add(Cause::sense, config_.part.read_time(page));
    const BusTiming::Phase out = bus_.data_out(first, count);
    add(Cause::flash_command, out.command);
    add(Cause::transfer, out.data);
    add(Cause::memory, std::max<Picoseconds>(memory(count * config_.firmware.mapping.unit) - out.total(), 0));
    return *this;
  }
  /// Program of one program unit whose first page is `page`.
  Parts& program(PageId page, std::uint32_t planes = 1) {
    const std::uint32_t pages = config_.part.pages_per_program();
    const BusTiming::Phase in = bus_.data_in(planes * pages);
    const Bytes bytes = planes * pages * config_.part.page_size;
    add(Cause::memory, std::max<Picoseconds>(memory(bytes) - in.total(), 0));
    add(Cause::flash_command, in.command + bus_.status());
    add(Cause::transfer, in.data);
    for (std::uint32_t p = 0; p < pages; ++p)
      add(Cause::program, config_.part.program_time(PageId{index(page) + p}));
    return *this;
  }
  /// Completion, with `data` bytes of read payload before it.
  Parts& complete(Bytes data = 0) {
    stage(config_.cpu.cycles.complete);
    if (data > 0) {
      const auto direction = LinkDirection::to_host;
      const Picoseconds wire = link_.wire_time(link_.control_wire_bytes(direction, data)) +
                               link_.wire_time(link_.data_wire_bytes(direction, data));
      add(Cause::link, wire);
      add(Cause::memory, std::max<Picoseconds>(memory(data) - wire, 0));
    }
    add(Cause::link, link_.completion_time() + link_.latency() + config_.host.interrupt_latency);
    return *this;
  }
  [[nodiscard]] Bytes range_bytes() const { return sata_ ? k_ata_block : k_nvme_range; }

 private:
  /// One access over the system bus, cut-through: the slower of bus and DRAM governs.
  [[nodiscard]] Picoseconds memory(Bytes bytes) const {
    return config_.bus.latency +
           std::max(transfer_time(bytes, config_.bus.bandwidth()),
                    transfer_time(bytes, config_.dram.bandwidth) + config_.dram.latency);
  }
  SsdConfig config_;
  Link link_;
  BusTiming bus_;
  bool sata_;
  std::array<Picoseconds, k_causes> spent_{};
};

/// Pages of 16 KiB hold four mapping units, so that a single unit stays in the write buffer until it is flushed out.
SsdConfig drive(const std::string& link, Bytes lba) {
  SsdConfig config;
  config.host.link = link;
  config.host.protocol = link.starts_with("sata") ? "sata" : "nvme";
  config.host.lba_size = lba;
  config.cpu.clock = 333'000'000;  // no whole number of picoseconds per cycle
  config.dram.capacity = 64_MiB;
  config.flash.channels = 2;
  config.flash.ways = 1;
  config.part.planes = 1;
  config.part.blocks_per_plane = 24;
  config.part.pages_per_block = 12;
  config.part.page_size = 16384;
  config.part.spare_size = 1872;
  config.part.cell = "mlc";
  config.part.read_latency = {50'000'001, 90'000'007};
  config.part.program_latency = {400'000'003, 1'300'000'001};
  config.capacity.over_provisioning = 0.6;
  config.firmware.buffer.capacity = 1_MiB;
  config.firmware.gc.background_start = 0;
  return config;
}

void compare(const Seen& seen, const Parts& parts, const std::string& what) {
  INFO(what);
  CHECK(seen.status == HostStatus::success);
  for (std::size_t c = 0; c < k_causes; ++c) {
    INFO("cause: " << name_of(static_cast<Cause>(c)));
    CHECK(seen.ledger.spent(static_cast<Cause>(c)) == parts.of(static_cast<Cause>(c)));
  }
  CHECK(seen.latency == parts.total());
}

/// Runs steps at rest and compares each with its parts.
class Check {
 public:
  explicit Check(const SsdConfig& config) : config_(config), simulation_(config) {}
  [[nodiscard]] Parts parts() const { return Parts(config_); }
  Simulation& simulation() { return simulation_; }
  void step(const std::string& what, const Step& step, const Parts& parts) {
    const std::vector<Seen> seen = run_unloaded(simulation_, {step});
    REQUIRE(seen.size() == 1);
    compare(seen.front(), parts, what);
  }
  /// Sequential fill from the drive's start: unit n lies in slot n % 4 of a page.
  void fill(Bytes bytes) { run_untimed(simulation_, {.rw = "write", .bs = 64_KiB, .size = bytes}); }

 private:
  SsdConfig config_;
  Simulation simulation_;
};

constexpr PageId k_page0{0};
constexpr PageId k_page1{1};

void reads(const SsdConfig& config) {
  Check check(config);
  check.fill(128_KiB);  // pages 0 to 3 of one block on each channel
  const Bytes lba = config.host.lba_size;
  check.step("one logical block of the second unit of page 0", {HostOpcode::read, 4096, lba},
             check.parts().fetch().command().translate(1).map(1).flash(1).sense(k_page0, 1, 1).complete(lba));
  check.step(
      "one unit of page 1 on the first channel", {HostOpcode::read, 32_KiB, 4096},
      check.parts().fetch().command().translate(1).map(1).flash(1).sense(k_page1, 0, 1).complete(4096));
  check.step(
      "a whole page", {HostOpcode::read, 16_KiB, 16_KiB},
      check.parts().fetch().command().translate(4).map(4).flash(1).sense(k_page0, 0, 4).complete(16_KiB));
  check.step("a unit that was never written", {HostOpcode::read, 1_MiB, 4096},
             check.parts().fetch().command().translate(1).map(1).complete(4096));
  check.step("a write that stays in the buffer", {HostOpcode::write, 1_MiB, 4096},
             check.parts().fetch(4096, true).command().buffer(1).complete());
  check.step("a read from the buffer", {HostOpcode::read, 1_MiB, lba},
             check.parts().fetch().command().translate(1).map(1).buffer(1).copy(lba).complete(lba));
}

void others(const SsdConfig& config) {
  Check check(config);
  check.fill(128_KiB);
  const Parts idle = check.parts().fetch().command().complete();
  check.step("a flush with nothing to write out", {HostOpcode::flush, 0, 0}, idle);
  check.step("a write that stays in the buffer", {HostOpcode::write, 0, 4096},
             check.parts().fetch(4096, true).command().buffer(1).complete());
  check.step("a flush of one unit", {HostOpcode::flush, 0, 0},
             check.parts().fetch().command().flash(1).program(PageId{4}).complete());
  check.step("a trim of three units", {HostOpcode::trim, 16_KiB, 12_KiB},
             check.parts().fetch(check.parts().range_bytes()).command().translate(3).complete());
  check.step("write zeroes of two units", {HostOpcode::write_zeroes, 32_KiB, 8_KiB},
             check.parts().fetch().command().translate(2).complete());
  check.step("a trimmed unit", {HostOpcode::read, 16_KiB, 4096},
             check.parts().fetch().command().translate(1).map(1).complete(4096));
  // Force unit access does what write-through does. The fill and the flush took pages 0 to 4 of channel 0.
  check.step("a write with force unit access", {HostOpcode::write, 0, 4096, true},
             check.parts().fetch(4096, true).command().buffer(1).flash(1).program(PageId{4}).complete());
}

void write_through(SsdConfig config) {
  config.firmware.buffer.mode = "write-through";
  Check check(config);
  const Bytes lba = config.host.lba_size;
  check.step("the first unit", {HostOpcode::write, 0, 4096},
             check.parts().fetch(4096, true).command().buffer(1).flash(1).program(k_page0).complete());
  check.step("a whole page", {HostOpcode::write, 64_KiB, 16_KiB},
             check.parts().fetch(16_KiB, true).command().buffer(4).flash(1).program(k_page0).complete());
  if (lba < 4096) {
    // The rest of the unit comes from page 0 first: read-modify-write.
    check.step("one logical block of a unit that lies on flash", {HostOpcode::write, 512, 512},
               check.parts()
                   .fetch(512, true)
                   .command()
                   .buffer(1)
                   .flash(1)
                   .sense(k_page0, 0, 1)
                   .flash(1)
                   .program(k_page1)
                   .complete());
  }
}

}  // namespace

TEST_CASE("unloaded reads, NVMe, 4 KiB blocks", "[drive]") {
  reads(drive("pcie3x4", 4096));
}
TEST_CASE("unloaded reads, NVMe, 512 B blocks", "[drive]") {
  reads(drive("pcie4x2", 512));
}
TEST_CASE("unloaded reads, SATA, 4 KiB blocks", "[drive]") {
  reads(drive("sata3", 4096));
}
TEST_CASE("unloaded reads, SATA, 512 B blocks", "[drive]") {
  reads(drive("sata6", 512));
}
TEST_CASE("unloaded flush, trim, write zeroes and forced writes, NVMe", "[drive]") {
  others(drive("pcie3x4", 512));
}
TEST_CASE("unloaded flush, trim, write zeroes and forced writes, SATA", "[drive]") {
  others(drive("sata6", 4096));
}
TEST_CASE("unloaded writes through the buffer, NVMe, 4 KiB blocks", "[drive]") {
  write_through(drive("pcie6x16", 4096));
}
TEST_CASE("unloaded writes through the buffer, NVMe, 512 B blocks", "[drive]") {
  write_through(drive("pcie1x1", 512));
}
TEST_CASE("unloaded writes through the buffer, SATA", "[drive]") {
  write_through(drive("sata3", 512));
}

TEST_CASE("unloaded latency where DRAM is slower than link and channel", "[drive]") {
  SsdConfig config = drive("pcie5x16", 4096);
  config.dram.bandwidth = 20'000'000;
  config.dram.latency = 777'777;
  reads(config);
}

TEST_CASE("unloaded writes where DRAM is slower than the channel", "[drive]") {
  SsdConfig config = drive("pcie5x16", 4096);
  config.dram.bandwidth = 15'000'000;
  write_through(config);
}

TEST_CASE("unloaded latency of a multi-plane word line", "[drive]") {
  SsdConfig config = drive("pcie3x4", 4096);
  config.part.cell = "tlc";
  config.part.planes = 2;
  config.part.read_latency = {40'000'000, 60'000'000, 80'000'000};
  config.part.program_latency = {500'000'000, 700'000'000, 900'000'000};
  config.part.program_unit = "word-line";
  config.firmware.allocation.multi_plane = true;
  Check check(config);
  // A program unit is 3 pages in each of 2 planes: 24 mapping units.
  check.step("a write that stays in the buffer", {HostOpcode::write, 0, 96_KiB - 4096},
             check.parts().fetch(96_KiB - 4096, true).command().buffer(23).complete());
  check.step("a flush of a word line, padded", {HostOpcode::flush, 0, 0},
             check.parts().fetch().command().flash(1).program(k_page0, 2).complete());
  check.step(
      "both planes of the second page", {HostOpcode::read, 32_KiB, 32_KiB},
      check.parts().fetch().command().translate(8).map(8).flash(1).sense(k_page1, 0, 8, 2).complete(32_KiB));
  check.step(
      "the second plane of the third page", {HostOpcode::read, 80_KiB, 4096},
      check.parts().fetch().command().translate(1).map(1).flash(1).sense(PageId{2}, 0, 1).complete(4096));
}

}  // namespace tlmssd::drive_tests
