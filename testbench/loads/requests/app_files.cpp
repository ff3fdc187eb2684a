#include "testbench/loads/requests/app_files.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <fmt/format.h>

#include "models/base/input_error.h"
#include "models/base/mixing.h"

namespace tlmssd {

namespace {

struct Reads {
  std::uint32_t least;  ///< after the first
  double more;          ///< beyond these, on average
};
constexpr Reads k_reads[k_file_classes] = {{0, 0.7}, {1, 1}, {2, 4}};
constexpr std::uint32_t k_long_periods = 4;  ///< longest active period, over that of transient files
/// Reads that fall due together come a little late: active periods keep this far from the bounds.
constexpr double k_off_bounds = 0.1;

}  // namespace

const ParameterTable<AppFilesConfig>& AppFilesConfig::parameters() {
  static const auto table =
      ParameterTable<AppFilesConfig>{}
          .integer("number", &AppFilesConfig::number, {1, 1000}, "apps that fetch files, in turns")
          .shapes_state()
          .share("burst_reading", &AppFilesConfig::burst_reading, {0, 1},
                 "share of files that are read for up to burst accesses after they came")
          .shapes_state()
          .share("long_living", &AppFilesConfig::long_living, {0, 1},
                 "share of files that are still read after transient accesses; the others are transient")
          .shapes_state()
          .share("told", &AppFilesConfig::told, {0, 1},
                 "share of files whose class their app and kind tell; the others have any, by the shares")
          .shapes_state()
          .integer("burst", &AppFilesConfig::burst, {2, 1'000'000},
                   "longest active period of burst-reading files, in accesses to whatever file")
          .integer("transient", &AppFilesConfig::transient, {4, 100'000'000},
                   "longest active period of transient files; long-living ones have up to four times that")
          .integer("rest", &AppFilesConfig::rest, {1, 100'000'000},
                   "accesses on average between the last read of a file and its deletion by the app")
          .integer("session", &AppFilesConfig::session, {1, 1'000'000},
                   "new files on average before it is another app's turn");
  return table;
}

AppFiles::AppFiles(const AppFilesConfig& config, std::uint32_t files, Bytes file_size,
                   std::uint32_t lba_bytes, std::uint64_t seed)
    : config_(config), files_(files), file_size_(file_size), lba_bytes_(lba_bytes), seed_(seed) {
  if (config.burst_reading + config.long_living > 1) {
    throw refusal("file_cache.apps.long_living",
                  fmt::format("{:.4g} % of files beside {:.4g} % burst-reading ones are more than all",
                              config.long_living * 100, config.burst_reading * 100),
                  fmt::format("{:.4g} %", std::floor((1 - config.burst_reading) * 1e4) / 100));
  }
  if (config.transient < 2 * std::uint64_t{config.burst}) {
    throw refusal("file_cache.apps.transient",
                  fmt::format("{} accesses are less than twice the {} of burst-reading files",
                              config.transient, config.burst),
                  fmt::format("{}", 2 * std::uint64_t{config.burst}));
  }
  if (files < config.number) {
    throw refusal("file_cache.apps.number", fmt::format("{} apps have only {} files", config.number, files),
                  fmt::format("{}", files));
  }
}

std::uint64_t AppFiles::chance(About about, std::uint64_t number) const {
  const std::uint64_t z = seed_ * k_golden + (number << 3U) + static_cast<std::uint64_t>(about);
  return mixed(mixed(z + k_golden) + k_golden);
}

std::uint32_t AppFiles::kind(FileNumber file) const {
  return static_cast<std::uint32_t>(chance(About::kind, file) % k_kinds);
}

std::uint32_t AppFiles::size_class(FileNumber file) const {
  const std::uint32_t wobble = static_cast<std::uint32_t>(chance(About::size, file) % 3);  // 1: none
  return std::clamp(kind(file) + wobble, 1U, k_sizes) - 1;
}

std::uint32_t AppFiles::blocks(FileNumber file) const {
  return static_cast<std::uint32_t>(std::max<Bytes>((file_size_ / lba_bytes_) >> size_class(file), 1));
}

FileClass AppFiles::by_share(double ticket) const {
  if (ticket < config_.burst_reading) return FileClass::burst_reading;
  return ticket < 1 - config_.long_living ? FileClass::transient : FileClass::long_living;
}

FileClass AppFiles::file_class(FileNumber file) const {
  if (share(About::follows, file) >= config_.told) return by_share(share(About::own, file));
  return by_share(share(About::leading, std::uint64_t{app(file)} * k_kinds + kind(file)));
}

// ---- lives

FileLives::FileLives(const AppFiles& files, std::uint64_t seed)
    : files_(files),
      random_(seed, "lives of files"),
      alive_(files.files()),
      living_(files.config().number),
      cursor_(files.config().number) {}

std::uint64_t FileLives::geometric(double mean) {
  return static_cast<std::uint64_t>(std::log(1 - random_.uniform()) / std::log(mean / (1 + mean)));
}

/// A file that does not live, of the app whose turn it is; nothing: all files of all apps live.
std::optional<FileNumber> FileLives::take_file() {
  const std::uint32_t apps = files_.config().number;
  if (random_.below(files_.config().session) == 0) app_ = static_cast<std::uint32_t>(random_.below(apps));
  for (std::uint32_t n = 0; n < apps; ++n) {
    const std::uint32_t app = (app_ + n) % apps;
    const std::uint32_t all = files_of(app);
    if (living_[app] == all) continue;
    for (;;) {
      const FileNumber file = app + apps * cursor_[app];
      cursor_[app] = cursor_[app] + 1 == all ? 0 : cursor_[app] + 1;
      if (!alive_[file]) return file;
    }
  }
  return {};
}

void FileLives::live(FileNumber file) {
  alive_[file] = true;
  ++living_[files_.app(file)];
  const AppFilesConfig& config = files_.config();
  const auto of_class = static_cast<std::size_t>(files_.file_class(file));
  const double transient = config.transient;
  const double bounds[] = {0, static_cast<double>(config.burst), transient, k_long_periods * transient};
  const double low = bounds[of_class] * (1 + k_off_bounds);
  const double high = bounds[of_class + 1] * (1 - k_off_bounds);
  const std::uint64_t reads = k_reads[of_class].least + geometric(k_reads[of_class].more);
  std::uint64_t period = 0;
  if (reads > 0) period = static_cast<std::uint64_t>(low + (high - low) * random_.uniform()) + 1;
  for (std::uint64_t n = 1; n < reads; ++n) plan(now_ + 1 + random_.below(period), file, false);
  if (reads > 0) plan(now_ + period, file, false);
  const double rest = -std::log(1 - random_.uniform()) * config.rest;
  plan(now_ + period + 1 + static_cast<std::uint64_t>(rest), file, true);
}

FileLives::Event FileLives::next() {
  if (due_.empty() || due_.top().at > now_) {
    if (const auto file = take_file()) {
      live(*file);
      ++now_;
      return {*file, false};
    }
  }
  const Due due = due_.top();
  due_.pop();
  now_ = std::max(now_, due.at);
  if (due.event.deletes) {
    alive_[due.event.file] = false;
    --living_[files_.app(due.event.file)];
  } else {
    ++now_;
  }
  return due.event;
}

}  // namespace tlmssd
