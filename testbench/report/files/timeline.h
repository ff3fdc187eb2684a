// Which part of a run the timeline shows: a window of time, or what surrounds the slowest commands.
//
// Which commands are the slowest is known at the end only, so for the latter the newest slices are
// kept in memory (at most k_newest), and of older ones those that touch the surroundings of a
// command that is still among the slowest (at most k_most_kept).
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "testbench/report/files/perfetto_writer.h"

namespace tlmssd {

struct TimelineWindow {
  Picoseconds from = 0;  ///< instants of simulated time
  Picoseconds until = 0;
  std::uint32_t slowest = 0;  ///< around so many commands that begin in the window; 0: all of it
  Picoseconds margin = 0;     ///< shown before and after each of these
};

class Timeline {
 public:
  Timeline(const std::string& path, const TimelineWindow& window) : writer_(path), window_(window) {}

  /// Whether something would be kept, at least in part (a cheap test before building names).
  [[nodiscard]] bool wants(Picoseconds start, Picoseconds end) const {
    return end >= window_.from && start < window_.until;
  }
  /// Cut to the window where it begins before or ends after it.
  void add(TraceSlice slice);
  void add(TraceCounter counter);
  /// A command is over; its own slice has been added.
  void completed(Picoseconds submitted, Picoseconds completed);
  /// Completes the file. Throws InputError when not everything could be written.
  void close();
  /// Whether some of what was asked for could not be kept.
  [[nodiscard]] bool incomplete() const { return incomplete_; }

 private:
  static constexpr std::size_t k_newest = std::size_t{1} << 17U;
  static constexpr std::size_t k_most_kept = std::size_t{1} << 19U;
  using Item = std::variant<TraceSlice, TraceCounter>;
  struct Slow {
    Picoseconds submitted;
    Picoseconds completed;
    [[nodiscard]] Picoseconds latency() const { return completed - submitted; }
  };
  void hold(Item item);
  [[nodiscard]] bool surrounds_slow(const Item& item) const;
  void prune();
  void write(const Item& item);

  PerfettoWriter writer_;
  TimelineWindow window_;
  std::deque<Item> newest_;
  std::vector<Item> kept_;
  std::size_t prune_at_ = 4096;
  std::vector<Slow> slow_;  ///< a heap, the fastest of them in front
  bool incomplete_ = false;
  bool closed_ = false;
};

}  // namespace tlmssd
