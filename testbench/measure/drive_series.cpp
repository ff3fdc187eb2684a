#include "testbench/measure/drive_series.h"

namespace tlmssd {

void DriveSeries::start(Picoseconds now) {
  samples_.clear();
  start_ = now;
  step_ = 1'000'000;
  next_ = source_ ? now : k_never_due;
}

void DriveSeries::note(Picoseconds now) {
  samples_.push_back(source_(now));
  if (samples_.size() > k_most) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < samples_.size(); i += 2) samples_[kept++] = samples_[i];
    samples_.resize(kept);
    step_ *= 2;
  }
  while (step_ * static_cast<Picoseconds>(k_most) < now - start_) step_ *= 2;
  next_ = start_ + ((now - start_) / step_ + 1) * step_;
}

void DriveSeries::finish(Picoseconds now) {
  if (source_ && (samples_.empty() || samples_.back().when < now)) note(now);
  next_ = k_never_due;
}

}  // namespace tlmssd
