#include "testbench/host/file_cache/file_cache_config.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <fmt/format.h>
#include <utility>

#include "models/base/input_error.h"
#include "models/base/types.h"

namespace tlmssd {

using namespace literals;

namespace {

/// Loads address the drive's blocks and those of the files together, in units that have a number
/// each.
void check_files(const FileCacheConfig& config, const FileCacheShape& shape, const AttachedDrive& drive,
                 std::uint64_t unit_blocks) {
  const std::uint64_t most_blocks = (std::uint64_t{k_no_unit} - 1) * unit_blocks;
  const std::uint64_t most = (most_blocks - std::min(shape.drive_blocks, most_blocks)) / shape.file_blocks;
  if (config.files <= most) return;
  const std::string what = fmt::format(
      "{} files of {} B are more than can be told apart, {} units of {} B together with the drive",
      config.files, config.file_size, k_no_unit - 1, unit_blocks * drive.lba_bytes);
  if (most == 0) throw objection("file_cache.files", what);
  throw refusal("file_cache.files", what, std::to_string(most));
}

}  // namespace

const ParameterTable<FileCacheConfig>& FileCacheConfig::parameters() {
  static const auto table =
      ParameterTable<FileCacheConfig>{}
          .integer("files", &FileCacheConfig::files, {1, 16'000'000},
                   "files on the network, which a load with target: files reads")
          .shapes_state()
          .bytes("file_size", &FileCacheConfig::file_size, {512, 1_GiB},
                 "size of every file; with apps, of the largest")
          .shapes_state()
          .share("space", &FileCacheConfig::space, {0.0001, 0.99},
                 "share of the user capacity set aside for copies; loads see the rest as their drive")
          .shapes_state()
          .bandwidth("bandwidth", &FileCacheConfig::bandwidth, {1000, 1'000'000'000'000},
                     "of the network, for all files together, one after another")
          .time("latency", &FileCacheConfig::latency, {0, 1000_s},
                "of the network, from a file's turn to its first byte")
          .time("cost", &FileCacheConfig::cost, {0, 1_s},
                "time of the host's software for each access to a file");
  return table;
}

std::shared_ptr<const AppFiles> make_app_files(const FileCacheConfig& config, std::uint32_t lba_bytes) {
  if (!config.apps) return nullptr;
  return std::make_shared<AppFiles>(*config.apps, config.files, config.file_size, lba_bytes, config.seed);
}

FileCacheShape file_cache_shape(const FileCacheConfig& config, const AttachedDrive& drive) {
  if (config.file_size % drive.lba_bytes != 0) {
    const Bytes unit = config.file_size < 4_KiB ? drive.lba_bytes : std::max<Bytes>(drive.lba_bytes, 4_KiB);
    throw refusal("file_cache.file_size",
                  fmt::format("{} B are no whole logical blocks of {} B", config.file_size, drive.lba_bytes),
                  fmt::format("{} B", std::max<Bytes>((config.file_size + unit / 2) / unit, 1) * unit));
  }
  const Bytes user = drive.blocks * drive.lba_bytes;
  const auto region = static_cast<Bytes>(config.space * static_cast<double>(user));
  const Bytes slots = std::min<Bytes>(region / config.file_size, config.files);
  if (slots == 0) {
    const double least = static_cast<double>(config.file_size) / static_cast<double>(user);
    // A power of two, which requests of most sizes divide.
    const Bytes fits = std::bit_floor(std::max<Bytes>(region, drive.lba_bytes));
    throw refusal(
        "file_cache.space",
        fmt::format("{:.4g} % of {} B hold no file of {} B", config.space * 100, user, config.file_size),
        least < 0.5 ? Proposal{"file_cache.space", fmt::format("{:.4g} %", std::ceil(least * 1e4) / 100)}
                    : Proposal{"file_cache.file_size", fmt::format("{} B", fits)});
  }
  // The region begins with a unit of its own, so that copies share none with the data of other
  // loads.
  const std::uint64_t unit_blocks = std::max<Bytes>(drive.mapping_page / drive.lba_bytes, 1);
  FileCacheShape shape;
  shape.drive_blocks = (drive.blocks - region / drive.lba_bytes) / unit_blocks * unit_blocks;
  shape.file_blocks = static_cast<std::uint32_t>(config.file_size / drive.lba_bytes);
  shape.all_blocks = std::uint64_t{config.files} * shape.file_blocks;
  shape.slots = static_cast<std::uint32_t>(slots);
  if (shape.drive_blocks == 0) throw refusal("file_cache.space", "nothing is left for loads", "90 %");
  check_files(config, shape, drive, unit_blocks);
  return shape;
}

DriveSize files_space(const FileCacheConfig& config, const FileCacheShape& shape, std::uint32_t lba_bytes,
                      std::shared_ptr<const AppFiles> apps) {
  DriveSize space{shape.all_blocks * lba_bytes, lba_bytes, shape.drive_blocks, config.file_size};
  space.apps = std::move(apps);
  return space;
}

}  // namespace tlmssd
