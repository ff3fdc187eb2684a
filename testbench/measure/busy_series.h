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
    begins_.clear();
    ends_.clear();
    series_.start(now);
  }
  void look(Picoseconds now) { series_.look(now); }
  /// A load submits a command with none outstanding: its first such instant is noted beside the
  /// others, so that its own time is known. Of the first k_most_loads only, like the next.
  void load_begins(std::size_t load, Picoseconds now);
  /// A load has no command outstanding, perhaps for good: its last such instant is noted, or one
  /// at most a quarter of an interval before it.
  void load_rests(std::size_t load, Picoseconds now);
  /// Puts all notes in order; those of loads only if `with_loads`.
  void finish(Picoseconds now, bool with_loads = true);

  [[nodiscard]] const std::vector<Kind>& kinds() const { return kinds_; }
  /// Ends of the intervals into which the time measured falls, in picoseconds since it began.
  [[nodiscard]] std::vector<Picoseconds> ends() const;
  /// How busy a kind was from `from` until `until` (picoseconds since measurement began), all of
  /// its parts together, 0 to 1. Within an interval work is taken to be spread evenly. NaN: that
  /// is no time, or nothing was noted.
  [[nodiscard]] double utilisation(std::size_t kind, Picoseconds from, Picoseconds until) const;

 private:
  struct Sample;
  /// Where the note of a load goes, if there is to be one.
  [[nodiscard]] Sample* place_of(std::size_t load, std::vector<Sample>& notes) const;
  static constexpr std::size_t k_most_loads = 32;  ///< notes of more would cost time that shows
  struct Sample {
    Picoseconds when = 0;
    std::vector<Picoseconds> busy;  ///< by kind
  };
  /// Busy time of a kind up to `when`, since measurement began.
  [[nodiscard]] double busy_until(std::size_t kind, Picoseconds when) const;

  std::vector<Kind> kinds_;
  std::vector<Sample> begins_;  ///< by load; empty where there is none
  std::vector<Sample> ends_;
  std::vector<Sample> all_;  ///< in the order of time
  ThinnedSeries<Sample, 128, 100'000'000> series_;
  Picoseconds start_ = 0;
};

}  // namespace tlmssd
