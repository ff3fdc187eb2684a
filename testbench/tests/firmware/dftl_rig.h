// A small drive with the map in flash, of which the tests count what its cache of entries does.
#pragma once

#include <algorithm>
#include <string>

#include "firmware/mapping/dftl.h"
#include "testbench/tests/firmware/model_host.h"
#include "testbench/tests/support/given.h"

namespace tlmssd::firmware::testing {

/// Units of one logical block of 512 B, so a map page holds 128 entries.
struct DftlSetup {
  DriveShape shape;
  FirmwareConfig config;
  FakeOptions options;
  Given values;

  explicit DftlSetup(std::int64_t lines, std::int64_t line = 1, bool segmented = false, bool batch = true,
                     const char* cache_in = "dram")
      : values({{"cache", whole(8 * lines * (line > 0 ? line : 128))},
                {"cache_in", Value(std::string(cache_in))},
                {"line", whole(line)},
                {"segmented_lru", Value(segmented)},
                {"batch_update", Value(batch)}}) {
    shape.geometry = {1, 1, 1, 1, 256, 16, 512, 0};
    shape.mapping_page_bytes = 512;
    shape.logical_blocks = 20 * 128;
    config.mapping.unit = 512;
    config.mapping.scheme = "dftl";
    config.mapping_policy = borrowed(values);
    config.buffer.capacity = 16 * 512;
    config.gc.background_start = 0;
  }
  DftlSetup(const DftlSetup&) = delete;
};

struct DftlRig : ModelRig {
  explicit DftlRig(DftlSetup& setup, std::uint64_t seed = 1)
      : ModelRig(setup, seed), blocks(setup.shape.logical_blocks) {}
  /// Writes the whole drive.
  void fill() {
    for (std::uint64_t lba = 0; lba < blocks; lba += 8) {
      host.write(lba, static_cast<std::uint32_t>(std::min<std::uint64_t>(8, blocks - lba)));
      host.wait_below(1);
    }
    host.drain();
  }
  /// Evicts whatever is dirty by reading units from the drive's end, until the cache holds nothing
  /// but those.
  void rinse(std::uint32_t lines) {
    for (std::uint32_t n = 0; n < 2 * lines + 2; ++n) {
      host.read(blocks - 1 - n % (lines + 1), 1);
      host.wait_below(1);
    }
    host.drain();
    ftl.reset_statistics();
  }
  Picoseconds lasts(std::uint64_t lba, std::uint32_t count = 1) {
    const Picoseconds start = hw.event_queue.now();
    host.read(lba, count);
    host.wait_below(1);
    return hw.event_queue.now() - start;
  }
  /// Whether the read of a unit found its entry in the cache.
  bool hits(std::uint64_t unit) {
    const std::uint64_t before = map().misses;
    host.read(unit, 1);
    host.wait_below(1);
    return map().misses == before;
  }
  [[nodiscard]] const DftlStatistics& map() const {
    return dynamic_cast<const Dftl&>(ftl.map()).statistics();
  }
  [[nodiscard]] std::uint64_t map_reads() const {
    return ftl.statistics().reads[static_cast<std::size_t>(Purpose::map)];
  }
  [[nodiscard]] std::uint64_t map_units() const {
    return ftl.statistics().units_programmed[static_cast<std::size_t>(Purpose::map)];
  }
  std::uint64_t blocks;
};

}  // namespace tlmssd::firmware::testing
