#include "testbench/conform/conform_scheduling.h"

#include <cmath>
#include <fmt/format.h>
#include <vector>

#include "models/base/random.h"
#include "testbench/conform/found_by.h"

namespace tlmssd {

namespace {

/// One of each that a channel asks.
struct Question {
  FlashOp op;
  Picoseconds urgent_since = 0;
  Picoseconds normal_since = 0;
  Picoseconds now = 0;
};

struct Answers {
  DieQueue queue;
  DieQueue next;
  bool overdue;
  bool suspends;
  bool operator==(const Answers&) const = default;
};

class SchedulingChecks {
  static constexpr std::size_t k_questions = 20'000;

 public:
  SchedulingChecks(const MakeScheduler& make, std::uint64_t seed)
      : make_(make), random_(seed, "scheduling"), policy_(make()) {
    for (std::size_t i = 0; i < k_questions; ++i) questions_.push_back(question());
  }

  Conformance all() {
    found_.check("answers every question", [&] { return answers_all(); });
    if (!found_.passed()) return found_;
    found_.check("operations join a queue that there is, and one that there is goes next",
                 [&] { return queues(); });
    found_.check("the same question has the same answer", [&] { return compare(*policy_); });
    found_.check("a second policy answers alike", [&] { return compare(*make_()); });
    return found_;
  }

 private:
  Question question() {
    Question asked;
    asked.op.command = static_cast<FlashCommand>(random_.below(4));
    asked.op.purpose = static_cast<Purpose>(random_.below(static_cast<std::uint64_t>(Purpose::count)));
    asked.op.die = static_cast<DieId>(random_.below(8));
    asked.op.block = static_cast<BlockId>(random_.below(64));
    asked.op.page = static_cast<PageId>(random_.below(64));
    asked.op.writes_wait = random_.below(2) == 0;
    asked.now = 2'000'000'000'000 + static_cast<Picoseconds>(random_.below(1'000'000'000'000));
    asked.urgent_since = asked.now - waited();
    asked.normal_since = asked.now - waited();
    return asked;
  }
  /// A nanosecond to a second, each length as often.
  Picoseconds waited() { return std::llround(1e3 * std::pow(10.0, 9 * random_.uniform())); }

  [[nodiscard]] static Answers ask(const Scheduler& policy, const Question& asked) {
    return {policy.queue(asked.op), policy.next(asked.urgent_since, asked.normal_since, asked.now),
            policy.overdue(asked.normal_since, asked.now), policy.suspends(asked.op)};
  }
  std::string answers_all() {
    for (const Question& asked : questions_) answers_.push_back(ask(*policy_, asked));
    return {};
  }
  [[nodiscard]] std::string queues() const {
    for (const Answers& answer : answers_) {
      for (const DieQueue queue : {answer.queue, answer.next}) {
        if (queue > DieQueue::normal)
          return fmt::format("queue {}; there are 0 (urgent) and 1 (normal)", static_cast<unsigned>(queue));
      }
    }
    return {};
  }
  /// Backwards, so that what came before is another question.
  [[nodiscard]] std::string compare(const Scheduler& policy) const {
    for (std::size_t i = k_questions; i-- > 0;) {
      const Answers again = ask(policy, questions_[i]);
      if (again != answers_[i]) return differs(questions_[i], answers_[i], again);
    }
    return {};
  }
  static std::string differs(const Question& asked, const Answers& first, const Answers& then) {
    const auto told = [](DieQueue queue) { return queue == DieQueue::urgent ? "urgent" : "normal"; };
    const std::string op = fmt::format("{} for {}", name_of(asked.op.command), name_of(asked.op.purpose));
    const double urgent = static_cast<double>(asked.now - asked.urgent_since) * 1e-6;
    const double normal = static_cast<double>(asked.now - asked.normal_since) * 1e-6;
    if (first.queue != then.queue)
      return fmt::format("queue() is {}, then {}, of a {}", told(first.queue), told(then.queue), op);
    if (first.next != then.next)
      return fmt::format("next() is {}, then {}, when the urgent one has waited {:g} us, the normal one {:g}",
                         told(first.next), told(then.next), urgent, normal);
    if (first.overdue != then.overdue)
      return fmt::format("overdue() is {}, then {}, after {:g} us", first.overdue, then.overdue, normal);
    return fmt::format("suspends() is {}, then {}, of a {}", first.suspends, then.suspends, op);
  }

  const MakeScheduler& make_;
  RandomStream random_;
  std::unique_ptr<Scheduler> policy_;
  std::vector<Question> questions_;
  std::vector<Answers> answers_;
  Conformance found_;
};

}  // namespace

Conformance conform_scheduling(const MakeScheduler& make, std::uint64_t seed) {
  return found_by<SchedulingChecks>("can be made", make, seed);
}

}  // namespace tlmssd
