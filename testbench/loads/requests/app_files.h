// Files that apps of a phone fetch over the network: a synthetic population, and the lives of its
// files.
//
// Classes, by how long a file is read after it has come (active period): burst-reading, transient
// and long-living, as Liang et al. have them ("Differentiating Cache Files for Fine-grain
// Management", HotStorage 2020, where the first is called burn-after-reading; CacheSifter, FAST
// 2022) (S). Their shares, how many reads a file gets and when, how large files are, and how much
// an app and a kind of file tell of the class are assumptions (A).
//
// Everything of a file follows from its number and the seed. Its app is the number modulo the apps;
// kinds have typical sizes, from a whole file_size down to a 32nd of it. The files of an app and a
// kind have a leading class, drawn by the shares; `told` of them have that class, the rest one
// drawn by the shares, so that the shares hold on average whatever is told.
//
// A life begins with the first read and goes on for the active period, in reads of whatever file:
// burst-reading up to `burst` with 0.7 more reads on average, transient from there to `transient`
// with 2, long-living from there to four times that with 6. A while later, `rest` reads on
// average, the app deletes the file, and its number may live again. Apps take turns of `session`
// new files on average. The load is in balance: a life begins whenever no read of another is due.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <queue>
#include <vector>

#include "models/base/parameters.h"
#include "models/base/random.h"
#include "models/base/types.h"

namespace tlmssd {

using FileNumber = std::uint32_t;

enum class FileClass : std::uint8_t { burst_reading, transient, long_living };
inline constexpr std::size_t k_file_classes = 3;

/// Scenario section `file_cache.apps`.
struct AppFilesConfig {
  std::uint32_t number = 12;
  double burst_reading = 0.6;
  double long_living = 0.15;
  double told = 0.8;
  std::uint32_t burst = 100;
  std::uint32_t transient = 2000;
  std::uint32_t rest = 10'000;
  std::uint32_t session = 50;
  static const ParameterTable<AppFilesConfig>& parameters();
};

class AppFiles {
 public:
  static constexpr std::uint32_t k_kinds = 6;
  static constexpr std::uint32_t k_sizes = 6;  ///< file_size, and halves of it down to a 32nd

  /// `files` of at most `file_size` bytes, in whole blocks. Throws InputError, which begins with a
  /// key ("file_cache.apps.number").
  AppFiles(const AppFilesConfig& config, std::uint32_t files, Bytes file_size, std::uint32_t lba_bytes,
           std::uint64_t seed);

  [[nodiscard]] const AppFilesConfig& config() const { return config_; }
  [[nodiscard]] std::uint32_t files() const { return files_; }
  [[nodiscard]] Bytes file_size() const { return file_size_; }
  // What is seen of a file when it comes.
  [[nodiscard]] std::uint32_t app(FileNumber file) const { return file % config_.number; }
  [[nodiscard]] std::uint32_t kind(FileNumber file) const;
  [[nodiscard]] Bytes bytes(FileNumber file) const { return blocks(file) * lba_bytes_; }
  [[nodiscard]] std::uint32_t blocks(FileNumber file) const;
  /// Which of the k_sizes the file has, 0: file_size.
  [[nodiscard]] std::uint32_t size_class(FileNumber file) const;
  /// What is not seen: how the file is going to live.
  [[nodiscard]] FileClass file_class(FileNumber file) const;

 private:
  enum class About : std::uint64_t { kind, size, follows, own, leading };
  [[nodiscard]] std::uint64_t chance(About about, std::uint64_t number) const;
  [[nodiscard]] double share(About about, std::uint64_t number) const {
    return static_cast<double>(chance(about, number) >> 11U) * 0x1.0p-53;
  }
  [[nodiscard]] FileClass by_share(double ticket) const;

  AppFilesConfig config_;
  std::uint32_t files_;
  Bytes file_size_;
  std::uint32_t lba_bytes_;
  std::uint64_t seed_;
};

/// Reads and deletions of the population's files, one after another without end.
class FileLives {
 public:
  struct Event {
    FileNumber file = 0;
    bool deletes = false;
  };
  /// `files` must outlive it.
  FileLives(const AppFiles& files, std::uint64_t seed);
  Event next();

 private:
  struct Due {
    std::uint64_t at = 0;     ///< reads before it
    std::uint64_t order = 0;  ///< of making, among those of the same instant
    Event event;
    bool operator>(const Due& other) const { return at != other.at ? at > other.at : order > other.order; }
  };
  std::optional<FileNumber> take_file();
  void live(FileNumber file);
  void plan(std::uint64_t at, FileNumber file, bool deletes) { due_.push({at, made_++, {file, deletes}}); }
  /// A whole number with this mean.
  std::uint64_t geometric(double mean);
  [[nodiscard]] std::uint32_t files_of(std::uint32_t app) const {
    return (files_.files() - app + files_.config().number - 1) / files_.config().number;
  }

  const AppFiles& files_;
  RandomStream random_;
  std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;
  std::vector<bool> alive_;
  std::vector<std::uint32_t> living_;  ///< by app
  std::vector<std::uint32_t> cursor_;  ///< by app: where to look for the next file
  std::uint32_t app_ = 0;              ///< whose turn it is
  std::uint64_t now_ = 0;              ///< reads so far
  std::uint64_t made_ = 0;
};

}  // namespace tlmssd
