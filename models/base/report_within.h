// What the code of others reports stays in the group that it is given: groups that it leaves
// open, or closes without having opened them, would move what others report to another place.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "models/base/input_error.h"
#include "models/base/statistics.h"

namespace tlmssd {

/// Hands on to a sink what `who` ("firmware acme") reports, and counts its groups.
class GuestSink final : public StatisticsSink {
 public:
  GuestSink(StatisticsSink& sink, std::string_view who) : sink_(sink), who_(who) {}
  void open(std::string_view group, std::string_view doc) override {
    ++open_;
    sink_.open(group, doc);
  }
  /// InputError when the group is not one of its own.
  void close() override {
    if (open_ == 0) throw fault_of(std::string(who_), "report() closes a group that it has not opened");
    --open_;
    sink_.close();
  }
  void value(std::string_view name, double value, std::string_view unit, std::string_view doc) override {
    sink_.value(name, value, unit, doc);
  }
  void value(std::string_view name, std::uint64_t value, std::string_view unit,
             std::string_view doc) override {
    sink_.value(name, value, unit, doc);
  }
  void text(std::string_view name, std::string_view value, std::string_view doc) override {
    sink_.text(name, value, doc);
  }
  /// InputError when one of its groups is open.
  void finish() const {
    if (open_ == 0) return;
    throw fault_of(std::string(who_), "report() leaves " + std::to_string(open_) +
                                          (open_ == 1 ? " group open" : " groups open"));
  }

 private:
  StatisticsSink& sink_;
  std::string_view who_;
  std::uint64_t open_ = 0;
};

/// The report of `guest`, which may be a plug-in's. InputError, with the name `who`, when its
/// groups are not balanced.
template <class Guest>
void report_within(StatisticsSink& sink, std::string_view who, const Guest& guest) {
  GuestSink own(sink, who);
  guest.report(own);
  own.finish();
}

}  // namespace tlmssd
