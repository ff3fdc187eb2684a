// Files and folders under construction: they have a name of their own beside their final place, and
// take it when whole.
//
// The name is .tlmssd-HOST-PROCESS-NUMBER.partial, where HOST is a hash of the machine's name. The
// process at work holds a lock (flock) on it, which the kernel takes back when the process ends,
// however it ends. What lies there under such a name of this host without a lock was left behind by
// a process that was killed, and is removed before anything new is made in the same folder. On file
// systems without locks nothing is removed.
#pragma once

#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

namespace tlmssd {

/// Which files a new one may take the place of. Never a folder, device, pipe, socket or symbolic
/// link.
enum class Replace {
  own,       ///< those that tlmssd has written
  any_file,  ///< any of that name (--force)
};

class Staging {
 public:
  enum class Kind { file, folder };
  /// Makes an empty file or folder under a name of its own in `folder`, after having swept it.
  /// Throws std::filesystem::filesystem_error with the reason.
  Staging(const std::filesystem::path& folder, Kind kind);
  /// Removes it, unless it has been moved to its place.
  ~Staging();
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// Open for reading and writing (a folder: for reading).
  [[nodiscard]] int descriptor() const { return descriptor_; }
  /// It has its final name: nothing is left to be removed.
  void moved() { path_.clear(); }

  /// Whether `name` is one that things under construction have, on any host.
  static bool is_name(const std::string& name);
  /// Removes what dead processes of this host have left behind in `folder`.
  static void sweep(const std::filesystem::path& folder);
  /// Removes what this process has under construction: it ends without unwinding its stack. Safe in
  /// signal handlers.
  static void remove_all();

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
  Staging* previous_ = nullptr;  // of those under construction
  Staging* next_ = nullptr;
};

/// A lock on a folder for as long as it lives; waits for it. Without effect where the file system
/// knows no locks.
class FolderLock {
 public:
  explicit FolderLock(const std::filesystem::path& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int descriptor_;
};

/// Names in a folder, in no order; none with `error` where it cannot be read. Throws
/// std::bad_alloc: of libstdc++ 12, std::filesystem::directory_iterator ends the process instead.
std::vector<std::string> names_in(const std::filesystem::path& folder, std::error_code& error);

/// Waits until the content of a file, or the names in a folder, are on the disk. Throws
/// std::filesystem::filesystem_error.
void sync_to_disk(const std::filesystem::path& path);

}  // namespace tlmssd
