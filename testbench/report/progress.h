// How far a phase of a run has come, on stderr: on a terminal a bar with rate and time left,
// elsewhere one line when the first seconds show that it will take longer than a minute.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "models/base/types.h"

namespace tlmssd {

class Progress {
 public:
  enum class Shows { nothing, estimate, bar };
  /// A bar when stderr is a terminal.
  static Shows on_stderr();
  /// `total` steps are expected; 0: unknown. `label` says what is under way.
  Progress(std::string label, std::uint64_t total, Shows shows);
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
  /// What is said once of a phase of which `done` steps took `elapsed` seconds; empty when it will
  /// be over within a minute, or nothing can be told yet.
  [[nodiscard]] std::string estimate(std::uint64_t done, double elapsed) const;

 private:
  void show(std::uint64_t done, Picoseconds now);
  std::string label_;
  std::uint64_t total_;
  std::uint64_t next_;
  std::uint64_t shown_at_ = 0;
  Shows shows_;
  bool visible_ = false;
  std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point last_;
};

}  // namespace tlmssd
