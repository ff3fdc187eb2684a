// Unloaded latency: one command on a drive at rest takes exactly the sum of its parts, to the
// picosecond, and each part is charged to its cause (latency_parts.h computes them).
#include <systemc>

#include <catch2/catch.hpp>

#include "testbench/tests/drive/latency_parts.h"

namespace tlmssd::drive_tests {
namespace {

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
             check.parts().fetch().command().translate(1).map(1).buffer(1).complete(lba));
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
  // Force unit access does what write-through does. The fill and the flush took pages 0 to 4 of
  // channel 0.
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
  // A program unit is 3 pages in each of 2 planes: 24 mapping pages.
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
