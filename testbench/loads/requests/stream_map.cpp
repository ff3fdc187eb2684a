#include "testbench/loads/requests/stream_map.h"

#include <algorithm>
#include <fmt/format.h>

#include "models/base/input_error.h"
#include "testbench/loads/text/fio_units.h"

namespace tlmssd {

namespace {

[[noreturn]] void not_understood(const std::string& text) {
  throw InputError(
      fmt::format("stream: \"{}\" is not understood, expected a placement handle (1), volume, or ranges of "
                  "the drive with their handles (0-512m:1,512m-100%:2)",
                  text));
}

/// A handle that the drive has. One without any takes all, which has no effect.
std::uint16_t checked(std::uint64_t handle, const StreamMap::Drive& drive) {
  constexpr std::uint64_t k_most = 0xFFFF;
  const std::uint64_t handles = drive.handles > 1 ? drive.handles : k_most + 1;
  if (handle < handles) return static_cast<std::uint16_t>(handle);
  throw refusal("stream",
                fmt::format("there is no placement handle {}, the drive has {} (firmware.streams.handles)",
                            handle, handles),
                std::to_string(handles - 1));
}

}  // namespace

StreamMap::StreamMap(const std::string& text, const Drive& drive, std::size_t volumes) {
  if (text == "volume") {
    if (volumes == 0) throw refusal("stream", "only a trace has volumes", "0");
    if (drive.handles > 1 && volumes > drive.handles) {
      throw refusal("stream",
                    fmt::format("the trace has {} volumes, the drive {} placement handles "
                                "(firmware.streams.handles)",
                                volumes, drive.handles),
                    "0");
    }
    by_volume_ = true;
    return;
  }
  if (const auto handle = fio_number(text)) {
    handle_ = checked(*handle, drive);
    return;
  }
  for (const std::string& range : split_text(text, ',')) add_range(range, drive);
  if (ranges_.empty()) not_understood(text);
}

void StreamMap::add_range(const std::string& text, const Drive& drive) {
  const auto parts = split_text(text, ':');
  const auto ends = parts.size() == 2 ? split_text(parts[0], '-') : std::vector<std::string>();
  if (ends.size() != 2) not_understood(text);
  const auto handle = fio_number(parts[1]);
  if (!handle) not_understood(text);
  Range range{size_or_share("stream", ends[0], {drive.bytes, "the drive"}, FioUnits::scenario),
              size_or_share("stream", ends[1], {drive.bytes, "the drive"}, FioUnits::scenario),
              checked(*handle, drive)};
  if (range.from >= range.end || range.end > drive.bytes) {
    throw InputError(fmt::format("stream: {} is no part of the drive's {} B", text, drive.bytes));
  }
  const bool overlaps = std::any_of(ranges_.begin(), ranges_.end(), [&](const Range& other) {
    return range.from < other.end && other.from < range.end;
  });
  if (overlaps) throw InputError(fmt::format("stream: {} overlaps a range before it", text));
  ranges_.push_back(range);
}

}  // namespace tlmssd
