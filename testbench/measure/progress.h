// A progress bar with the time left, on stderr, when that is a terminal; silent otherwise.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "models/common/types.h"

namespace tlmssd {

class Progress {
 public:
  /// `total` steps are expected; 0: unknown. `label` says what is under way. `terminal`: whether to show anything.
  Progress(std::string label, std::uint64_t total, bool terminal);
  /// Shows on stderr if that is a terminal.
  Progress(std::string label, std::uint64_t total);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// `done` steps are done, at the simulated instant `now`. Costs one comparison nearly always.
  void update(std::uint64_t done, Picoseconds now) {
    if (done >= next_) show(done, now);
  }
  /// Clears the line.
  void finish();
  /// The line as it would be shown after `elapsed` seconds.
  [[nodiscard]] std::string line(std::uint64_t done, Picoseconds now, double elapsed) const;

 private:
  void show(std::uint64_t done, Picoseconds now);
  std::string label_;
  std::uint64_t total_;
  std::uint64_t next_;
  std::uint64_t shown_at_ = 0;
  bool visible_ = false;
  std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point last_;
};

}  // namespace tlmssd
