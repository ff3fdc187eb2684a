// Host, log-structured host layer and a drive that is nothing but a memory, with a protocol checker
// on both sides of the log-structured host layer.
#pragma once

#include <systemc>

#include "testbench/host/log_structured/log_structured_layer.h"
#include "testbench/tests/drive/mixed_load.h"
#include "testbench/tests/support/layer_checkers.h"
#include "testbench/tests/support/memory_drive.h"

namespace tlmssd::log_structured_tests {

using namespace literals;
using drive_tests::MemoryDrive;

struct RigOptions {
  LogStructuredConfig log_structured;
  std::uint64_t segments = 16;
  std::uint32_t lba_bytes = 512;
  Bytes max_transfer = 128_KiB;
  std::uint32_t queues = 3;
  std::uint32_t queue_depth = 8;
  MemoryDrive::Options drive;
};

/// Small log: 16 segments of 64 KiB.
inline RigOptions small_log() {
  RigOptions options;
  options.log_structured.segment = 64_KiB;
  options.log_structured.spare = 0.25;
  return options;
}

class Rig {
 public:
  explicit Rig(const RigOptions& options)
      : lba_bytes(options.lba_bytes),
        process("event_queue", event_queue),
        log_structured("log_structured", options.log_structured, converted(options), event_queue),
        drive("drive", event_queue, drive_options(options)),
        scoreboard(log_structured.blocks(),
                   static_cast<std::uint32_t>(options.log_structured.grain / options.lba_bytes)),
        driver("host_driver", event_queue, process, drive_tests::driver_config(options), scoreboard) {
    checkers.bind(driver, log_structured, drive);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }
  [[nodiscard]] DriveSize size() const { return {log_structured.blocks() * lba_bytes, lba_bytes}; }

  void run(std::vector<Load>& loads) {
    Measurement measurement(std::vector<std::string>(loads.size(), "load"));
    driver.start(loads, measurement);
    process.simulate();
    if (!driver.finished()) {
      std::string text = driver.describe_outstanding() + "\n";
      log_structured.describe_stall(text);
      throw Stalled(text);
    }
    settle();
  }
  /// What the log-structured host layer does beside the loads.
  void settle() {
    process.simulate();
    if (!log_structured.at_rest()) throw Stalled("the log-structured host layer does not come to rest");
  }
  void run(Load load) {
    std::vector<Load> loads = drive_tests::one(std::move(load));
    run(loads);
  }
  void run_untimed(Load load) {
    std::vector<Load> loads = drive_tests::one(std::move(load));
    driver.run_untimed(loads);
  }
  /// No rule of the protocol was broken, and everything has ended.
  [[nodiscard]] std::string violations() { return checkers.violations(); }

  std::uint32_t lba_bytes;
  EventQueue event_queue;
  EventQueueProcess process;
  LogStructuredLayer log_structured;
  MemoryDrive drive;
  Scoreboard scoreboard;
  HostDriver driver;
  drive_tests::LayerCheckers checkers;

 private:
  static AttachedDrive converted(const RigOptions& options) {
    // A piece at the end that is no whole segment: it must not be touched.
    const std::uint64_t segment_blocks = options.log_structured.segment / options.lba_bytes;
    return {options.segments * segment_blocks + segment_blocks / 2, options.lba_bytes, options.max_transfer,
            options.queues, options.queue_depth};
  }
  static MemoryDrive::Options drive_options(const RigOptions& options) {
    MemoryDrive::Options drive = options.drive;
    drive.segment_blocks = options.log_structured.segment / options.lba_bytes;
    drive.blocks = options.segments * drive.segment_blocks;
    drive.lba_bytes = options.lba_bytes;
    drive.most_blocks = options.max_transfer / options.lba_bytes;
    drive.queue_depth = options.queue_depth;
    return drive;
  }
};

}  // namespace tlmssd::log_structured_tests
