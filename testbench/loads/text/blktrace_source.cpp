#include "testbench/loads/text/blktrace_source.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <vector>

#include "models/base/input_error.h"
#include "testbench/loads/text/decompress.h"

namespace tlmssd {
namespace {

constexpr std::uint32_t k_magic = 0x65617400;  ///< and the version in the lowest byte
constexpr std::uint32_t k_version = 7;
constexpr std::size_t k_record = 48;

/// Categories, in the upper half of `action`.
constexpr std::uint32_t k_write = 1U << 17U;
constexpr std::uint32_t k_flush = 1U << 18U;
constexpr std::uint32_t k_sync = 1U << 19U;
constexpr std::uint32_t k_pass_through = 1U << 25U;
constexpr std::uint32_t k_notice = 1U << 26U;
constexpr std::uint32_t k_ahead = 1U << 27U;
constexpr std::uint32_t k_meta = 1U << 28U;
constexpr std::uint32_t k_discard = 1U << 29U;
constexpr std::uint32_t k_forced = 1U << 31U;

/// By the lower half of `action`: queued, merged to the back and front, ...
constexpr std::array<const char*, 17> k_actions = {"",  "Q", "M",  "F", "G", "S", "R", "D", "C",
                                                   "P", "U", "UT", "I", "X", "B", "A", "-"};

struct Record {
  std::uint32_t magic, sequence;
  std::uint64_t time, sector;
  std::uint32_t bytes, action, pid, device, cpu;
  std::uint16_t error, pdu_bytes;
};

template <class T>
T turned(T value) {
  if constexpr (sizeof(T) == 8) return __builtin_bswap64(value);
  if constexpr (sizeof(T) == 4) return __builtin_bswap32(value);
  return __builtin_bswap16(value);
}

/// The records of one file.
class RecordFile {
 public:
  RecordFile(std::string path, std::unique_ptr<ByteSource> bytes)
      : path_(std::move(path)), bytes_(std::move(bytes)) {
    next();
  }
  [[nodiscard]] bool ended() const { return ended_; }
  [[nodiscard]] const Record& record() const { return record_; }

  void next() {
    std::array<char, k_record> raw{};
    const std::size_t got = take(raw.data(), raw.size());
    ended_ = got == 0;
    if (ended_) return;
    if (got < raw.size()) fail("is cut off in a record");
    std::memcpy(&record_.magic, raw.data(), 4);
    const bool foreign = (record_.magic & ~0xFFU) != k_magic;
    const auto field = [&](auto& value, std::size_t at) {
      std::memcpy(&value, raw.data() + at, sizeof value);
      if (foreign) value = turned(value);
    };
    field(record_.magic, 0);
    if ((record_.magic & ~0xFFU) != k_magic) fail("holds a record without blktrace's magic number");
    if ((record_.magic & 0xFFU) != k_version)
      fail(fmt::format("is of version {} of blktrace's format, expected {}", record_.magic & 0xFFU,
                       k_version));
    field(record_.sequence, 4);
    field(record_.time, 8);
    field(record_.sector, 16);
    field(record_.bytes, 24);
    field(record_.action, 28);
    field(record_.pid, 32);
    field(record_.device, 36);
    field(record_.cpu, 40);
    field(record_.error, 44);
    field(record_.pdu_bytes, 46);
    pass_over(record_.pdu_bytes);
    ++number_;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw InputError(path_, 0, fmt::format("{} (behind {} records)", what, number_));
  }
  std::size_t take(char* to, std::size_t size) {
    std::size_t got = 0;
    while (got < size) {
      const std::size_t more = read(to + got, size - got);
      if (more == 0) break;
      got += more;
    }
    return got;
  }
  std::size_t read(char* to, std::size_t size) {
    try {
      return bytes_->read(to, size);
    } catch (const DamagedStream&) {
      fail("holds compressed data that are damaged or cut off");
    }
  }
  void pass_over(std::size_t size) {
    std::array<char, 4096> unused{};
    while (size > 0) {
      const std::size_t got = take(unused.data(), std::min(size, unused.size()));
      if (got == 0) fail("is cut off in a record");
      size -= got;
    }
  }

  std::string path_;
  std::unique_ptr<ByteSource> bytes_;
  Record record_{};
  std::uint64_t number_ = 0;
  bool ended_ = false;
};

/// Letters as blkparse prints them.
std::string rwbs(const Record& record) {
  std::string text;
  if ((record.action & k_flush) != 0) text += 'F';
  if (!text.empty() && record.bytes == 0) return text;
  text += (record.action & k_discard) != 0 ? 'D'
          : (record.action & k_write) != 0 ? 'W'
          : record.bytes != 0              ? 'R'
                                           : 'N';
  if ((record.action & k_forced) != 0) text += 'F';
  if ((record.action & k_ahead) != 0) text += 'A';
  if ((record.action & k_sync) != 0) text += 'S';
  if ((record.action & k_meta) != 0) text += 'M';
  return text;
}

/// The record as a line; empty when it is about no request.
std::string line_of(const Record& record) {
  const std::uint32_t action = record.action & 0xFFFFU;
  if ((record.action & (k_notice | k_pass_through)) != 0 || action == 0 || action >= k_actions.size())
    return {};
  return fmt::format("{},{} {} {} {}.{:09} {} {} {} {} + {}\n", record.device >> 20U,
                     record.device & 0xFFFFFU, record.cpu, record.sequence, record.time / 1'000'000'000,
                     record.time % 1'000'000'000, record.pid, k_actions[action], rwbs(record), record.sector,
                     record.bytes >> 9U);
}

/// The files of all processors: "sda.blktrace.0" stands for sda.blktrace.1 and so on, too, and
/// "sda.blktrace.0.gz" for sda.blktrace.1.gz.
std::vector<std::string> files_beside(const std::string& path) {
  namespace fs = std::filesystem;
  constexpr std::string_view k_middle = ".blktrace.";
  const std::string name = fs::path(path).filename().string();
  const auto series_of = [&](const std::string& other) -> std::string {
    const std::size_t at = other.rfind(k_middle);
    if (at == std::string::npos) return {};
    const std::string behind = other.substr(at + k_middle.size());
    const std::size_t digits = std::min(behind.find_first_not_of("0123456789"), behind.size());
    const std::string packed = behind.substr(digits);  // ".gz"
    if (digits == 0 || (!packed.empty() && packed[0] != '.')) return {};
    return other.substr(0, at) + packed;
  };
  const std::string device = series_of(name);
  if (device.empty()) return {path};
  std::vector<std::string> files;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(fs::absolute(path).parent_path(), ignored)) {
    if (series_of(entry.path().filename().string()) != device || !entry.is_regular_file(ignored)) continue;
    if (entry.file_size(ignored) > 0) files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

class BlktraceSource final : public ByteSource {
 public:
  explicit BlktraceSource(std::vector<RecordFile> files) : files_(std::move(files)) {}
  std::size_t read(char* to, std::size_t size) override {
    while (used_ == text_.size()) {
      if (!next()) return 0;
    }
    const std::size_t got = text_.copy(to, size, used_);
    used_ += got;
    return got;
  }

 private:
  /// The earliest record of all files.
  bool next() {
    RecordFile* earliest = nullptr;
    for (RecordFile& file : files_) {
      if (!file.ended() && (earliest == nullptr || file.record().time < earliest->record().time))
        earliest = &file;
    }
    if (earliest == nullptr) return false;
    text_ = line_of(earliest->record());
    used_ = 0;
    earliest->next();
    return true;
  }
  std::vector<RecordFile> files_;
  std::string text_;
  std::size_t used_ = 0;
};

}  // namespace

bool is_blktrace(std::string_view first) {
  if (first.size() < 4) return false;
  std::uint32_t magic = 0;
  std::memcpy(&magic, first.data(), sizeof magic);
  return (magic & ~0xFFU) == k_magic || (turned(magic) & ~0xFFU) == k_magic;
}

std::unique_ptr<ByteSource> make_blktrace_source(
    const std::string& path, bool beside,
    const std::function<std::unique_ptr<ByteSource>(const std::string&)>& open) {
  std::vector<RecordFile> files;
  for (const std::string& file : beside ? files_beside(path) : std::vector<std::string>{path})
    files.emplace_back(file, open(file));
  return std::make_unique<BlktraceSource>(std::move(files));
}

}  // namespace tlmssd
