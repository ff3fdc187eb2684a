// The folder a run writes its results to: filled under a name of its own and put in place at the
// end, so that a run that fails leaves nothing half-written.
//
// A new folder appears whole, by one rename. In a folder with earlier results each file is replaced
// by its successor in one step, earlier results without a successor are removed, and everything
// else stays: what tlmssd has written there is listed in the file .tlmssd-run (on each line a
// digest of the content and a name), and is refused where it has been changed since. Two runs that
// write to one folder take turns, the last one wins whole. Only a process killed between the first
// and the last of these renames leaves a mixture: whole files, each of one run or the other.
//
// The list is believed only where it names files that tlmssd writes; earlier versions wrote no
// digests, and an empty list, which stands for all of them.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "testbench/process/staging.h"

namespace tlmssd {

/// What the run has to do with beside its results.
struct OtherFiles {
  std::vector<std::string> read;  ///< never replaced but by force; who names no file does no harm
  std::string snapshot;           ///< written before the results; empty: none
};

class RunDirectory {
 public:
  /// Prepares to write `target`. Throws InputError when that would replace what it may not, or
  /// nothing can be written there. `own`: a folder that is there must be empty or hold results.
  /// `any_file`: any folder will do.
  explicit RunDirectory(const std::string& target, Replace replace = Replace::own, OtherFiles others = {});
  /// Removes everything it has made unless commit() has been called.
  ~RunDirectory();
  RunDirectory(const RunDirectory&) = delete;
  RunDirectory& operator=(const RunDirectory&) = delete;

  /// Where to write the file `name` until commit(); `name` is one of those that results have.
  [[nodiscard]] std::string file(std::string_view name);
  /// Writes a whole file. Throws InputError when that fails.
  void write(std::string_view name, std::string_view content);
  /// Puts the results in their place.
  void commit();
  /// Puts this result alone in its place and drops all others.
  void commit_only(std::string_view name);
  [[nodiscard]] const std::filesystem::path& target() const { return target_; }

 private:
  void prepare();
  void check_replaceable() const;
  void check_snapshot(const std::string& target) const;
  void make_parents();
  void remove_parents() const;
  void write_list(const std::vector<std::string>& lines) const;
  [[nodiscard]] bool put_in_place_as_a_whole();
  void replace_files();

  std::filesystem::path target_;
  Replace replace_;
  OtherFiles others_;
  std::vector<std::filesystem::path> parents_;  ///< made for the target, the outermost first
  std::unique_ptr<Staging> staging_;
  std::vector<std::string> names_;  ///< of the results
};

}  // namespace tlmssd
