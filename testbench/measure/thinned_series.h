// Notes of something over time, at regular instants of simulated time.
//
// At most `most` + 1 notes whatever the run's length: when there are more, every second one is
// dropped and the interval doubles. Notes are taken when a command completes, so an idle drive
// gives none.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "models/base/types.h"

namespace tlmssd {

/// `Sample` has a member `when`, the instant it is of.
template <class Sample, std::size_t most, Picoseconds first_step>
class ThinnedSeries {
 public:
  using Source = std::function<Sample(Picoseconds now)>;
  /// Without a source nothing is noted. Measurement starts at 0 unless start() says otherwise.
  void set_source(Source source) {
    source_ = std::move(source);
    start(0);
  }
  void start(Picoseconds now) {
    samples_.clear();
    start_ = now;
    step_ = first_step;
    next_ = source_ ? now : k_never_due;
  }
  void look(Picoseconds now) {
    if (now >= next_) note(now);
  }
  void finish(Picoseconds now) {
    if (source_ && (samples_.empty() || samples_.back().when < now)) note(now);
    next_ = k_never_due;
  }
  [[nodiscard]] const std::vector<Sample>& samples() const { return samples_; }
  /// The present interval.
  [[nodiscard]] Picoseconds step() const { return step_; }
  /// What is there now; only with a source.
  [[nodiscard]] Sample sample(Picoseconds now) const { return source_(now); }

 private:
  static constexpr Picoseconds k_never_due = INT64_MAX;
  void note(Picoseconds now) {
    samples_.push_back(source_(now));
    if (samples_.size() > most) {
      std::size_t kept = 0;
      for (std::size_t i = 0; i < samples_.size(); i += 2) std::swap(samples_[kept++], samples_[i]);
      samples_.resize(kept);
      step_ *= 2;
    }
    while (step_ * static_cast<Picoseconds>(most) < now - start_) step_ *= 2;
    next_ = start_ + ((now - start_) / step_ + 1) * step_;
  }

  Source source_;
  std::vector<Sample> samples_;
  Picoseconds start_ = 0;
  Picoseconds next_ = k_never_due;
  Picoseconds step_ = first_step;
};

}  // namespace tlmssd
