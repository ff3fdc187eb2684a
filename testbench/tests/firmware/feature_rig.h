// A small drive with one feature, whose units are written and read one after another.
#pragma once

#include "testbench/tests/firmware/model_host.h"
#include "testbench/tests/support/given.h"
#include "testbench/tests/support/statistics_of.h"

namespace tlmssd::firmware::testing {

/// What a rig's constructor fills in before there is a drive.
struct FeatureSetup {
  template <class Fill>
  explicit FeatureSetup(Fill&& fill) {
    shape.program_unit = 2;
    config.buffer.capacity = Bytes{64} * 4096;
    options.timed = true;
    fill(*this);
  }
  DriveShape shape;
  FirmwareConfig config;
  FakeOptions options;
};

template <class F>
struct FeatureRig : FeatureSetup, ModelRig {
  /// `fill(setup)` chooses geometry, size and the feature.
  template <class Fill>
  explicit FeatureRig(Fill&& fill)
      : FeatureSetup(std::forward<Fill>(fill)), ModelRig(static_cast<FeatureSetup&>(*this)) {}

  /// Writes so many units from the first on, and lets them come to flash.
  void write_units(std::uint64_t first, std::uint64_t count) {
    for (std::uint64_t unit = first; unit < first + count; ++unit) {
      host.write(unit * k_unit, k_unit);
      host.wait_below(8);
    }
    host.drain();
  }
  /// Reads one command's units; how long it took.
  Picoseconds read(std::uint64_t unit, std::uint32_t units = 1) {
    const Picoseconds start = hw.event_queue.now();
    host.read(unit * k_unit, units * k_unit);
    host.wait_below(1);
    return hw.event_queue.now() - start;
  }
  /// Reads the first units, each by itself, so many times.
  void read_each(std::uint64_t units, int times) {
    for (int n = 0; n < times; ++n) {
      for (std::uint64_t unit = 0; unit < units; ++unit) read(unit);
    }
  }
  /// Reads and writes of the first units, drawn at random, a dozen at a time.
  void work(std::uint64_t units, int commands, std::uint64_t reads_in_ten = 5) {
    for (int n = 0; n < commands; ++n) {
      const std::uint64_t unit = host.random.below(units);
      if (host.random.below(10) < reads_in_ten) {
        host.read(unit * k_unit, k_unit);
      } else {
        host.write(unit * k_unit, k_unit);
      }
      host.wait_below(12);
    }
    host.drain();
  }
  /// Writes the units of one program, and returns the die that is busy with it.
  std::uint32_t program_units(std::uint64_t first, std::uint64_t count) {
    for (std::uint64_t unit = first; unit < first + count; ++unit) host.write(unit * k_unit, k_unit);
    for (;;) {
      hw.event_queue.run_until(hw.event_queue.next());
      for (std::uint32_t die = 0; die < shape.geometry.dies(); ++die) {
        if (hw.flash.writing(static_cast<DieId>(die)) == 0) continue;
        hw.event_queue.run_until(hw.event_queue.now() + options.program_time / 4);
        return die;
      }
    }
  }
  /// On which a unit lies.
  [[nodiscard]] std::uint32_t die_of(std::uint64_t unit) const {
    const Layout& layout = ftl.blocks().layout();
    return index(layout.die_of(layout.pu_of(layout.block_of(ftl.map().lookup(static_cast<Lpn>(unit)))), 0));
  }
  /// The first unit from `unit` on that lies on `die`; there must be one.
  [[nodiscard]] std::uint64_t first_on(std::uint32_t die, std::uint64_t unit = 0) const {
    while (die_of(unit) != die) ++unit;
    return unit;
  }
  /// Reads units of the die that programs, while those of all other dies cannot be decoded.
  void read_where_others_fail(std::uint32_t busy, std::uint32_t units) {
    hw.flash.fails = [busy](const FlashOp& op) { return index(op.die) != busy; };
    read(first_on(busy), units);
  }
  [[nodiscard]] const FtlStatistics& stats() const { return ftl.statistics(); }
  [[nodiscard]] const typename F::Counters& counters() const {
    return dynamic_cast<const F&>(*ftl.feature(F::k_path)).counters();
  }
  /// What the feature reports, by its group's name and the value's.
  [[nodiscard]] std::map<std::string, double> reported() const {
    return test::statistics_of(*ftl.feature(F::k_path));
  }
};

}  // namespace tlmssd::firmware::testing
