// Which commands of the host read on where another has ended, and how far ahead of them data are
// fetched.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace tlmssd::firmware {

/// A run of read commands, each beginning where the one before it ends.
struct ReadStream {
  std::uint64_t next = 0;      ///< block that goes on with it
  std::uint64_t fetched = 0;   ///< first unit that has not been fetched ahead
  std::uint64_t used = 0;      ///< number of the command that came last
  std::uint64_t commands = 0;  ///< so far; 0: none, the stream is free
};

class ReadStreams {
 public:
  /// So many are known at a time: a new one takes the place of that which was read longest ago.
  explicit ReadStreams(std::uint32_t streams) : streams_(streams) {}
  /// A read belongs to the stream that it goes on with, or begins one.
  void read(std::uint64_t lba, std::uint64_t blocks) {
    const auto goes_on = [lba](const ReadStream& s) { return s.commands > 0 && s.next == lba; };
    auto stream = std::find_if(streams_.begin(), streams_.end(), goes_on);
    if (stream == streams_.end()) {
      const auto longer_ago = [](const ReadStream& a, const ReadStream& b) { return a.used < b.used; };
      stream = std::min_element(streams_.begin(), streams_.end(), longer_ago);
      *stream = {};
    }
    stream->next = lba + blocks;
    stream->used = ++reads_;
    ++stream->commands;
  }
  [[nodiscard]] auto begin() { return streams_.begin(); }
  [[nodiscard]] auto end() { return streams_.end(); }
  /// Saves or restores all of it.
  template <class Archive>
  void archive(Archive& a) {
    a(streams_);
    a(reads_);
  }

 private:
  std::vector<ReadStream> streams_;
  std::uint64_t reads_ = 0;
};

}  // namespace tlmssd::firmware
