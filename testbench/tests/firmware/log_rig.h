// A drive with log blocks or block-mapped regions on hardware that counts, and a host that knows
// what it must read.
//
// Unless a test says otherwise there is one parallel unit whose pages hold one mapping page each,
// so that a host write of one unit is one program at once.
#pragma once

#include <memory>
#include <string>

#include "firmware/logblocks/log_scheme.h"
#include "testbench/tests/firmware/model_host.h"
#include "testbench/tests/support/given.h"

namespace tlmssd::firmware::testing {

struct LogSetup {
  explicit LogSetup(std::string scheme, std::uint32_t blocks = 40, std::uint32_t pages = 16) {
    config.mapping.scheme = std::move(scheme);
    config.buffer.capacity = 64 * 4096;
    shape.geometry = {1, 1, 1, 1, blocks, pages, 4096, 0};
  }
  DriveShape shape;
  FirmwareConfig config;
  FakeOptions options;
  std::int64_t logs = 4;           ///< log blocks of a parallel unit
  std::int64_t adjacent = 1;       ///< block-mapped regions of a superblock
  std::int64_t update_blocks = 2;  ///< that a superblock may have
  Bytes block = 0;                 ///< of the scheme block-mapped
  std::string placement = "address";
  bool copyback = false;          ///< what keeps its die is copied there
  std::uint64_t data_blocks = 0;  ///< capacity in erase blocks; 0: `fill` of the most there may be
  double fill = 1.0;

  /// Makes the values that the configuration points at, and the capacity.
  void finish() {
    map_ = Given({{"log_blocks", whole(logs)},
                  {"adjacent", whole(adjacent)},
                  {"update_blocks", whole(update_blocks)},
                  {"block", whole(static_cast<std::int64_t>(block))},
                  {"placement", Value(placement)},
                  {"copyback", Value(copyback)},
                  {"cache", whole(800)}});
    config.mapping_policy = borrowed(map_);
    const std::uint64_t most = Ftl::largest_logical_blocks(shape, config);
    shape.logical_blocks = data_blocks > 0 ? data_blocks * block_units() * 8
                                           : static_cast<std::uint64_t>(fill * static_cast<double>(most));
  }
  [[nodiscard]] std::uint32_t block_units() const { return Layout(shape, config.allocation).block_units; }

 private:
  Given map_;
};

class LogRig {
 public:
  explicit LogRig(LogSetup& setup, std::uint64_t seed = 1) : LogRig(setup, (setup.finish(), seed), 0) {}

  void write_unit(std::uint64_t unit) { host.write(unit * 8, 8); }
  /// Writes whole block-mapped regions from `first` on, unit by unit.
  void write_blocks(std::uint64_t first, std::uint64_t count) {
    for (std::uint64_t unit = first * units; unit < (first + count) * units; ++unit) write_unit(unit);
  }
  /// Nothing is counted any more of what was until now.
  void start_counting() {
    ftl.reset_statistics();
    programs_before_ = hw.flash.programs;
  }
  [[nodiscard]] const MergeCounts& merges() const { return ftl.map().log_scheme()->counts(); }
  [[nodiscard]] const FtlStatistics& statistics() const { return ftl.statistics(); }
  [[nodiscard]] std::uint64_t programs() const { return hw.flash.programs - programs_before_; }
  [[nodiscard]] std::uint64_t copies() const { return copied_for(Purpose::gc); }
  [[nodiscard]] std::uint64_t copied_for(Purpose purpose) const {
    return statistics().units_programmed[static_cast<std::size_t>(purpose)];
  }

  FakeHardware hw;
  Ftl ftl;
  ModelHost host;
  std::uint64_t units;   ///< of a block-mapped region
  std::uint64_t blocks;  ///< block-mapped regions of the drive

 private:
  LogRig(LogSetup& setup, std::uint64_t seed, int)
      : hw(setup.shape, setup.options),
        ftl(hw.ports, setup.shape, setup.config),
        host(hw, ftl, setup.shape, seed),
        units(setup.block_units()),
        blocks(setup.shape.logical_blocks / 8 / units) {}
  std::uint64_t programs_before_ = 0;
};

}  // namespace tlmssd::firmware::testing
