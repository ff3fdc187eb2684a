// Lines of a text file, block by block.
#include "testbench/loads/text/line_reader.h"

#include <algorithm>
#include <cstring>

#include "models/base/input_error.h"
#include "models/base/input_file.h"
#include "testbench/loads/text/blktrace_source.h"
#include "testbench/loads/text/decompress.h"
#include "testbench/process/interrupt.h"

namespace tlmssd {

namespace {

constexpr std::size_t k_block = std::size_t{1} << 20U;
constexpr std::string_view k_byte_order_mark = "\xEF\xBB\xBF";

class FileBytes final : public ByteSource {
 public:
  explicit FileBytes(const std::string& path) : file_(path) {}
  std::size_t read(char* to, std::size_t size) override {
    check_interrupt();
    return file_.read(to, size);
  }

 private:
  InputFile file_;
};

class MemoryBytes final : public ByteSource {
 public:
  explicit MemoryBytes(std::string_view bytes) : bytes_(bytes) {}
  std::size_t read(char* to, std::size_t size) override {
    const std::size_t got = bytes_.copy(to, size);
    bytes_.remove_prefix(got);
    return got;
  }

 private:
  std::string_view bytes_;
};

/// Gives some bytes first that were read ahead.
class Pushback final : public ByteSource {
 public:
  Pushback(std::string first, std::unique_ptr<ByteSource> rest)
      : first_(std::move(first)), rest_(std::move(rest)) {}
  std::size_t read(char* to, std::size_t size) override {
    if (used_ == first_.size()) return rest_->read(to, size);
    const std::size_t got = first_.copy(to, size, used_);
    used_ += got;
    return got;
  }

 private:
  std::string first_;
  std::size_t used_ = 0;
  std::unique_ptr<ByteSource> rest_;
};

/// The first bytes of `source`, which it still gives.
std::string look_at(std::unique_ptr<ByteSource>& source) {
  std::string first(6, '\0');
  std::size_t got = 0;
  while (got < first.size()) {
    const std::size_t more = source->read(first.data() + got, first.size() - got);
    if (more == 0) break;
    got += more;
  }
  first.resize(got);
  source = std::make_unique<Pushback>(first, std::move(source));
  return first;
}

/// Has `source` unpacked, if it is compressed; how it is.
std::string_view unpack(std::unique_ptr<ByteSource>& source) {
  const std::string_view compression = compression_of(look_at(source));
  if (compression != "plain") source = make_decompressor(compression, std::move(source));
  return compression;
}

}  // namespace

LineReader::LineReader(const std::string& path) : file_(path), buffer_(k_block) {
  open(std::make_unique<FileBytes>(path), true);
}

LineReader::LineReader(std::string name, std::string_view bytes)
    : file_(std::move(name)), buffer_(std::clamp(bytes.size() + 1, k_longest + 2, k_block)) {
  open(std::make_unique<MemoryBytes>(bytes), false);
}

void LineReader::open(std::unique_ptr<ByteSource> raw, bool of_file) {
  source_ = std::move(raw);
  compression_ = unpack(source_);
  if (is_blktrace(beginning())) {
    compression_ = "binary blktrace";
    std::unique_ptr<ByteSource> only = std::move(source_);
    source_ =
        make_blktrace_source(file_, of_file, [&](const std::string& path) -> std::unique_ptr<ByteSource> {
          if (!of_file) return std::move(only);
          std::unique_ptr<ByteSource> bytes = std::make_unique<FileBytes>(path);
          unpack(bytes);
          return bytes;
        });
    return;
  }
  skip_byte_order_mark();
}

std::string LineReader::beginning() {
  try {
    return look_at(source_);
  } catch (const DamagedStream&) {
    fail_damaged();
  }
}

/// Some editors and spreadsheets begin UTF-8 with one.
void LineReader::skip_byte_order_mark() {
  while (end_ < k_byte_order_mark.size() && fill()) {
  }
  if (std::string_view(buffer_.data(), end_).starts_with(k_byte_order_mark))
    begin_ = k_byte_order_mark.size();
}

void LineReader::fail(const std::string& message) const {
  throw InputError(file_, line_, message);
}

void LineReader::fail_damaged() const {
  fail("the " + std::string(compression_) + " data are damaged or cut off" +
       (line_ == 0 ? "" : " after this line"));
}

bool LineReader::fill() {
  if (ended_) return false;
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  std::size_t got = 0;
  try {
    got = source_->read(buffer_.data() + end_, buffer_.size() - end_);
  } catch (const DamagedStream&) {
    fail_damaged();
  }
  ended_ = got == 0;
  end_ += got;
  return got > 0;
}

bool LineReader::next(std::string_view& line) {
  std::size_t searched = 0;
  const char* end_of_line = nullptr;
  for (;;) {
    const char* from = buffer_.data() + begin_;
    const std::size_t size = end_ - begin_;
    end_of_line = static_cast<const char*>(std::memchr(from + searched, '\n', size - searched));
    if (end_of_line != nullptr) break;
    searched = size;
    if (size > k_longest) break;
    if (!fill()) break;
  }
  const char* from = buffer_.data() + begin_;
  std::size_t size = end_of_line != nullptr ? static_cast<std::size_t>(end_of_line - from) : end_ - begin_;
  if (end_of_line == nullptr && size == 0) return false;
  ++line_;
  if (size > k_longest)
    fail("line is longer than 65536 bytes, expected a text file with one request per line");
  begin_ += size + (end_of_line != nullptr ? 1 : 0);
  if (size > 0 && from[size - 1] == '\r') --size;
  line = {from, size};
  return true;
}

std::vector<std::string> LineReader::peek(std::size_t lines, std::size_t bytes) {
  while (end_ - begin_ < bytes && fill()) {
  }
  std::vector<std::string> result;
  std::string_view rest(buffer_.data() + begin_, std::min(bytes, end_ - begin_));
  while (!rest.empty() && result.size() < lines) {
    const std::size_t size = rest.find('\n');
    const bool whole = size != std::string_view::npos || (ended_ && end_ - begin_ <= bytes);
    if (!whole && !result.empty()) break;
    std::string_view line = rest.substr(0, size);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    result.emplace_back(line);
    if (size == std::string_view::npos) break;
    rest.remove_prefix(size + 1);
  }
  return result;
}

}  // namespace tlmssd
