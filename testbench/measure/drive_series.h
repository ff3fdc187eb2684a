// The drive over time: what its firmware has counted so far, noted at regular instants.
//
// At most 513 notes whatever the run's length: when there are more, every second one is dropped and
// the interval doubles. Notes are taken when a command completes, so an idle drive gives none.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "models/base/types.h"

namespace tlmssd {

/// Counts are since the start of measurement.
struct DriveSample {
  Picoseconds when = 0;           ///< simulated time
  bool inside_known = true;       ///< else the firmware tells nothing of the next two
  std::uint64_t free_blocks = 0;  ///< blocks of parallel units that are ready to be written
  std::uint64_t buffered = 0;     ///< mapping pages in the write buffer
  std::uint64_t written = 0;      ///< bytes that the host wrote
  std::uint64_t programmed = 0;   ///< bytes programmed, padding included
  std::uint64_t collected = 0;    ///< bytes of these that collection moved
  std::uint64_t erases = 0;       ///< erase operations
};

class DriveSeries {
 public:
  using Source = std::function<DriveSample(Picoseconds now)>;
  /// Without a source nothing is noted. Measurement starts at 0 unless start() says otherwise.
  void set_source(Source source) {
    source_ = std::move(source);
    start(0);
  }
  void start(Picoseconds now);
  void look(Picoseconds now) {
    if (now >= next_) note(now);
  }
  void finish(Picoseconds now);
  [[nodiscard]] const std::vector<DriveSample>& samples() const { return samples_; }

 private:
  static constexpr std::size_t k_most = 512;
  static constexpr Picoseconds k_never_due = INT64_MAX;
  void note(Picoseconds now);
  Source source_;
  std::vector<DriveSample> samples_;
  Picoseconds start_ = 0;
  Picoseconds next_ = k_never_due;
  Picoseconds step_ = 1'000'000;
};

}  // namespace tlmssd
