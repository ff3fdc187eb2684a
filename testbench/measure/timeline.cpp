#include "testbench/measure/timeline.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>

namespace tlmssd {
namespace {

constexpr std::array<std::string_view, k_tracks> k_kinds = {"queues", "cores", "channels", "dies", "link"};
constexpr std::array<std::string_view, k_tracks> k_names = {"queue", "core", "channel", "die", "direction"};

/// Text as it may stand in a JSON string.
std::string quoted(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      result += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      result += c;
    }
  }
  return result;
}

/// Microseconds with all picoseconds, exactly.
std::string microseconds(Picoseconds time) {
  return fmt::format("{}.{:06}", time / 1'000'000, time % 1'000'000);
}

}  // namespace

TimelineWriter::TimelineWriter(const std::string& path, Picoseconds from, Picoseconds until)
    : file_(path), from_(std::max<Picoseconds>(from, 0)), until_(until) {
  file_.write("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
}

void TimelineWriter::begin_event() {
  line_ = first_ ? "\n" : ",\n", first_ = false;
}

/// Names a track when it first appears.
void TimelineWriter::introduce(Track track, std::uint32_t index) {
  const auto kind = static_cast<std::size_t>(track);
  if (!kind_known_[kind]) {
    kind_known_[kind] = true;
    begin_event();
    fmt::format_to(std::back_inserter(line_),
                   R"({{"ph":"M","name":"process_name","pid":{},"args":{{"name":"{}"}}}})", kind + 1,
                   k_kinds[kind]);
    file_.write(line_);
  }
  if (known_[kind].size() <= index) known_[kind].resize(std::size_t{index} + 1);
  if (known_[kind][index]) return;
  known_[kind][index] = true;
  begin_event();
  fmt::format_to(std::back_inserter(line_),
                 R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":"{} {}"}}}})", kind + 1,
                 index + 1, k_names[kind], index);
  file_.write(line_);
}

void TimelineWriter::span(Track track, std::uint32_t index, std::string_view name, Picoseconds start,
                          Picoseconds end) {
  if (end < from_ || start >= until_ || end < start) return;
  start = std::max(start, from_);
  end = std::min(end, until_);
  introduce(track, index);
  const auto pid = static_cast<std::size_t>(track) + 1;
  begin_event();
  if (track == Track::queue) {
    ++async_;
    fmt::format_to(std::back_inserter(line_),
                   R"({{"ph":"b","cat":"command","name":"{0}","id":{1},"pid":{2},"tid":{3},"ts":{4}}},)"
                   "\n"
                   R"({{"ph":"e","cat":"command","name":"{0}","id":{1},"pid":{2},"tid":{3},"ts":{5}}})",
                   quoted(name), async_, pid, index + 1, microseconds(start), microseconds(end));
  } else {
    fmt::format_to(std::back_inserter(line_),
                   R"({{"ph":"X","name":"{}","pid":{},"tid":{},"ts":{},"dur":{}}})", quoted(name), pid,
                   index + 1, microseconds(start), microseconds(end - start));
  }
  file_.write(line_);
  ++events_;
}

void TimelineWriter::counter(Track track, std::uint32_t index, std::string_view name, Picoseconds when,
                             double value) {
  if (!wants(when, when)) return;
  introduce(track, index);
  begin_event();
  fmt::format_to(std::back_inserter(line_),
                 R"({{"ph":"C","name":"{} {}: {}","pid":{},"tid":{},"ts":{},"args":{{"value":{}}}}})",
                 k_names[static_cast<std::size_t>(track)], index, quoted(name),
                 static_cast<std::size_t>(track) + 1, index + 1, microseconds(when), value);
  file_.write(line_);
  ++events_;
}

void TimelineWriter::close() {
  if (closed_) return;
  closed_ = true;
  file_.write("\n]}\n");
  file_.close();
}

}  // namespace tlmssd
