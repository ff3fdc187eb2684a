// Which of the drive's placement handles the requests of a load use: one for all, one for each of
// a recording's volumes, or by where on the drive a request begins.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/base/types.h"

namespace tlmssd {

class StreamMap {
 public:
  struct Drive {
    Bytes bytes = 0;
    std::uint32_t handles = 1;
  };
  /// Handle 0 for all.
  StreamMap() = default;
  /// `text`: a handle ("3"), "volume", or ranges of the drive with their handles
  /// ("0-512m:1,512m-50%:2"; elsewhere 0). `volumes`: how many the load's recording has; 0: it is
  /// none. Throws InputError.
  StreamMap(const std::string& text, const Drive& drive, std::size_t volumes);

  /// Of a request for a volume at a byte of the drive.
  [[nodiscard]] std::uint16_t handle(std::uint32_t volume, Bytes at) const {
    if (by_volume_) return static_cast<std::uint16_t>(volume);
    for (const Range& range : ranges_) {
      if (at >= range.from && at < range.end) return range.handle;
    }
    return handle_;
  }
  /// All data have handle 0.
  [[nodiscard]] bool is_plain() const { return !by_volume_ && ranges_.empty() && handle_ == 0; }

 private:
  struct Range {
    Bytes from = 0;
    Bytes end = 0;
    std::uint16_t handle = 0;
  };
  void add_range(const std::string& text, const Drive& drive);

  std::uint16_t handle_ = 0;
  bool by_volume_ = false;
  std::vector<Range> ranges_;
};

}  // namespace tlmssd
