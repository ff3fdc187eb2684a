// Scenarios in which tests plant what the adviser and the findings are to tell.
#pragma once

#include <string>
#include <vector>

#include "testbench/tests/program/report.h"

namespace tlmssd::program_tests {

/// Well chosen: written all over, measured long enough, every speed that may limit chosen.
inline const std::string k_sound = R"(title: sound
ssd:
  host: {lba_size: 4 KiB, link: pcie3x4}
  bus: {clock: 800 MHz}
  flash:
    channels: 2
    ways: 2
    bus: 800 MT/s
    user_capacity: 128 MiB
    spare_factor: 20 %
    part: {planes: 1, pages_per_block: 16, page_size: 4 KiB}
firmware: {buffer: {capacity: 1 MiB}}
precondition: [{fill: 100 %}, {overwrite: 3x, order: random}]
load: {rw: randrw, rwmixread: 50, bs: 4k, iodepth: 8, loops: 100, ramp_requests: 20000, number_ios: 70000}
)";

using Settings = std::vector<std::string>;

inline Json run_with(const Settings& settings, const std::string& text = k_sound) {
  const Folder folder;
  return report_of(folder, folder.write("s.yaml", text), "out", set_options(settings));
}

/// A scenario with two loads: one that matters, and its neighbour.
inline std::string with_neighbour(const std::string& neighbour) {
  return replaced(k_sound, "load: {", "load:\n  - {name: oltp, ") + "  - {" + neighbour + "}\n";
}

/// A drive of four or sixteen dies that no wait below is for.
inline std::string drive_with(const std::string& flash, const std::string& rest) {
  return "ssd:\n  host: {lba_size: 4 KiB}\n  dram: {bandwidth: 50 GB/s}\n  flash: {" + flash + "}\n" + rest;
}
inline std::string flash_of(const std::string& size, const std::string& part) {
  return size + ", part: {cell: slc, pages_per_block: 64, " + part + "}";
}
inline const std::string k_fill = "precondition: [{fill: 100 %, order: sequential}]\n";

/// Four dies of TLC, written in order.
inline const std::string k_tlc_drive = R"(ssd:
  host: {link: pcie4x4, lba_size: 4 KiB}
  flash: {channels: 2, ways: 2, user_capacity: 512 MiB, spare_factor: 28 %, part: {file: parts/nand/tlc-48l.yaml, pages_per_block: 144}}
precondition: [{fill: 100 %, order: sequential}]
)";

}  // namespace tlmssd::program_tests
