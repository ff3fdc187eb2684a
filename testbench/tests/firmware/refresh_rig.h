// A small drive of which is watched what refresh moves.
#pragma once

#include <set>

#include "testbench/tests/firmware/model_host.h"
#include "testbench/tests/support/given.h"

namespace tlmssd::firmware::testing {

inline constexpr std::size_t k_refresh = static_cast<std::size_t>(Purpose::refresh);
/// Units of the block that holds a unit: those that move with it.
inline constexpr std::uint32_t k_block_units = 16;

struct RefreshRig {
  /// `configure` chooses the policies; `fill` is the share of the largest drive that the host sees.
  template <class Configure>
  RefreshRig(bool timed, double fill, Configure configure)
      : hw(make(timed, fill, configure), options), ftl(hw.ports, shape, config), host(hw, ftl, shape, 1) {}
  template <class Configure>
  const DriveShape& make(bool timed, double fill, Configure configure) {
    shape.geometry = {2, 1, 1, 2, 14, 8, 8192, 0};
    shape.frames_per_unit = 4;
    config.buffer.capacity = 32 * 4096;
    config.ecc.policy = "fixed";
    configure(config);
    options.timed = timed;
    shape.logical_blocks =
        static_cast<std::uint64_t>(fill * static_cast<double>(Ftl::largest_logical_blocks(shape, config))) /
        k_unit * k_unit;
    return shape;
  }
  [[nodiscard]] std::uint64_t units() const { return shape.logical_blocks / k_unit; }
  void fill() {
    for (std::uint64_t lba = 0; lba < shape.logical_blocks; lba += 64) {
      host.write(lba, static_cast<std::uint32_t>(std::min<std::uint64_t>(64, shape.logical_blocks - lba)));
      host.wait_below(8);
    }
    host.drain();
  }
  void read(std::uint64_t unit, int times = 1) {
    for (int i = 0; i < times; ++i) {
      host.read(unit * k_unit, k_unit);
      host.wait_below(1);
    }
  }
  /// Watches which units are moved for refresh from now on, and how many erases the blocks have
  /// that they go to.
  std::set<Lpn>& watch() {
    moved.clear();
    went_to.clear();
    hw.flash.watch = [this](const FlashOp& op) {
      if (op.command != FlashCommand::program || op.purpose != Purpose::refresh) return;
      for (std::uint32_t i = 0; i < op.slots; ++i) {
        if (op.spare[i] != k_no_unit) moved.insert(op.spare[i]);
      }
      went_to.push_back(hw.flash.erases(index(op.die), index(op.plane), index(op.block)));
    };
    return moved;
  }
  [[nodiscard]] const FtlStatistics& stats() const { return ftl.statistics(); }

  DriveShape shape;
  FirmwareConfig config;
  FakeOptions options;
  FakeHardware hw;
  Ftl ftl;
  ModelHost host;
  std::set<Lpn> moved;
  std::vector<std::uint32_t> went_to;
};

}  // namespace tlmssd::firmware::testing
