// Opening files that a user names for reading: never waits, never takes a pipe or a device for a
// file.
#pragma once

#include <string>
#include <sys/types.h>

namespace tlmssd {

/// What a file's mode (st_mode) says it is: "a folder", "a device", "a named pipe", "a socket", "a
/// symbolic link" or "a file".
const char* kind_of_file(mode_t mode);

/// A file open for reading; closes it at the end.
class InputFile {
 public:
  /// What may stand for a file.
  enum class Accept {
    files,              ///< regular files: they can be read as often as needed, and reading them ends
    files_and_streams,  ///< also what the process has been given open: /dev/stdin and /dev/fd/N
  };

  /// Opens `path` without waiting for anybody at the other end. Throws InputError "PATH: cannot be
  /// read: ..." or "PATH: is a named pipe, expected a file".
  explicit InputFile(const std::string& path, Accept accept = Accept::files);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  /// Up to `size` bytes; 0 at the end. Throws InputError.
  std::size_t read(char* to, std::size_t size);
  /// Bytes that the file holds now.
  [[nodiscard]] std::size_t size() const;

 private:
  std::string path_;
  int descriptor_ = -1;
};

/// How reports name a file of the input: without folders, so that they are the same wherever it
/// lies.
std::string name_in_reports(const std::string& path);

}  // namespace tlmssd
