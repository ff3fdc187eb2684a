#include "models/base/input_file.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

#include "models/base/input_error.h"

namespace tlmssd {
namespace {

bool names_stream(const std::string& path) {
  return path == "/dev/stdin" || path.starts_with("/dev/fd/");
}

[[noreturn]] void refuse(const std::string& path, int error) {
  throw InputError(path, 0, std::string("cannot be read: ") + std::strerror(error));
}

void expect_file(const std::string& path, const struct stat& status) {
  if (!S_ISREG(status.st_mode))
    throw InputError(path, 0, std::string("is ") + kind_of_file(status.st_mode) + ", expected a file");
}

}  // namespace

const char* kind_of_file(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISCHR(mode) || S_ISBLK(mode)) return "a device";
  if (S_ISFIFO(mode)) return "a named pipe";
  if (S_ISSOCK(mode)) return "a socket";
  if (S_ISLNK(mode)) return "a symbolic link";
  return "a file";
}

InputFile::InputFile(const std::string& path, Accept accept) : path_(path) {
  const bool stream = accept == Accept::files_and_streams && names_stream(path);
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) refuse(path, errno);
  if (!stream || S_ISDIR(status.st_mode)) expect_file(path, status);  // before open(), which may wait or act
  descriptor_ = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | (stream ? 0 : O_NONBLOCK));
  if (descriptor_ < 0) refuse(path, errno);
  try {
    if (fstat(descriptor_, &status) != 0) refuse(path, errno);
    if (!stream) expect_file(path, status);  // it may have been replaced meanwhile
  } catch (...) {
    close(descriptor_);
    throw;
  }
}

InputFile::~InputFile() {
  close(descriptor_);
}

std::size_t InputFile::read(char* to, std::size_t size) {
  for (;;) {
    const ssize_t got = ::read(descriptor_, to, size);
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno != EINTR) refuse(path_, errno);
  }
}

std::size_t InputFile::size() const {
  struct stat status {};
  if (fstat(descriptor_, &status) != 0) refuse(path_, errno);
  return static_cast<std::size_t>(status.st_size);
}

std::string name_in_reports(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

}  // namespace tlmssd
