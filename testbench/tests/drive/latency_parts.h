// The sum of parts that an unloaded command should take, computed from the configuration alone:
// link, core cycles, closed forms of bus, DRAM and SCM, bus phases and array times of the flash.
#pragma once

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <functional>
#include <utility>

#include "models/host/link.h"
#include "models/nand/bus_timing.h"
#include "testbench/tests/drive/support.h"

namespace tlmssd::drive_tests {

inline constexpr std::uint32_t k_map_entry = 4;  // bytes of a map entry
inline constexpr Bytes k_nvme_range = 16;        // of one range of a dataset management command
inline constexpr Bytes k_ata_block = 512;        // that carries ranges of a data set management command
inline constexpr PageId k_page0{0};
inline constexpr PageId k_page1{1};

/// How long the DRAM takes at rest for so many bytes.
using DramTime = std::function<Picoseconds(Bytes)>;

/// What one command should cost, cause by cause.
class Parts {
 public:
  /// `dram`: of a memory from outside; empty: the drive's own.
  explicit Parts(const SsdConfig& config, DramTime dram = {})
      : config_(config),
        dram_(std::move(dram)),
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

  /// From submission until the entry is in; then `data` bytes over the link and, of a write, into
  /// DRAM meanwhile.
  Parts& fetch(Bytes data = 0, bool to_memory = false) {
    add(Cause::link,
        sata_ ? link_.entry_time()
              : link_.doorbell() + link_.request_time() + link_.entry_time() + 2 * link_.latency());
    if (data == 0) return *this;
    const auto direction = LinkDirection::to_device;
    Picoseconds wire = link_.data_time(direction, data);
    if (sata_) wire += link_.control_time(direction, data) - link_.request_time();
    add(Cause::link, link_.request_time() + link_.round_trip() + wire);
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
  /// Entries in the host memory buffer: a read request of 26 B, a completion of 22 B and the
  /// entries.
  Parts& map_in_host(std::uint32_t units) {
    const Bytes bytes = Bytes{k_map_entry} * units;
    const Picoseconds link = link_.wire_time(26) + 2 * config_.host.link_latency +
                             config_.host.memory_latency + link_.wire_time(22 + bytes);
    add(Cause::map_fetch,
        config_.bus.latency + std::max(transfer_time(bytes, config_.bus.bandwidth()), link));
    return *this;
  }
  /// Data between SCM and the command's buffer in DRAM: both accesses start together, and the bus
  /// grants SCM first.
  Parts& scm_copy(Bytes bytes, bool write) {
    const Picoseconds on_bus = transfer_time(bytes, config_.bus.bandwidth());
    const Picoseconds scm = config_.bus.latency + std::max(on_bus, scm_time(bytes, write));
    add(Cause::memory, std::max(scm, on_bus + memory(bytes)));
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
      const Picoseconds wire = link_.control_time(direction, data) + link_.data_time(direction, data);
      add(Cause::link, wire);
      add(Cause::memory, std::max<Picoseconds>(memory(data) - wire, 0));
    }
    add(Cause::link, link_.completion_time() + link_.arrival() + config_.host.interrupt_latency);
    return *this;
  }
  [[nodiscard]] Bytes range_bytes() const { return sata_ ? k_ata_block : k_nvme_range; }

 private:
  /// One access over the system bus, cut-through: the slower of bus and DRAM governs.
  [[nodiscard]] Picoseconds memory(Bytes bytes) const {
    const Picoseconds dram =
        dram_ ? dram_(bytes) : transfer_time(bytes, config_.dram.bandwidth) + config_.dram.latency;
    return config_.bus.latency + std::max(transfer_time(bytes, config_.bus.bandwidth()), dram);
  }
  /// One access of an SCM at rest: the slower of interface and banks, which work in parallel sector
  /// by sector.
  [[nodiscard]] Picoseconds scm_time(Bytes bytes, bool write) const {
    const ScmConfig& scm = *config_.scm;
    const Bytes sectors = bytes / 512;
    const Picoseconds latency = write ? scm.program_latency : scm.read_latency;
    const Picoseconds banks = static_cast<Picoseconds>((sectors + scm.banks - 1) / scm.banks) * latency;
    return std::max(transfer_time(bytes, scm.bandwidth) + latency, banks + transfer_time(512, scm.bandwidth));
  }
  SsdConfig config_;
  DramTime dram_;
  Link link_;
  BusTiming bus_;
  bool sata_;
  std::array<Picoseconds, k_causes> spent_{};
};

/// Pages of 16 KiB hold four mapping pages, so that a single unit stays in the write buffer until
/// it is flushed out.
inline SsdConfig drive(const std::string& link, Bytes lba) {
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

inline void compare(const Seen& seen, const Parts& parts, const std::string& what) {
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
  explicit Check(const SsdConfig& config, DramTime dram = {})
      : config_(config), dram_(std::move(dram)), simulation_(config) {}
  [[nodiscard]] Parts parts() const { return Parts(config_, dram_); }
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
  DramTime dram_;
  Simulation simulation_;
};

}  // namespace tlmssd::drive_tests
