// out-of-order: each die serves its operations in the order of their arrival, dies are independent
// of each other.
#pragma once

#include "models/flash/scheduling/scheduler.h"

namespace tlmssd {

class OutOfOrderScheduler final : public Scheduler {
 public:
  static constexpr std::string_view k_name = "out-of-order";
  static constexpr std::string_view k_summary =
      "each die serves its own operations in the order of their arrival";
  using Config = NoParameters;

  explicit OutOfOrderScheduler(const Config& /*config*/) {}
  [[nodiscard]] DieQueue queue(const FlashOp& /*op*/) const override { return DieQueue::normal; }
  [[nodiscard]] DieQueue next(Picoseconds /*urgent*/, Picoseconds /*normal*/,
                              Picoseconds /*now*/) const override {
    return DieQueue::normal;
  }
  [[nodiscard]] bool overdue(Picoseconds /*since*/, Picoseconds /*now*/) const override { return true; }
};

}  // namespace tlmssd
