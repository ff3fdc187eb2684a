// Streaming decompression. Boost's gzip, bzip2 and xz filters report a stream that ends early; its
// zstd filter does not, so a small parser of the frame format (RFC 8878) watches the compressed
// bytes pass and says whether the last frame was complete.
#include "testbench/loads/text/decompress.h"

#include <boost/iostreams/concepts.hpp>
#include <boost/iostreams/filter/bzip2.hpp>
#include <boost/iostreams/filter/gzip.hpp>
#include <boost/iostreams/filter/lzma.hpp>
#include <boost/iostreams/filter/zstd.hpp>
#include <boost/iostreams/filtering_streambuf.hpp>
#include <string>

namespace tlmssd {

namespace {

namespace io = boost::iostreams;

/// Follows zstd frames: complete() says that the bytes so far end where a frame ends.
class ZstdFrames {
 public:
  void see(const char* bytes, std::size_t size) {
    for (std::size_t i = 0; i < size;) {
      if (skip_ > 0) {
        const std::size_t step = std::min<std::size_t>(skip_, size - i);
        skip_ -= step;
        i += step;
        if (skip_ == 0 && last_block_) end_blocks();
        continue;
      }
      header_.push_back(bytes[i++]);
      if (header_.size() == needed_) header_done();
    }
  }
  [[nodiscard]] bool complete() const { return state_ == State::magic && header_.empty() && skip_ == 0; }

 private:
  enum class State { magic, skippable, descriptor, rest, block, checksum, lost };
  [[nodiscard]] std::uint32_t little_endian() const {
    std::uint32_t value = 0;
    for (std::size_t i = header_.size(); i > 0; --i)
      value = value << 8U | static_cast<unsigned char>(header_[i - 1]);
    return value;
  }
  void expect(State state, std::size_t bytes) {
    state_ = state;
    needed_ = bytes;
    header_.clear();
  }
  void end_blocks() {
    last_block_ = false;
    if (checksum_) {
      expect(State::checksum, 4);
    } else {
      expect(State::magic, 4);
    }
  }
  void header_done() {
    switch (state_) {
      case State::magic:
        if (little_endian() == 0xFD2FB528U) {
          expect(State::descriptor, 1);
        } else if ((little_endian() & 0xFFFFFFF0U) == 0x184D2A50U) {
          expect(State::skippable, 4);
        } else {
          expect(State::lost, 1);
        }
        return;
      case State::skippable: {
        const std::uint32_t size = little_endian();
        expect(State::magic, 4);
        skip_ = size;
        return;
      }
      case State::descriptor:
        return descriptor(static_cast<unsigned char>(header_[0]));
      case State::rest:
        return expect(State::block, 3);
      case State::block:
        return block(little_endian());
      case State::checksum:
        return expect(State::magic, 4);
      case State::lost:
        return expect(State::lost, 1);
    }
  }
  void descriptor(unsigned flags) {
    checksum_ = (flags & 4U) != 0;
    const bool single_segment = (flags & 32U) != 0;
    static constexpr std::size_t k_dictionary[] = {0, 1, 2, 4};
    static constexpr std::size_t k_content[] = {0, 2, 4, 8};
    std::size_t rest = k_dictionary[flags & 3U] + k_content[flags >> 6U];
    if (single_segment && (flags >> 6U) == 0) rest += 1;
    if (!single_segment) rest += 1;
    if (rest == 0) {
      expect(State::block, 3);
    } else {
      expect(State::rest, rest);
    }
  }
  void block(std::uint32_t header) {
    expect(State::block, 3);
    last_block_ = (header & 1U) != 0;
    const bool run_length = ((header >> 1U) & 3U) == 1;
    skip_ = run_length ? 1 : header >> 3U;
    if (skip_ == 0 && last_block_) end_blocks();
  }

  State state_ = State::magic;
  std::string header_;
  std::size_t needed_ = 4;
  std::size_t skip_ = 0;
  bool last_block_ = false;
  bool checksum_ = false;
};

/// A ByteSource as Boost's filters want it.
class RawDevice : public io::source {
 public:
  RawDevice(ByteSource* raw, ZstdFrames* frames) : raw_(raw), frames_(frames) {}
  std::streamsize read(char* to, std::streamsize size) {
    const std::size_t got = raw_->read(to, static_cast<std::size_t>(size));
    if (frames_ != nullptr) frames_->see(to, got);
    return got == 0 ? -1 : static_cast<std::streamsize>(got);
  }

 private:
  ByteSource* raw_;
  ZstdFrames* frames_;
};

class Decompressor final : public ByteSource {
 public:
  Decompressor(std::string_view compression, std::unique_ptr<ByteSource> raw) : raw_(std::move(raw)) {
    static constexpr std::streamsize k_block = 65536;
    zstd_ = compression == "zstd";
    if (compression == "gzip")
      chain_.push(io::gzip_decompressor(io::zlib::default_window_bits, k_block), k_block);
    if (compression == "bzip2") chain_.push(io::bzip2_decompressor(false, k_block), k_block);
    if (compression == "xz") chain_.push(io::lzma_decompressor(k_block), k_block);
    if (zstd_) chain_.push(io::zstd_decompressor(k_block), k_block);
    chain_.push(RawDevice(raw_.get(), zstd_ ? &frames_ : nullptr), k_block);
  }
  std::size_t read(char* to, std::size_t size) override {
    std::streamsize got = 0;
    try {
      got = chain_.sgetn(to, static_cast<std::streamsize>(size));
    } catch (const std::ios_base::failure&) {
      throw DamagedStream("damaged or cut off");
    }
    if (got <= 0) {
      if (zstd_ && !frames_.complete()) throw DamagedStream("damaged or cut off");
      return 0;
    }
    return static_cast<std::size_t>(got);
  }

 private:
  std::unique_ptr<ByteSource> raw_;
  ZstdFrames frames_;
  io::filtering_streambuf<io::input> chain_;
  bool zstd_ = false;
};

}  // namespace

std::string_view compression_of(std::string_view first_bytes) {
  using namespace std::string_view_literals;
  if (first_bytes.starts_with("\x1F\x8B"sv)) return "gzip";
  if (first_bytes.starts_with("BZh"sv)) return "bzip2";
  if (first_bytes.starts_with("\xFD"
                              "7zXZ\0"sv)) {
    return "xz";
  }
  if (first_bytes.starts_with("\x28\xB5\x2F\xFD"sv)) return "zstd";
  return "plain";
}

std::unique_ptr<ByteSource> make_decompressor(std::string_view compression, std::unique_ptr<ByteSource> raw) {
  return std::make_unique<Decompressor>(compression, std::move(raw));
}

}  // namespace tlmssd
