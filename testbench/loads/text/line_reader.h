// Lines of a text file, plain or compressed, read block by block: memory does not grow with the
// file.
//
// gzip, bzip2, xz and zstd are recognised by their first bytes, whatever the file is called. A
// compressed file that is cut off or damaged is an InputError, not an early end. A line may hold 64
// KiB; "\r\n" ends a line like "\n". A byte order mark (UTF-8) at the beginning is passed over.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tlmssd {

/// Bytes in order.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// Up to `size` bytes; 0 at the end.
  virtual std::size_t read(char* to, std::size_t size) = 0;
};

class LineReader {
 public:
  static constexpr std::size_t k_longest = 65536;

  /// Opens a file.
  explicit LineReader(const std::string& path);
  /// Reads from memory (tests, fuzzing); `name` stands for the file in messages. The bytes must
  /// outlive the reader.
  LineReader(std::string name, std::string_view bytes);

  /// The next line without its end; valid until the next call. False at the end of the file.
  bool next(std::string_view& line);
  /// Number of the last line, from 1.
  [[nodiscard]] std::uint64_t line() const { return line_; }
  [[nodiscard]] const std::string& file() const { return file_; }
  /// "plain", "gzip", "bzip2", "xz", "zstd" or "binary blktrace".
  [[nodiscard]] std::string_view compression() const { return compression_; }
  /// The first lines that fit `bytes`, without consuming them; call before the first next().
  std::vector<std::string> peek(std::size_t lines, std::size_t bytes = 65536);
  [[noreturn]] void fail(const std::string& message) const;

 private:
  void open(std::unique_ptr<ByteSource> raw, bool of_file);
  std::string beginning();
  [[noreturn]] void fail_damaged() const;
  bool fill();
  void skip_byte_order_mark();

  std::string file_;
  std::string_view compression_ = "plain";
  std::unique_ptr<ByteSource> source_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::uint64_t line_ = 0;
  bool ended_ = false;
};

}  // namespace tlmssd
