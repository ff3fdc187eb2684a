// The conformance kit against scheduling policies: the program's own pass, planted faults are
// found.
#include <catch2/catch.hpp>
#include <memory>

#include "testbench/conform/conform_scheduling.h"

using namespace tlmssd;

namespace {

/// Read-first, with one fault.
class Faulty : public Scheduler {
 public:
  [[nodiscard]] DieQueue queue(const FlashOp& op) const override {
    return op.command == FlashCommand::read ? DieQueue::urgent : DieQueue::normal;
  }
  [[nodiscard]] DieQueue next(Picoseconds /*urgent*/, Picoseconds /*normal*/,
                              Picoseconds /*now*/) const override {
    return DieQueue::urgent;
  }
  [[nodiscard]] bool overdue(Picoseconds since, Picoseconds now) const override {
    return now - since >= 1'000'000'000;
  }
};

struct Counts final : Faulty {
  [[nodiscard]] DieQueue next(Picoseconds, Picoseconds, Picoseconds) const override {
    return ++asked % 3 == 0 ? DieQueue::normal : DieQueue::urgent;
  }
  mutable int asked = 0;
};

struct Remembers final : Faulty {
  [[nodiscard]] DieQueue queue(const FlashOp& op) const override {
    const bool again = op.block == last;
    last = op.block;
    return again ? DieQueue::urgent : DieQueue::normal;
  }
  mutable BlockId last{};
};

struct Third final : Faulty {
  [[nodiscard]] DieQueue queue(const FlashOp&) const override { return static_cast<DieQueue>(2); }
};

struct Numbered final : Faulty {
  [[nodiscard]] bool suspends(const FlashOp&) const override { return number % 2 == 0; }
  int number = made++;
  static inline int made = 0;
};

template <class Policy>
Conformance of() {
  return conform_scheduling([] { return std::make_unique<Policy>(); });
}

}  // namespace

TEST_CASE("the program's own scheduling policies pass") {
  for (const PolicyInfo& info : schedulers().infos()) {
    const Conformance found = conform_scheduling([&] { return schedulers().make(info.name, NoValues{}); });
    INFO(info.name << "\n" << found.text());
    CHECK(found.passed());
  }
  CHECK(of<Faulty>().passed());
}

TEST_CASE("scheduling policies that keep state or name a queue that there is not are found") {
  CHECK(of<Counts>().failed("the same question has the same answer"));
  CHECK(of<Remembers>().failed("the same question has the same answer"));
  CHECK(of<Third>().failed("operations join a queue that there is, and one that there is goes next"));
  CHECK(of<Numbered>().failed("a second policy answers alike"));
}
