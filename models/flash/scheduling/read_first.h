// read-first: as out-of-order, but reads that someone waits for (host data and map pages) overtake
// programs, erases and the reads of garbage collection, wear levelling, refresh and migration in
// their die's queue, and may suspend a running program or erase. Background reads stay in line with
// the programs they feed. A program, erase or background read that has waited for the starvation
// bound is overtaken no more: it goes before the reads that came after it, and is no longer
// suspended. (Read-first queues: Nguyen et al., Gao et al. as
// surveyed by Luo et al.; suspend: Wu & He, FAST'12.)
#pragma once

#include "models/flash/scheduling/scheduler.h"

namespace tlmssd {

class ReadFirstScheduler : public Scheduler {
 public:
  static constexpr std::string_view k_name = "read-first";
  static constexpr std::string_view k_summary =
      "as out-of-order, but reads for the host overtake programs, erases and background reads, up to a "
      "starvation bound";
  struct Config {
    Picoseconds starvation_bound = 20'000'000'000;
    static const ParameterTable<Config>& parameters() {
      static const auto table = ParameterTable<Config>{}.time(
          "starvation_bound", &Config::starvation_bound, {0, 1'000'000'000'000'000.0},
          "an operation that has waited this long is no longer overtaken by reads nor suspended for them");
      return table;
    }
  };

  explicit ReadFirstScheduler(const Config& config) : bound_(config.starvation_bound) {}
  [[nodiscard]] DieQueue queue(const FlashOp& op) const override {
    const bool waited_for = op.purpose == Purpose::host || op.purpose == Purpose::map;
    return op.command == FlashCommand::read && waited_for ? DieQueue::urgent : DieQueue::normal;
  }
  [[nodiscard]] DieQueue next(Picoseconds urgent, Picoseconds normal, Picoseconds now) const override {
    return normal <= urgent && overdue(normal, now) ? DieQueue::normal : DieQueue::urgent;
  }
  [[nodiscard]] bool overdue(Picoseconds since, Picoseconds now) const override {
    return now - since >= bound_;
  }
  [[nodiscard]] bool overtakes() const override { return true; }

 private:
  Picoseconds bound_;
};

}  // namespace tlmssd
