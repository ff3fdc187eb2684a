// Sequential fills whose outcome is known without writing them, beside the same written page by
// page.
#include <filesystem>
#include <string>
#include <vector>

#include "testbench/tests/program/report.h"

namespace tlmssd::program_tests {
namespace {

struct Drive {
  std::string part = "planes: 1";
  std::string flash = "";     ///< more of ssd.flash
  std::string firmware = "";  ///< sections of it
  std::string buffer = "{capacity: 4 MiB}";
  std::string lba = "4 KiB";
  std::string fill = "{fill: 100 %, order: sequential}";
};

std::string scenario_of(const Drive& drive, const std::string& rest) {
  return "title: fill\nssd:\n  host: {lba_size: " + drive.lba +
         ", link: pcie3x4}\n  flash:\n    channels: 2\n    ways: 2\n    bus: 800 MT/s\n    spare_factor: 25 "
         "%\n" +
         drive.flash + "    part: {blocks_per_plane: 40, pages_per_block: 36, page_size: 16 KiB, " +
         drive.part + "}\nfirmware:\n  buffer: " + drive.buffer + "\n" + drive.firmware +
         "precondition:\n- " + drive.fill + "\n" + rest;
}

const std::string k_load = "load: {rw: randrw, rwmixread: 50, bs: 4k, iodepth: 16, number_ios: 15000}\n";
const std::string k_aged =
    "- {overwrite: 30 %}\n- {trim: 10 %}\nage: {cycles: 50, retention: 10 d, reads: 3}\n" + k_load;

std::string text(const Folder& folder, const std::string& name) {
  return read_file(folder.path() / name / "report.json");
}

std::uintmax_t run_into(const Folder& folder, const std::string& scenario, const std::string& name,
                        std::vector<std::string> more) {
  more.insert(more.end(), {"--save-snapshot", folder / (name + ".snapshot")});
  static_cast<void>(report_of(folder, scenario, name, more));
  return fs::file_size(folder / (name + ".snapshot"));
}

/// Both ways come to the same bytes, in runs from snapshots too. `known`: whether the fill is one
/// that need not be written.
void both_ways(const Drive& drive, bool known = true) {
  for (const std::string& rest : {k_load, k_aged}) {
    const Folder folder;
    const std::string scenario = folder.write("s.yaml", scenario_of(drive, rest));
    INFO(read_file(scenario));
    const std::uintmax_t small = run_into(folder, scenario, "known", {});
    const std::uintmax_t large = run_into(folder, scenario, "pages", {"--fill-by-pages"});
    CHECK(text(folder, "known") == text(folder, "pages"));
    CHECK((small < large) == known);
    for (const std::string name : {"known", "pages"})
      static_cast<void>(
          report_of(folder, scenario, "from " + name, {"--from-snapshot", folder / (name + ".snapshot")}));
    CHECK(text(folder, "from known") == text(folder, "from pages"));
  }
}

}  // namespace

TEST_CASE("a fill that is not written leaves what a written one leaves: plain drive", "[program]") {
  both_ways({});
}
TEST_CASE("a fill that is not written leaves what a written one leaves: planes together, word lines",
          "[program]") {
  both_ways({.part = "planes: 4, cell: tlc, program_unit: word-line",
             .firmware = "  allocation: {multi_plane: true}\n  mapping: {unit: 4 KiB}\n",
             .lba = "512 B"});
}
TEST_CASE("a fill that is not written leaves what a written one leaves: stripes, blocks as a whole",
          "[program]") {
  both_ways({.part = "planes: 2, program_unit: block",
             .firmware = "  allocation: {multi_plane: true, stripe: C, order: WPDC}\n"
                         "  mapping: {unit: 8 KiB}\n  gc: {policy: cost-benefit}\n",
             .fill = "{fill: 70 %, order: sequential, bs: 48 KiB}"});
}
TEST_CASE("a fill that is not written leaves what a written one leaves: planes apart, full buffer",
          "[program]") {
  both_ways({.part = "planes: 2",
             .flash = "    dies_per_way: 2\n",
             .firmware = "  allocation: {multi_plane: false, order: PDWC}\n  gc: {policy: fifo}\n"
                         "  wear: {policy: static}\n",
             .fill = "{fill: 100 %, order: sequential, bs: 2 MiB}"});
}
TEST_CASE("a fill that is not written leaves what a written one leaves: wrong bits", "[program]") {
  both_ways({.flash = "    reliability: {model: power-law}\n",
             .firmware = "  ecc: {policy: retry-only, code: bch}\n  gc: {policy: random}\n"});
}
TEST_CASE("a fill that is not written leaves what a written one leaves: features", "[program][figure]") {
  SECTION("refresh and placement") {
    both_ways({.firmware = "  refresh: {policy: read-regions, reads: 200, region_reads: 50, patrol: 1 h}\n"
                           "  placement: {policy: little-worn}\n"});
  }
  SECTION("tuned pass voltage") {
    both_ways({.flash = "    reliability: {model: power-law}\n",
               .firmware = "  ecc: {policy: retry-only, code: bch}\n  pass_voltage: {policy: tuned}\n"});
  }
  SECTION("pacing") {
    both_ways({.firmware = "  pacing: {policy: proportional}\n"});
  }
  SECTION("pacing with hardly any spare blocks") {
    both_ways({.part = "planes: 2",
               .firmware = "  pacing: {policy: credit, free_blocks: 3}\n  gc: {background_start: 80 %, "
                           "background_stop: 90 %}\n"});
  }
  SECTION("replicas") {
    both_ways({.firmware = "  replicas: {policy: hot-reads, capacity: 4 MiB, reads: 2}\n"});
  }
  SECTION("read dies") {
    both_ways({.firmware = "  partition: {policy: read-write}\n"});
  }
  SECTION("read dies that are always kept from writes") {
    both_ways({.firmware = "  partition: {policy: read-write, placement_from: 0 %}\n"}, false);
  }
  SECTION("placement handles, data of one together") {
    both_ways({.part = "planes: 2", .firmware = "  streams: {policy: persistently-isolated, handles: 2}\n"});
  }
}
TEST_CASE("a fill that is not written leaves what a written one leaves: writes that wait for flash",
          "[program]") {
  both_ways({.buffer = "{capacity: 4 MiB, mode: write-through}"});
}
TEST_CASE("a full drive is full to its last block, whatever the size of a write", "[program]") {
  const std::string reads =
      "load: {rw: randread, bs: 4k, iodepth: 16, number_ios: 20000, norandommap: false}\n";
  for (const std::string order : {"sequential", "random"}) {
    const Folder folder;
    const std::string fill = "{fill: 100 %, bs: 1 MiB, order: " + order + "}";
    const auto report = report_of(folder, folder.write("s.yaml", scenario_of({.fill = fill}, reads)), order);
    const auto& firmware = report.at("statistics").at("firmware");
    CHECK(firmware.at("unmapped_reads").at("value") == 0);  // of 67.5 MiB
  }
}

TEST_CASE("fills are written where something has a part in them", "[program][figure]") {
  SECTION("the table in flash") {
    both_ways({.firmware = "  mapping: {scheme: dftl}\n"}, false);
  }
  SECTION("writes that wait for parts of program units") {
    both_ways({.part = "planes: 2",
               .firmware = "  allocation: {multi_plane: true}\n",
               .buffer = "{capacity: 4 MiB, mode: write-through}",
               .fill = "{fill: 100 %, order: sequential, bs: 16 KiB}"},
              false);
  }
  SECTION("parts of mapping pages") {
    both_ways(
        {.firmware = "  mapping: {unit: 16 KiB}\n", .fill = "{fill: 100 %, order: sequential, bs: 20 KiB}"},
        false);
  }
  SECTION("random order") {
    both_ways({.fill = "{fill: 100 %, order: random}"}, false);
  }
}

}  // namespace tlmssd::program_tests
