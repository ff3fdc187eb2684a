// Host, file cache and a drive that is nothing but a memory, with a protocol checker on both sides
// of the cache.
#pragma once

#include <systemc>

#include "testbench/host/file_cache/file_cache.h"
#include "testbench/tests/drive/mixed_load.h"
#include "testbench/tests/support/given.h"
#include "testbench/tests/support/layer_checkers.h"
#include "testbench/tests/support/memory_drive.h"

namespace tlmssd::filecache_tests {

using namespace literals;
using drive_tests::MemoryDrive;

struct RigOptions {
  FileCacheConfig cache;
  std::map<std::string, Value, std::less<>> policy = {};  ///< parameters of the admission policy
  /// The pSLC is always twice as large as what of it is free.
  std::function<std::optional<Bytes>()> free_pslc = [] { return std::optional<Bytes>(); };
  Bytes drive_bytes = 8_MiB;
  std::uint32_t lba_bytes = 4096;
  Bytes max_transfer = 32_KiB;
  std::uint32_t queues = 3;
  std::uint32_t queue_depth = 8;
  MemoryDrive::Options drive;
};

/// `files` files of 64 KiB, of which `slots` fit into the cache. The network takes 1 ms and 655.36
/// us for a file.
inline RigOptions small_cache(const std::string& admission, std::uint32_t files, std::uint32_t slots) {
  RigOptions options;
  options.cache.admission = admission;
  options.cache.files = files;
  options.cache.file_size = 64_KiB;
  options.cache.space = (slots + 0.5) * 64 / (8 * 1024);
  options.cache.latency = 1_ms;
  options.cache.bandwidth = 100'000'000;
  options.cache.cost = 7_us;
  return options;
}

class Rig {
 public:
  explicit Rig(const RigOptions& options)
      : given(options.policy),
        process("event_queue", event_queue),
        cache("file_cache", config(options, given), attached(options), event_queue,
              [free = options.free_pslc]() -> std::optional<PslcRoom> {
                const std::optional<Bytes> now = free();
                if (!now) return {};
                return PslcRoom{2 * *now, *now};
              }),
        drive("drive", event_queue, drive_options(options)),
        scoreboard(cache.blocks() + cache.file_blocks(), 1),
        driver("host_driver", event_queue, process, drive_tests::driver_config(options), scoreboard) {
    drive.free_for_all = cache.blocks();
    checkers.bind(driver, cache, drive);
    lba = options.lba_bytes;
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    driver.set_completion_hook([this](const Completed& done) {
      seen.push_back({done.opcode, done.status, done.completed - done.submitted, *done.ledger});
    });
  }
  [[nodiscard]] DriveSize size() const { return {cache.blocks() * lba, lba}; }
  /// Without what is known of apps.
  [[nodiscard]] DriveSize files() const {
    DriveSize files = cache.files();
    files.apps = nullptr;
    return files;
  }
  /// Reads of whole files, `depth` at a time.
  [[nodiscard]] Load reads(const std::vector<FileNumber>& sequence, std::uint32_t depth = 1) const {
    const Bytes bytes = files().file_size;
    std::vector<drive_tests::Step> steps;
    for (const FileNumber file : sequence) steps.push_back({HostOpcode::read, file * bytes, bytes});
    return drive_tests::script(steps, files(), depth);
  }
  void run(std::vector<Load>& loads) {
    Measurement measurement(std::vector<std::string>(loads.size(), "load"));
    driver.start(loads, measurement);
    process.simulate();
    if (!driver.finished()) throw Stalled(driver.describe_outstanding());
    process.simulate();  // what the cache does beside the loads
    if (!cache.at_rest()) throw Stalled("the file cache does not come to rest");
  }
  void run(Load load) {
    std::vector<Load> loads = drive_tests::one(std::move(load));
    run(loads);
  }
  void run_untimed(Load load) {
    std::vector<Load> loads = drive_tests::one(std::move(load));
    driver.run_untimed(loads);
  }
  [[nodiscard]] std::string violations() { return checkers.violations(); }

  Given given;
  std::uint32_t lba = 0;
  EventQueue event_queue;
  EventQueueProcess process;
  FileCache cache;
  MemoryDrive drive;
  Scoreboard scoreboard;
  HostDriver driver;
  drive_tests::LayerCheckers checkers;
  std::vector<drive_tests::Seen> seen;  ///< timed commands, as they ended

 private:
  static FileCacheConfig config(const RigOptions& options, const Given& given) {
    FileCacheConfig config = options.cache;
    config.admission_policy = borrowed(given);
    return config;
  }
  static AttachedDrive attached(const RigOptions& options) {
    return {options.drive_bytes / options.lba_bytes,
            options.lba_bytes,
            options.max_transfer,
            options.queues,
            options.queue_depth,
            4096};
  }
  static MemoryDrive::Options drive_options(const RigOptions& options) {
    MemoryDrive::Options drive = options.drive;
    drive.blocks = options.drive_bytes / options.lba_bytes;
    drive.lba_bytes = options.lba_bytes;
    drive.most_blocks = options.max_transfer / options.lba_bytes;
    drive.queue_depth = options.queue_depth;
    return drive;
  }
};

}  // namespace tlmssd::filecache_tests
