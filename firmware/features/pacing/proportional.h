// Proportional: the host writes in proportion to the free space, and just what collection frees on
// average when there is as much as is aimed at. Single victims do not show in it: it is the
// smoother of the two while victims differ, and the slower to follow them (A: the usual throttle of
// drives and log-structured file systems, with its rate measured instead of given).
#pragma once

#include <algorithm>

#include "firmware/features/pacing/pacing_policy.h"

namespace tlmssd::firmware {

class ProportionalPacing final : public PacingPolicy {
 public:
  static constexpr std::string_view k_name = "proportional";
  static constexpr std::string_view k_summary = "writes in proportion to the free space that is left";
  using Config = NoParameters;
  explicit ProportionalPacing(const Config& /*config*/) {}

  [[nodiscard]] double grant(const Progress& progress) override {
    constexpr double k_least = 0.05;
    constexpr double k_slots = 4096;  // over which the average goes, about
    const double now = progress.gained / progress.moved;
    share_ = share_ < 0 ? now : share_ + std::min(progress.moved / k_slots, 1.0) * (now - share_);
    return share_ * std::max(progress.level, k_least) * progress.moved;
  }
  void archive(Archive& a) override { a(share_); }

 private:
  double share_ = -1;  ///< slots gained for each that collection fills, on average; -1: not known
};

}  // namespace tlmssd::firmware
