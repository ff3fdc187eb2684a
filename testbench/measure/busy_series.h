// The drive's resources over time: how long each kind has been at work so far, from which follows
// how busy it was between any two instants.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "models/base/busy_sink.h"
#include "models/base/types.h"
#include "testbench/measure/thinned_series.h"

namespace tlmssd {

class BusySeries {
 public:
  struct Kind {
    std::string label;
    std::size_t parts = 0;  ///< how many there are
  };
  /// `tell` says how busy everything has been since measurement started.
  void set_source(const std::function<void(BusySink&)>& tell);
  void start(Picoseconds now) {
    start_ = now;
    series_.start(now);
  }
  void look(Picoseconds now) { series_.look(now); }
  void finish(Picoseconds now) { series_.finish(now); }

  [[nodiscard]] const std::vector<Kind>& kinds() const { return kinds_; }
  /// Ends of the intervals into which the time measured falls, in picoseconds since it began.
  [[nodiscard]] std::vector<Picoseconds> ends() const;
  /// How busy a kind was from `from` until `until` (picoseconds since measurement began), all of
  /// its parts together, 0 to 1. Within an interval work is taken to be spread evenly. NaN: that
  /// is no time, or nothing was noted.
  [[nodiscard]] double utilisation(std::size_t kind, Picoseconds from, Picoseconds until) const;

 private:
  struct Sample {
    Picoseconds when = 0;
    std::vector<Picoseconds> busy;  ///< by kind
  };
  /// Busy time of a kind up to `when`, since measurement began.
  [[nodiscard]] double busy_until(std::size_t kind, Picoseconds when) const;

  std::vector<Kind> kinds_;
  ThinnedSeries<Sample, 128, 100'000'000> series_;
  Picoseconds start_ = 0;
};

}  // namespace tlmssd
