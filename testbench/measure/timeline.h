// A timeline for Perfetto's viewer (or chrome://tracing): spans and counters of dies, channels, cores and queues in a chosen
// window, in the Chrome trace event format, written as they come. Spans of one queue may overlap and are drawn as
// asynchronous events; on the other tracks they follow or contain one another.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/common/types.h"
#include "testbench/measure/output_file.h"

namespace tlmssd {

enum class Track : std::uint8_t { queue, core, channel, die, link };
inline constexpr std::size_t k_tracks = 5;

class TimelineWriter {
 public:
  /// Keeps what touches [from, until). `path` may end in .gz. Throws InputError when it cannot be written.
  TimelineWriter(const std::string& path, Picoseconds from, Picoseconds until);

  /// Whether a span would be kept, at least in part (a cheap test before building names).
  [[nodiscard]] bool wants(Picoseconds start, Picoseconds end) const {
    return end >= from_ && start < until_;
  }
  /// Something that lasted from `start` to `end` on a track; cut to the window.
  void span(Track track, std::uint32_t index, std::string_view name, Picoseconds start, Picoseconds end);
  /// The value of a counter from `when` on.
  void counter(Track track, std::uint32_t index, std::string_view name, Picoseconds when, double value);
  [[nodiscard]] std::uint64_t events() const { return events_; }
  /// Completes the file. Throws InputError when not everything could be written.
  void close();

 private:
  void introduce(Track track, std::uint32_t index);
  void begin_event();
  OutputFile file_;
  Picoseconds from_;
  Picoseconds until_;
  std::array<std::vector<bool>, k_tracks> known_;
  std::array<bool, k_tracks> kind_known_{};
  std::string line_;
  std::uint64_t events_ = 0;
  std::uint64_t async_ = 0;
  bool first_ = true;
  bool closed_ = false;
};

}  // namespace tlmssd
