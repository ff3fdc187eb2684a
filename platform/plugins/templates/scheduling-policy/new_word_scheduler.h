// new-name: of the reads that someone waits for and all else, that goes first which has waited
// longest, the time of reads counting several times.
#pragma once

#include "models/flash/scheduling/scheduler.h"

struct NewTypeConfig {
  double weight = 8;
  tlmssd::Picoseconds bound = 20'000'000'000;
  static const tlmssd::ParameterTable<NewTypeConfig>& parameters() {
    static const auto table =
        tlmssd::ParameterTable<NewTypeConfig>{}
            .real("weight", &NewTypeConfig::weight, {1, 1e6}, "how many times the waiting of a read counts")
            .time("bound", &NewTypeConfig::bound, {0, 1e15},
                  "an operation that has waited this long is no longer overtaken nor suspended");
    return table;
  }
};

class NewTypeScheduler final : public tlmssd::Scheduler {
 public:
  using DieQueue = tlmssd::DieQueue;
  using Picoseconds = tlmssd::Picoseconds;
  static constexpr std::string_view k_name = "new-name";
  static constexpr std::string_view k_summary =
      "what has waited longest goes first, reads counting several times";
  using Config = NewTypeConfig;
  explicit NewTypeScheduler(const Config& config) : config_(config) {}

  // The queue of its die that an operation joins: models/base/flash_op.h says what is known of it.
  [[nodiscard]] DieQueue queue(const tlmssd::FlashOp& op) const override {
    const bool waited_for = op.purpose == tlmssd::Purpose::host || op.purpose == tlmssd::Purpose::map;
    return op.command == tlmssd::FlashCommand::read && waited_for ? DieQueue::urgent : DieQueue::normal;
  }
  // Which goes next; the first of each came at these instants.
  [[nodiscard]] DieQueue next(Picoseconds urgent_since, Picoseconds normal_since,
                              Picoseconds now) const override {
    if (overdue(normal_since, now)) return DieQueue::normal;
    const double urgent = config_.weight * static_cast<double>(now - urgent_since);
    return urgent >= static_cast<double>(now - normal_since) ? DieQueue::urgent : DieQueue::normal;
  }
  [[nodiscard]] bool overdue(Picoseconds since, Picoseconds now) const override {
    return now - since >= config_.bound;
  }
  // The urgent queue is used, so that programs and erases may be suspended for it.
  [[nodiscard]] bool overtakes() const override { return true; }

 private:
  Config config_;
};
