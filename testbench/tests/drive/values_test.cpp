// A drive whose configuration was filled in by hand refuses values that no scenario could have, by
// the scenario's key.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "testbench/tests/drive/support.h"

namespace tlmssd::drive_tests {
namespace {

struct BadValue {
  const char* key;
  void (*plant)(SsdConfig& config);
};

constexpr BadValue k_bad_values[] = {
    {"ssd.host.queues", [](SsdConfig& config) { config.host.queues = 0; }},
    {"ssd.host.queue_depth", [](SsdConfig& config) { config.host.queue_depth = 0; }},
    {"ssd.host.lba_size", [](SsdConfig& config) { config.host.lba_size = 0; }},
    {"ssd.host.lba_size", [](SsdConfig& config) { config.host.lba_size = 1000; }},
    {"ssd.host.max_transfer", [](SsdConfig& config) { config.host.max_transfer = 0; }},
    {"ssd.host.protocol", [](SsdConfig& config) { config.host.protocol = "scsi"; }},
    {"ssd.host.link", [](SsdConfig& config) { config.host.link = "pcie3x3"; }},
    {"ssd.cpu.cores", [](SsdConfig& config) { config.cpu.cores = 0; }},
    {"ssd.cpu.clock", [](SsdConfig& config) { config.cpu.clock = 0; }},
    {"ssd.cpu.assignment.gc",
     [](SsdConfig& config) {
       config.cpu.assignment.gc = {0, 999};
     }},
    {"ssd.cpu.assignment.gc", [](SsdConfig& config) { config.cpu.assignment.gc = {9}; }},
    {"ssd.dram.capacity", [](SsdConfig& config) { config.dram.capacity = 0; }},
    {"ssd.dram.bandwidth", [](SsdConfig& config) { config.dram.bandwidth = 0; }},
    {"ssd.dram.latency", [](SsdConfig& config) { config.dram.latency = -1; }},
    {"ssd.scm.banks", [](SsdConfig& config) { config.scm = ScmConfig{.banks = 0}; }},
    {"ssd.bus.width", [](SsdConfig& config) { config.bus.width = 0; }},
    {"ssd.bus.clock", [](SsdConfig& config) { config.bus.clock = 0; }},
    {"ssd.flash.channels", [](SsdConfig& config) { config.flash.channels = 0; }},
    {"ssd.flash.ways", [](SsdConfig& config) { config.flash.ways = 0; }},
    {"ssd.flash.dies_per_way", [](SsdConfig& config) { config.flash.dies_per_way = 0; }},
    {"ssd.flash.bus", [](SsdConfig& config) { config.flash.bus = 0; }},
    {"ssd.flash.gang",
     [](SsdConfig& config) {
       config.flash.organisation = "shared-bus-gang";
       config.flash.gang = 0;
     }},
    {"ssd.flash.over_provisioning", [](SsdConfig& config) { config.capacity.over_provisioning = NAN; }},
    {"ssd.flash.over_provisioning", [](SsdConfig& config) { config.capacity.over_provisioning = -1; }},
    {"ssd.flash.spare_factor", [](SsdConfig& config) { config.capacity.spare_factor = 1.5; }},
    {"ssd.flash.part.planes", [](SsdConfig& config) { config.part.planes = 0; }},
    {"ssd.flash.part.blocks_per_plane", [](SsdConfig& config) { config.part.blocks_per_plane = 0; }},
    {"ssd.flash.part.pages_per_block", [](SsdConfig& config) { config.part.pages_per_block = 0; }},
    {"ssd.flash.part.page_size", [](SsdConfig& config) { config.part.page_size = 0; }},
    {"ssd.flash.part.read_latency", [](SsdConfig& config) { config.part.read_latency = {}; }},
    {"ssd.flash.part.read_latency", [](SsdConfig& config) { config.part.read_latency = {-5}; }},
    {"ssd.flash.ecc.frame", [](SsdConfig& config) { config.ecc.frame = 0; }},
    {"ssd.flash.ecc.engines", [](SsdConfig& config) { config.ecc.engines = 0; }},
    {"firmware.mapping.unit", [](SsdConfig& config) { config.firmware.mapping.unit = 0; }},
    {"firmware.buffer.capacity", [](SsdConfig& config) { config.firmware.buffer.capacity = 0; }},
    {"firmware.gc.background_stop", [](SsdConfig& config) { config.firmware.gc.background_stop = NAN; }},
};

/// Keys of what is refused about the drive; none: it was made.
std::vector<std::string> refused_keys(const SsdConfig& config) {
  std::vector<std::string> keys;
  try {
    const Ssd drive("drive", config);
  } catch (const InputError& error) {
    for (const InputError& one : errors_of(error)) keys.push_back(one.complaint().key);
  }
  return keys;
}

}  // namespace

TEST_CASE("a drive configured by hand refuses impossible values by their keys") {
  for (const BadValue& bad : k_bad_values) {
    SsdConfig config = small_drive();
    bad.plant(config);
    const std::vector<std::string> keys = refused_keys(config);
    INFO(bad.key);
    REQUIRE(!keys.empty());
    CHECK(std::find(keys.begin(), keys.end(), bad.key) != keys.end());
  }
  SsdConfig several = small_drive();
  several.cpu.cores = 0;
  several.flash.ways = 0;
  CHECK(refused_keys(several) == std::vector<std::string>{"ssd.cpu.cores", "ssd.flash.ways"});
  CHECK(refused_keys(small_drive()).empty());
}

TEST_CASE("a drive configured by hand offers what its spare factor leaves") {
  SsdConfig config = small_drive();
  config.capacity.over_provisioning = 0.25;
  const std::uint64_t units = config.shape().logical_blocks;
  config.capacity.over_provisioning = 3;
  CHECK(config.shape().logical_blocks < units);
  config.capacity.spare_factor = 0.2;
  CHECK(config.shape().logical_blocks == units);
}

TEST_CASE("a drive configured by hand says what a value may be") {
  SsdConfig config = small_drive();
  config.cpu.cores = 0;
  CHECK_THROWS_WITH(Ssd("drive", config), "ssd.cpu.cores: 0 is out of range: must be 1 to 256");
}

}  // namespace tlmssd::drive_tests
