#include "testbench/process/staging.h"

#include <array>
#include <cerrno>
#include <cstdint>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <new>
#include <string_view>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace tlmssd {
namespace {

namespace fs = std::filesystem;
constexpr std::string_view k_prefix = ".tlmssd-";
constexpr std::string_view k_suffix = ".partial";
constexpr int k_most_names = 10'000;

Staging* latest = nullptr;  // of those under construction

[[noreturn]] void fail(const fs::path& path, int error) {
  throw fs::filesystem_error("cannot be written", path, {error, std::generic_category()});
}

/// The beginning of the names that this host's processes give: a hash (FNV-1a), because a host's
/// name may hold anything.
const std::string& host_prefix() {
  static const std::string prefix = [] {
    std::array<char, 256> name{};
    gethostname(name.data(), name.size() - 1);
    std::uint32_t hash = 2166136261U;
    for (const char* c = name.data(); *c != 0; ++c)
      hash = (hash ^ static_cast<unsigned char>(*c)) * 16777619U;
    static constexpr std::string_view k_digits = "0123456789abcdef";
    std::string text(k_prefix);
    for (unsigned shift = 32; shift > 0; shift -= 4) text += k_digits[hash >> (shift - 4) & 15U];
    return text + "-";
  }();
  return prefix;
}

/// Takes the lock on `descriptor` without waiting, and finds that `path` still means the same file.
bool lock(int descriptor, const fs::path& path) {
  while (flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EINTR) return false;
  }
  struct stat open {};
  struct stat named {};
  return fstat(descriptor, &open) == 0 && lstat(path.c_str(), &named) == 0 && open.st_ino == named.st_ino &&
         open.st_dev == named.st_dev;
}

/// Removes `path` if no process is at work on it.
void remove_if_dead(const fs::path& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (descriptor < 0) return;
  std::error_code ignored;
  if (lock(descriptor, path)) fs::remove_all(path, ignored);
  close(descriptor);
}

/// Removes a file, or a folder of files, by nothing but calls of the system: remove_all() asks for
/// memory, which a signal handler must not.
void remove_by_calls(const char* path) {
  if (unlink(path) == 0) return;
  const int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0) return;
  alignas(dirent64) std::array<char, 4096> entries{};
  for (bool removed = true; removed;) {
    removed = false;
    lseek(folder, 0, SEEK_SET);
    const ssize_t size = getdents64(folder, entries.data(), entries.size());
    for (ssize_t at = 0; at < size;) {
      const auto* const entry = reinterpret_cast<const dirent64*>(entries.data() + at);
      removed |= unlinkat(folder, entry->d_name, 0) == 0;  // not . and .., which are folders
      at += entry->d_reclen;
    }
  }
  close(folder);
  rmdir(path);
}

/// Makes the file or folder; -1 with errno.
int make(const fs::path& path, Staging::Kind kind) {
  if (kind == Staging::Kind::file)
    return open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (mkdir(path.c_str(), 0777) != 0) return -1;
  const int descriptor = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (descriptor < 0) {
    const int error = errno;
    rmdir(path.c_str());
    errno = error;
  }
  return descriptor;
}

}  // namespace

Staging::Staging(const fs::path& folder, Kind kind) {
  sweep(folder);
  for (int number = 0;; ++number) {
    path_ = folder /
            (host_prefix() + std::to_string(getpid()) + "-" + std::to_string(number) + std::string(k_suffix));
    descriptor_ = make(path_, kind);
    if (descriptor_ < 0) {
      const int error = errno;
      std::error_code ignored;
      const bool taken =
          error == EEXIST || error == ENOENT;  // by another process; or swept before it was open
      if (taken && number < k_most_names && fs::is_directory(folder, ignored)) continue;
      path_.clear();
      fail(folder, error);
    }
    errno = 0;
    if (lock(descriptor_, path_) || errno == ENOLCK || errno == EOPNOTSUPP || errno == ENOSYS) break;
    close(descriptor_);  // a sweep has taken it for dead between its making and its lock
  }
  next_ = std::exchange(latest, this);
  if (next_ != nullptr) next_->previous_ = this;
}

Staging::~Staging() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
  close(descriptor_);
  (previous_ == nullptr ? latest : previous_->next_) = next_;
  if (next_ != nullptr) next_->previous_ = previous_;
}

void Staging::remove_all() {
  for (const Staging* one = latest; one != nullptr; one = one->next_) {
    if (!one->path_.empty()) remove_by_calls(one->path_.c_str());
  }
}

bool Staging::is_name(const std::string& name) {
  return name.starts_with(k_prefix) && name.ends_with(k_suffix);
}

void Staging::sweep(const fs::path& folder) {
  std::error_code ignored;
  for (const std::string& name : names_in(folder, ignored))
    if (is_name(name) && name.starts_with(host_prefix())) remove_if_dead(folder / name);
}

std::vector<std::string> names_in(const fs::path& folder, std::error_code& error) {
  error.clear();
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(opendir(folder.c_str()), closedir);
  if (entries == nullptr && errno == ENOMEM) throw std::bad_alloc();
  if (entries == nullptr) error.assign(errno, std::generic_category());
  std::vector<std::string> names;
  if (entries == nullptr) return names;
  for (;;) {
    errno = 0;  // readdir() returns null at the end and for an error
    const dirent* const entry = readdir(entries.get());
    if (entry == nullptr) break;
    if (const std::string_view name = entry->d_name; name != "." && name != "..") names.emplace_back(name);
  }
  if (errno == ENOMEM) throw std::bad_alloc();
  if (errno != 0) {
    error.assign(errno, std::generic_category());
    names.clear();
  }
  return names;
}

FolderLock::FolderLock(const fs::path& folder)
    : descriptor_(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  while (descriptor_ >= 0 && flock(descriptor_, LOCK_EX) != 0 && errno == EINTR) {
  }
}

FolderLock::~FolderLock() {
  if (descriptor_ >= 0) close(descriptor_);
}

void sync_to_disk(const fs::path& path) {
  // The folder of what is written may be named by a symbolic link.
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) fail(path, errno);
  const int error = fsync(descriptor) == 0 ? 0 : errno;
  close(descriptor);
  if (error != 0 && error != EINVAL && error != EROFS) fail(path, error);  // some have nothing to wait for
}

}  // namespace tlmssd
