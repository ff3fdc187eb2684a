// Scenario section `file_cache`: software of the host that keeps copies of the network's files on
// the drive.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "models/base/chosen_policy.h"
#include "testbench/host/drive_port.h"
#include "testbench/loads/requests/app_files.h"
#include "testbench/loads/requests/placement.h"

namespace tlmssd {

struct FileCacheConfig {
  std::uint32_t files = 1000;
  Bytes file_size = Bytes{1} << 20U;
  double space = 0.10;
  BytesPerSecond bandwidth = 40'000'000;
  Picoseconds latency = 20'000'000'000;
  Picoseconds cost = 10'000'000;
  static const ParameterTable<FileCacheConfig>& parameters();

  std::string admission = "all";  ///< name of the policy
  PolicyValues admission_policy;
  std::optional<AppFilesConfig> apps;  ///< section `file_cache.apps`; without it all files are alike
  std::uint64_t seed = 1;              ///< the scenario's
};

/// How such a cache lies on a drive, in logical blocks.
struct FileCacheShape {
  std::uint64_t drive_blocks = 0;  ///< that loads see as their drive; the cache's region begins behind them
  std::uint32_t file_blocks = 0;
  std::uint64_t all_blocks = 0;  ///< of all files on the network, which lie behind the drive's blocks
  std::uint32_t slots = 0;       ///< files that fit into the region
};
/// Throws InputError, which begins with the key, when sizes do not fit each other.
FileCacheShape file_cache_shape(const FileCacheConfig& config, const AttachedDrive& drive);
/// What is known of the files; null: nothing. Throws InputError as file_cache_shape().
std::shared_ptr<const AppFiles> make_app_files(const FileCacheConfig& config, std::uint32_t lba_bytes);
/// The network's files as loads see them.
DriveSize files_space(const FileCacheConfig& config, const FileCacheShape& shape, std::uint32_t lba_bytes,
                      std::shared_ptr<const AppFiles> apps);

}  // namespace tlmssd
