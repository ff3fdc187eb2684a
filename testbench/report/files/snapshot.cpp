#include "testbench/report/files/snapshot.h"

#include <boost/iostreams/concepts.hpp>
#include <boost/iostreams/filter/zstd.hpp>
#include <boost/iostreams/filtering_stream.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <new>
#include <sys/stat.h>
#include <unistd.h>

#include "models/base/input_file.h"
#include "testbench/process/interrupt.h"
#include "testbench/report/files/checksum.h"

namespace tlmssd {
namespace {

namespace io = boost::iostreams;

constexpr std::string_view k_magic = "TLMSSDSN";
constexpr std::size_t k_frame = std::size_t{1} << 20U;

/// Byte order and type sizes: what must be the same because state is stored as it lies in memory.
struct Machine {
  std::uint32_t format = 10;
  std::uint32_t order = 0x01020304;
  std::uint8_t size_bytes = sizeof(std::size_t);
  std::uint8_t time_bytes = sizeof(Picoseconds);
  std::uint8_t unit_bytes = sizeof(Lpn);
  std::uint8_t pointer_bytes = sizeof(void*);
  bool operator==(const Machine&) const = default;
};
static_assert(sizeof(Machine) == 12);

struct FrameHeader {
  std::uint64_t size = 0;  ///< 0: the end
  std::uint64_t checksum = 0;
};

/// Reads `size` bytes; false when there are fewer.
bool read_whole(InputFile& file, char* to, std::size_t size) {
  while (size != 0) {
    const std::size_t got = file.read(to, size);
    if (got == 0) return false;
    to += got;
    size -= got;
  }
  return true;
}

bool begins_with_magic(InputFile& file) {
  std::string magic(k_magic.size(), '\0');
  return read_whole(file, magic.data(), magic.size()) && magic == k_magic;
}

std::filesystem::path folder_of(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  return folder.empty() ? "." : folder;
}

/// A descriptor as Boost's filters want it. What it throws they may swallow, so it keeps the first
/// error.
class OutputDevice : public io::sink {
 public:
  OutputDevice(int descriptor, int* error) : descriptor_(descriptor), error_(error) {}
  std::streamsize write(const char* from, std::streamsize size) {
    for (std::streamsize done = 0; done < size;) {
      const ssize_t now = ::write(descriptor_, from + done, static_cast<std::size_t>(size - done));
      if (now >= 0) {
        done += now;
      } else if (errno != EINTR) {
        if (*error_ == 0) *error_ = errno;
        throw std::ios_base::failure("write");
      }
    }
    return size;
  }

 private:
  int descriptor_;
  int* error_;
};

class SavingArchive final : public FileArchive {
 public:
  SavingArchive(const std::string& path, Replace replace)
      : path_(path), replace_(replace), staging_(begin(path, replace)), buffer_(k_frame) {
    std::string head(k_magic);
    const Machine machine;
    head.append(reinterpret_cast<const char*>(&machine), sizeof machine);
    head.append(sizeof(std::uint64_t), '\0');  // the length, which finish() knows
    OutputDevice device(staging_->descriptor(), &error_);
    try {
      device.write(head.data(), static_cast<std::streamsize>(head.size()));
    } catch (const std::ios_base::failure&) {
      incomplete(error_);
    }
    stream_.push(io::zstd_compressor(io::zstd_params(1)), k_frame);
    stream_.push(device, k_frame);
  }
  ~SavingArchive() override {
    try {
      stream_.reset();
    } catch (...) {  // the file is given up anyway
    }
  }

  [[nodiscard]] bool saving() const override { return true; }
  void bytes(void* data, std::size_t size) override {
    const auto* from = static_cast<const char*>(data);
    while (size != 0) {
      const std::size_t piece = std::min(size, k_frame - used_);
      std::memcpy(buffer_.data() + used_, from, piece);
      used_ += piece;
      from += piece;
      size -= piece;
      if (used_ == k_frame) put_frame();
    }
  }
  void finish() override {
    if (used_ != 0) put_frame();
    put_frame();
    stream_.reset();
    if (error_ != 0) incomplete(error_);
    const off_t length = lseek(staging_->descriptor(), 0, SEEK_END);
    constexpr off_t k_at = k_magic.size() + sizeof(Machine);
    if (length < 0 || pwrite(staging_->descriptor(), &length, sizeof length, k_at) != sizeof length)
      incomplete(errno);
    put_in_place();
  }

 private:
  static std::unique_ptr<Staging> begin(const std::string& path, Replace replace) {
    check_snapshot_target(path, replace);
    try {
      return std::make_unique<Staging>(folder_of(path), Staging::Kind::file);
    } catch (const std::filesystem::filesystem_error& error) {
      throw not_written(path, "cannot be written", error.code().value());
    }
  }
  void put_in_place() {
    check_snapshot_target(path_, replace_);
    try {
      sync_to_disk(staging_->path());
      std::filesystem::rename(staging_->path(), path_);
      staging_->moved();
      sync_to_disk(folder_of(path_));
    } catch (const std::filesystem::filesystem_error& error) {
      throw not_written(path_, "cannot be put in place", error.code().value());
    }
  }
  void put_frame() {
    check_interrupt();
    const FrameHeader header{used_, checksum(buffer_.data(), used_, frame_++)};
    stream_.write(reinterpret_cast<const char*>(&header), sizeof header);
    stream_.write(buffer_.data(), static_cast<std::streamsize>(used_));
    used_ = 0;
    if (!stream_) incomplete(error_ != 0 ? error_ : errno);
  }
  [[noreturn]] void incomplete(int error) const {
    throw not_written(path_, "cannot be written in full", error);
  }
  std::string path_;
  Replace replace_;
  std::unique_ptr<Staging> staging_;
  int error_ = 0;  ///< of the first write that failed
  io::filtering_ostream stream_;
  std::vector<char> buffer_;
  std::size_t used_ = 0;
  std::uint64_t frame_ = 0;
};

/// An input file as Boost's filters want it.
class InputDevice : public io::source {
 public:
  explicit InputDevice(InputFile* file) : file_(file) {}
  std::streamsize read(char* to, std::streamsize size) {
    const std::size_t got = file_->read(to, static_cast<std::size_t>(size));
    return got == 0 ? -1 : static_cast<std::streamsize>(got);
  }

 private:
  InputFile* file_;
};

class LoadingArchive final : public FileArchive {
 public:
  explicit LoadingArchive(const std::string& path) : path_(path), file_(path), buffer_(k_frame) {
    if (!begins_with_magic(file_)) throw InputError(path, 0, "is not a tlmssd snapshot");
    Machine machine;
    read_exactly(&machine, sizeof machine);
    if (machine.format != Machine{}.format && machine.order == Machine{}.order) {
      throw InputError(path, 0,
                       "is of snapshot format " + std::to_string(machine.format) +
                           "; this program reads format " + std::to_string(Machine{}.format));
    }
    if (machine != Machine{}) throw InputError(path, 0, "was made on a machine of another type");
    std::uint64_t length = 0;
    read_exactly(&length, sizeof length);
    if (file_.size() != length) damaged();
    stream_.push(io::zstd_decompressor(), k_frame);
    stream_.push(InputDevice(&file_), k_frame);
    stream_.exceptions(std::ios::badbit);
  }

  [[nodiscard]] bool saving() const override { return false; }
  void bytes(void* data, std::size_t size) override {
    auto* to = static_cast<char*>(data);
    while (size != 0) {
      if (at_ == used_) get_frame();
      if (used_ == 0) damaged();  // the models want more than was saved
      const std::size_t piece = std::min(size, used_ - at_);
      std::memcpy(to, buffer_.data() + at_, piece);
      at_ += piece;
      to += piece;
      size -= piece;
    }
  }
  void finish() override {
    if (at_ == used_ && !ended_) get_frame();
    if (!ended_) throw InputError(path_, 0, "holds more than this drive understands");
  }
  [[noreturn]] void damaged() const { throw InputError(path_, 0, "is damaged or cut short"); }

 private:
  void read_exactly(void* to, std::size_t size) {
    if (!read_whole(file_, static_cast<char*>(to), size)) damaged();
  }
  void get_frame() {
    check_interrupt();
    if (ended_) damaged();
    FrameHeader header;
    try {
      stream_.read(reinterpret_cast<char*>(&header), sizeof header);
      if (stream_.gcount() != sizeof header || header.size > k_frame) damaged();
      stream_.read(buffer_.data(), static_cast<std::streamsize>(header.size));
      if (static_cast<std::uint64_t>(stream_.gcount()) != header.size) damaged();
    } catch (const std::ios_base::failure&) {  // what the decompressor throws
      damaged();
    }
    if (checksum(buffer_.data(), header.size, frame_++) != header.checksum) damaged();
    used_ = header.size;
    at_ = 0;
    ended_ = used_ == 0;
  }
  std::string path_;
  InputFile file_;
  io::filtering_istream stream_;
  std::vector<char> buffer_;
  std::size_t used_ = 0;
  std::size_t at_ = 0;
  std::uint64_t frame_ = 0;
  bool ended_ = false;
};

void archive_identity(Archive& a, Identity& identity) {
  std::uint64_t count = identity.size();
  a(count);
  if (count > 100'000) throw ArchiveError("an identity of impossible length");
  identity.resize(count);
  for (auto& [key, value] : identity) {
    a(key);
    a(value);
  }
}

const std::string* value_of(const Identity& identity, const std::string& key) {
  for (const auto& line : identity) {
    if (line.first == key) return &line.second;
  }
  return nullptr;
}

/// "ssd.flash.channels is 8 there, 4 here; ..."; empty when they are the same.
std::string differences(const Identity& there, const Identity& here) {
  std::string result;
  const auto say = [&](const std::string& text) { result += (result.empty() ? "" : "; ") + text; };
  for (const auto& [key, value] : there) {
    const std::string* mine = value_of(here, key);
    if (mine == nullptr) {
      say(key + " is " + value + " there, absent here");
    } else if (*mine != value) {
      say(key + " is " + value + " there, " + *mine + " here");
    }
  }
  for (const auto& [key, value] : here) {
    if (value_of(there, key) == nullptr) say(key + " is absent there, " + value + " here");
  }
  return result;
}

/// Runs one step of reading; whatever a damaged file makes it throw becomes one line.
template <class Step>
void reading(const std::string& path, Step&& step) {
  try {
    step();
  } catch (const InputError&) {
    throw;
  } catch (const ArchiveError& error) {
    throw InputError(path, 0, error.what());
  } catch (const std::bad_alloc&) {
    throw InputError(path, 0, "is damaged, or needs more memory than there is");
  } catch (const std::length_error&) {
    throw InputError(path, 0, "is damaged: a sequence of impossible length");
  }
}

}  // namespace

void check_snapshot_target(const std::string& path, Replace replace) {
  if (access(folder_of(path).c_str(), W_OK) != 0) throw not_written(path, "cannot be written", errno);
  struct stat status {};
  if (lstat(path.c_str(), &status) != 0) {
    if (errno == ENOENT) return;
    throw not_written(path, "cannot be written", errno);
  }
  if (!S_ISREG(status.st_mode)) {
    throw InputError(path, 0,
                     std::string("is ") + kind_of_file(status.st_mode) +
                         "; a snapshot replaces only files, choose another name");
  }
  if (replace == Replace::any_file) return;
  InputFile file(path);
  if (!begins_with_magic(file)) {
    throw InputError(path, 0,
                     "exists and is not a tlmssd snapshot; choose another name, or replace it with --force");
  }
}

std::unique_ptr<FileArchive> FileArchive::save(const std::string& path, const Identity& identity,
                                               Replace replace) {
  auto archive = std::make_unique<SavingArchive>(path, replace);
  Identity lines = identity;
  archive_identity(*archive, lines);
  return archive;
}

std::unique_ptr<FileArchive> FileArchive::load(const std::string& path, const std::vector<Identity>& fitting,
                                               std::size_t& which) {
  auto archive = std::make_unique<LoadingArchive>(path);
  Identity there;
  reading(path, [&] { archive_identity(*archive, there); });
  for (which = 0; which < fitting.size(); ++which) {
    if (differences(there, fitting[which]).empty()) return archive;
  }
  throw SnapshotMismatch("snapshot " + path + " does not fit: " + differences(there, fitting.front()));
}

std::string snapshot_scenario(const std::string& path) {
  LoadingArchive archive(path);
  Identity identity;
  std::string scenario;
  reading(path, [&] {
    archive_identity(archive, identity);
    archive(scenario);
  });
  return scenario;
}

bool is_snapshot(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return false;
  InputFile file(path);
  return begins_with_magic(file);
}

void save_snapshot(const std::string& path, const Identity& identity,
                   const std::function<void(Archive&)>& archive, Replace replace) {
  const auto file = FileArchive::save(path, identity, replace);
  archive(*file);
  file->finish();
}

std::size_t load_snapshot(const std::string& path, const std::vector<Identity>& fitting,
                          const std::function<void(Archive&)>& archive) {
  std::size_t which = 0;
  const auto file = FileArchive::load(path, fitting, which);
  reading(path, [&] {
    archive(*file);
    file->finish();
  });
  return which;
}

void load_snapshot(const std::string& path, const Identity& identity,
                   const std::function<void(Archive&)>& archive) {
  load_snapshot(path, std::vector<Identity>{identity}, archive);
}

}  // namespace tlmssd
