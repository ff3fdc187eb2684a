// in-order: the operations of a channel start in the order of their arrival; one that waits for its
// die holds all behind it up. The simplest of controllers, and the baseline that shows what
// reordering is worth.
#pragma once

#include "models/flash/scheduling/scheduler.h"

namespace tlmssd {

class InOrderScheduler final : public Scheduler {
 public:
  static constexpr std::string_view k_name = "in-order";
  static constexpr std::string_view k_summary = "operations of a channel start in the order of their arrival";
  using Config = NoParameters;

  explicit InOrderScheduler(const Config& /*config*/) {}
  [[nodiscard]] DieQueue queue(const FlashOp& /*op*/) const override { return DieQueue::normal; }
  [[nodiscard]] DieQueue next(Picoseconds /*urgent*/, Picoseconds /*normal*/,
                              Picoseconds /*now*/) const override {
    return DieQueue::normal;
  }
  [[nodiscard]] bool overdue(Picoseconds /*since*/, Picoseconds /*now*/) const override { return true; }
  [[nodiscard]] bool channel_order() const override { return true; }
};

}  // namespace tlmssd
