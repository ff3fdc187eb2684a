// The directory a run writes its results to: filled beside its final place and renamed at the end, so that a run that fails
// leaves nothing half-written. An existing directory is replaced only when it is empty or holds an earlier run.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace tlmssd {

class RunDirectory {
 public:
  /// Prepares to write `target`. Throws InputError when it may not be replaced or nothing can be written there.
  explicit RunDirectory(const std::string& target);
  /// Removes everything unless commit() has been called.
  ~RunDirectory();
  RunDirectory(const RunDirectory&) = delete;
  RunDirectory& operator=(const RunDirectory&) = delete;

  /// Where to write the file `name` until commit().
  [[nodiscard]] std::string file(std::string_view name) const;
  /// Writes a whole file. Throws InputError when that fails.
  void write(std::string_view name, std::string_view content) const;
  /// Puts the directory in its place.
  void commit();
  [[nodiscard]] const std::filesystem::path& target() const { return target_; }

 private:
  std::filesystem::path target_;
  std::filesystem::path work_;
  bool committed_ = false;
};

}  // namespace tlmssd
