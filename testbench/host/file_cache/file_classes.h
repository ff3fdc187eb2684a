// File classes: a file that comes is guessed to be burst-reading, transient or long-living. Only
// long-living files are written; the others stay in the host's memory until their active period is
// over, their app deletes them, or files used later need the room.
//
// Follows Liang et al., CacheSifter (FAST 2022), as its abstract and Luo et al. 2022 (section 4.4)
// describe it: files are classified online by machine learning, by their active periods, and each
// class is managed by itself (S). Which learner they used is not said there; this one is naive
// Bayes with counts (naive_bayes.h), and everything else is an assumption (A).
//
// Seen when a file comes: its app and kind, which are one feature, because a kind means something
// else in each app; its size; and how many accesses ago its app's last file came. A life is watched
// from there until the app deletes the file, or for twice the active period of transient files;
// what class it had follows from when the file was last read meanwhile, and that is what is
// learned. Nothing of a file's future is known, but to `oracle`.
//
// Null models, by `classified_by`: random draws classes by their shares among the lives that have
// ended; size takes files of at most `largest` for long-living and the others for transient. The
// upper bound, oracle, is told the class that the population gave the file.
#pragma once

#include <array>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "testbench/host/file_cache/admission_policy.h"
#include "testbench/host/file_cache/held_files.h"
#include "testbench/host/file_cache/naive_bayes.h"

namespace tlmssd {

struct FileClassesConfig {
  Bytes memory = Bytes{64} << 20U;
  std::string classified_by = "learned";
  Bytes largest = Bytes{128} << 10U;
  std::uint32_t burst = 100;
  std::uint32_t transient = 2000;
  static const ParameterTable<FileClassesConfig>& parameters();
};

class FileClasses final : public AdmissionPolicy {
 public:
  static constexpr std::string_view k_name = "file-classes";
  static constexpr std::string_view k_summary =
      "files that are learned to be read for long (CacheSifter, Liang et al. 2022)";
  using Config = FileClassesConfig;
  /// Throws InputError when no file fits into the memory, or nothing is known of files.
  FileClasses(const Config& config, const AdmissionContext& context);

  bool accessed(FileNumber file) override;
  std::vector<Verdict> fetched(FileNumber file) override;
  void deleted(FileNumber file) override;
  void report(StatisticsSink& sink) const override;
  void reset_statistics() override { stats_ = {}; }
  void archive(Archive& archive) override;

  struct Statistics {
    std::array<std::uint64_t, k_file_classes> guessed{};  ///< files that came, by class
    /// Lives that ended: [guessed][observed].
    std::array<std::array<std::uint64_t, k_file_classes>, k_file_classes> ended{};
    Bytes kept = 0;  ///< of files that left memory without having been written
  };
  [[nodiscard]] const Statistics& statistics() const { return stats_; }

 private:
  struct Life {
    std::uint64_t came = 0;  ///< accesses before
    std::uint64_t last = 0;  ///< access
    std::uint32_t guessed = 0;
    FileNumber file = 0;
    std::array<std::uint32_t, 3> features{};
    std::uint32_t unused = 0;  ///< no padding, for the archive
  };
  /// A file of memory, and when its active period is over.
  struct Period {
    std::uint64_t came = 0;
    FileNumber file = 0;
    std::uint32_t guessed = 0;
  };
  Life begin_life(FileNumber file);
  [[nodiscard]] FileClass guess(FileNumber file, const Life& life);
  [[nodiscard]] FileClass observed(const Life& life) const;
  void end_life(FileNumber file);
  void end_long_lives();
  void make_room(FileNumber file, std::vector<Verdict>& verdicts);
  void forget(FileNumber file, std::vector<Verdict>& verdicts);

  Config config_;
  AdmissionContext context_;
  NaiveBayes learner_;
  HeldFiles held_;
  std::unordered_map<FileNumber, Life> lives_;                  ///< that are watched
  std::deque<Period> watched_;                                  ///< in the order in which they came
  std::array<std::deque<Period>, k_file_classes - 1> periods_;  ///< of what is held, in the same order
  std::vector<std::uint64_t> last_of_app_;                      ///< when its last file came
  std::uint64_t now_ = 0;                                       ///< accesses
  std::uint64_t drawn_ = 0;                                     ///< random classes
  Statistics stats_;
};

}  // namespace tlmssd
