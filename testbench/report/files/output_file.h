// A text file that is written piece by piece through a large buffer and compressed when its name
// ends in .gz or .zst.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace tlmssd {

class OutputFile {
 public:
  /// Throws InputError when `path` cannot be written.
  explicit OutputFile(const std::string& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// Appends text. Cheap: goes to the disk in large pieces.
  void write(std::string_view text) {
    buffer_.append(text);
    if (buffer_.size() >= k_buffer) flush();
  }
  /// Writes the rest and closes. Throws InputError when not everything could be written.
  void close();

 private:
  static constexpr std::size_t k_buffer = std::size_t{1} << 18U;
  struct Stream;
  void flush();
  [[noreturn]] void incomplete() const;
  std::string path_;
  std::string buffer_;
  std::unique_ptr<Stream> stream_;
};

}  // namespace tlmssd
