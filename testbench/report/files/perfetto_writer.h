// A trace in Perfetto's own format: slices and counters on tracks, with arguments, and arrows
// between slices, as protocol buffers (protos/perfetto/trace in Perfetto's sources).
//
// Perfetto counts nanoseconds: times are rounded down to them; who needs picoseconds says them in
// an argument. Slices of one track must follow or contain one another, so slices that overlap go to
// tracks of the same name, which Perfetto's viewer draws as one. Packets may be written in any
// order of time.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/base/types.h"
#include "testbench/report/files/output_file.h"

namespace tlmssd {

enum class TrackKind : std::uint8_t { queue, link, core, worker, channel, die, plane, counter };
inline constexpr std::size_t k_track_kinds = 8;

struct Track {
  TrackKind kind = TrackKind::queue;
  std::uint32_t index = 0;
  std::uint32_t plane = 0;                         ///< TrackKind::plane: of die `index`
  auto operator<=>(const Track&) const = default;  // NOLINT(modernize-use-nullptr): a mistake of version 15
};

/// A number or a text.
struct TraceArgument {
  TraceArgument(const char* of, std::uint64_t value) : name(of), number(value) {}
  TraceArgument(const char* of, std::string value) : name(of), text(std::move(value)), is_text(true) {}
  const char* name;
  std::uint64_t number = 0;
  std::string text;
  bool is_text = false;
};

struct TraceSlice {
  Track track{};
  std::string name{};
  Picoseconds start = 0;
  Picoseconds end = 0;
  std::vector<TraceArgument> arguments{};
  /// Arrows lead from slice to slice of the same number, in the order of time.
  std::vector<std::uint64_t> flows{};
  /// Arrows that end at the slice's end, and that start there.
  std::vector<std::uint64_t> flows_back{};
  std::vector<std::uint64_t> flows_on{};
};

struct TraceCounter {
  std::string name{};
  Picoseconds when = 0;
  std::int64_t value = 0;
};

class PerfettoWriter {
 public:
  /// Throws InputError when `path` cannot be written.
  explicit PerfettoWriter(const std::string& path) : file_(path) {}
  /// Slices of a track must come in the order of their ends, or of their starts.
  void write(const TraceSlice& slice);
  void write(const TraceCounter& counter);
  /// Completes the file. Throws InputError when not everything could be written.
  void close() { file_.close(); }

 private:
  struct Part {
    std::uint64_t uuid;
    Picoseconds until;  ///< the end of its last slice
  };
  void describe(std::uint64_t uuid, std::uint64_t parent, std::string_view name, std::int32_t rank,
                bool counter = false);
  std::uint64_t group(TrackKind kind);
  std::uint64_t parent_of(const Track& track);
  std::uint64_t part_for(const TraceSlice& slice);
  void packet(Picoseconds when, std::string_view event);
  void flush_packet(std::string_view packet);

  OutputFile file_;
  std::map<Track, std::vector<Part>> parts_;
  std::map<std::string, std::uint64_t> counters_;
  std::uint64_t groups_ = 0;  ///< a bit for each kind that has been described
  std::uint64_t last_uuid_ = k_track_kinds;
};

}  // namespace tlmssd
