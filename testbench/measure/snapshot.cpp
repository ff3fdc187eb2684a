#include "testbench/measure/snapshot.h"

#include <array>
#include <bit>
#include <boost/iostreams/filter/zstd.hpp>
#include <boost/iostreams/filtering_stream.hpp>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <new>

namespace tlmssd {
namespace {

namespace io = boost::iostreams;

constexpr std::string_view k_magic = "TLMSSDSN";
constexpr std::size_t k_frame = std::size_t{1} << 20U;

/// Byte order and type sizes: what must be the same because state is stored as it lies in memory.
struct Machine {
  std::uint32_t format = 3;
  std::uint32_t order = 0x01020304;
  std::uint8_t size_bytes = sizeof(std::size_t);
  std::uint8_t time_bytes = sizeof(Picoseconds);
  std::uint8_t unit_bytes = sizeof(LogicalUnit);
  std::uint8_t pointer_bytes = sizeof(void*);
  bool operator==(const Machine&) const = default;
};
static_assert(sizeof(Machine) == 12);

struct FrameHeader {
  std::uint64_t size = 0;  ///< 0: the end
  std::uint64_t checksum = 0;
};

/// Mixes eight bytes at a time; `frame` is the frame's number, so that swapped frames show.
std::uint64_t checksum(const char* data, std::size_t size, std::uint64_t frame) {
  std::array<std::uint64_t, 4> lane = {frame + 0x9E3779B97F4A7C15U, size, 0x2545F4914F6CDD1DU, ~frame};
  const auto mix = [](std::uint64_t state, std::uint64_t word) {
    return std::rotl(state ^ (word * 0xC2B2AE3D27D4EB4FU), 31) * 0x9E3779B185EBCA87U;
  };
  std::size_t at = 0;
  for (; at + 32 <= size; at += 32) {
    for (std::size_t i = 0; i < 4; ++i) {
      std::uint64_t word = 0;
      std::memcpy(&word, data + at + i * 8, 8);
      lane[i] = mix(lane[i], word);
    }
  }
  for (; at < size; ++at) lane[0] = mix(lane[0], static_cast<unsigned char>(data[at]));
  std::uint64_t result = 0;
  for (const std::uint64_t part : lane) result = mix(result, part) ^ (part >> 29U);
  return result;
}

class SavingArchive final : public FileArchive {
 public:
  explicit SavingArchive(const std::string& path)
      : path_(path),
        partial_(path + ".partial"),
        file_(partial_, std::ios::binary | std::ios::trunc),
        buffer_(k_frame) {
    if (!file_) throw InputError(path, 0, "cannot be written: " + std::string(std::strerror(errno)));
    const Machine machine;
    file_.write(k_magic.data(), static_cast<std::streamsize>(k_magic.size()));
    file_.write(reinterpret_cast<const char*>(&machine), sizeof machine);
    const std::uint64_t length = 0;  // finish() knows it
    file_.write(reinterpret_cast<const char*>(&length), sizeof length);
    stream_.push(io::zstd_compressor(io::zstd_params(1)), k_frame);
    stream_.push(file_, k_frame);
  }
  ~SavingArchive() override {
    if (finished_) return;
    try {
      stream_.reset();
    } catch (...) {  // the file is given up anyway
    }
    file_.close();
    std::remove(partial_.c_str());
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
    const auto length = static_cast<std::uint64_t>(file_.tellp());
    file_.seekp(static_cast<std::streamoff>(k_magic.size() + sizeof(Machine)));
    file_.write(reinterpret_cast<const char*>(&length), sizeof length);
    file_.close();
    if (!file_) throw InputError(path_, 0, "cannot be written in full: " + std::string(std::strerror(errno)));
    if (std::rename(partial_.c_str(), path_.c_str()) != 0) {
      throw InputError(path_, 0, "cannot be put in place: " + std::string(std::strerror(errno)));
    }
    finished_ = true;
  }

 private:
  void put_frame() {
    const FrameHeader header{used_, checksum(buffer_.data(), used_, frame_++)};
    stream_.write(reinterpret_cast<const char*>(&header), sizeof header);
    stream_.write(buffer_.data(), static_cast<std::streamsize>(used_));
    used_ = 0;
    if (!stream_ || !file_)
      throw InputError(path_, 0, "cannot be written in full: " + std::string(std::strerror(errno)));
  }
  std::string path_;
  std::string partial_;
  std::ofstream file_;
  io::filtering_ostream stream_;
  std::vector<char> buffer_;
  std::size_t used_ = 0;
  std::uint64_t frame_ = 0;
  bool finished_ = false;
};

class LoadingArchive final : public FileArchive {
 public:
  explicit LoadingArchive(const std::string& path)
      : path_(path), file_(path, std::ios::binary), buffer_(k_frame) {
    if (!file_) throw InputError(path, 0, "cannot be read: " + std::string(std::strerror(errno)));
    std::string magic(k_magic.size(), '\0');
    file_.read(magic.data(), static_cast<std::streamsize>(magic.size()));
    if (!file_ || magic != k_magic) throw InputError(path, 0, "is not a tlmssd snapshot");
    Machine machine;
    file_.read(reinterpret_cast<char*>(&machine), sizeof machine);
    if (!file_) damaged();
    if (machine.format != Machine{}.format && machine.order == Machine{}.order) {
      throw InputError(path, 0,
                       "is of snapshot format " + std::to_string(machine.format) +
                           "; this program reads format " + std::to_string(Machine{}.format));
    }
    if (machine != Machine{}) throw InputError(path, 0, "was made on a machine of another type");
    std::uint64_t length = 0;
    file_.read(reinterpret_cast<char*>(&length), sizeof length);
    std::error_code error;
    if (!file_ || std::filesystem::file_size(path, error) != length || error) damaged();
    stream_.push(io::zstd_decompressor(), k_frame);
    stream_.push(file_, k_frame);
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
  void get_frame() {
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
  std::ifstream file_;
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

std::unique_ptr<FileArchive> FileArchive::save(const std::string& path, const Identity& identity) {
  auto archive = std::make_unique<SavingArchive>(path);
  Identity lines = identity;
  archive_identity(*archive, lines);
  return archive;
}

std::unique_ptr<FileArchive> FileArchive::load(const std::string& path, const Identity& identity) {
  auto archive = std::make_unique<LoadingArchive>(path);
  Identity there;
  reading(path, [&] { archive_identity(*archive, there); });
  const std::string difference = differences(there, identity);
  if (!difference.empty()) throw SnapshotMismatch("snapshot " + path + " does not fit: " + difference);
  return archive;
}

void save_snapshot(const std::string& path, const Identity& identity,
                   const std::function<void(Archive&)>& archive) {
  const auto file = FileArchive::save(path, identity);
  archive(*file);
  file->finish();
}

void load_snapshot(const std::string& path, const Identity& identity,
                   const std::function<void(Archive&)>& archive) {
  const auto file = FileArchive::load(path, identity);
  reading(path, [&] {
    archive(*file);
    file->finish();
  });
}

}  // namespace tlmssd
