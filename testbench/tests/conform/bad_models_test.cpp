// The conformance kit against models with one planted fault each: the check that is meant for it
// must find it.
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>
#include <stdexcept>
#include <thread>

#include "models/nand/reliability/reliability_model.h"
#include "models/nand/reliability/retention_clock.h"
#include "models/nand/timing/timing_model.h"
#include "testbench/conform/conformance.h"
#include "testbench/conform/sampled_operations.h"

using namespace tlmssd;

namespace {

NandPart tlc() {
  NandPart part;
  part.cell = "tlc";
  part.pages_per_block = 192;
  part.read_latency = {50'000'000, 70'000'000, 90'000'000};
  part.program_latency = {500'000'000};
  part.endurance = 3000;
  part.slc_read_latency = 30'000'000;
  part.slc_program_latency = 200'000'000;
  part.slc_erase_latency = 3'000'000'000;
  return part;
}

using Answer = std::function<ArrayAnswer(const NandPart&, const ArrayOperation&)>;

/// A timing model that is what a function says.
class Told final : public TimingModel {
 public:
  Told(const NandPart& part, Answer answer, bool history = true,
       std::vector<std::string_view> exceptions = {})
      : part_(part), answer_(std::move(answer)), history_(history), exceptions_(std::move(exceptions)) {}
  [[nodiscard]] ArrayAnswer answer(const ArrayOperation& op) const override { return answer_(part_, op); }
  [[nodiscard]] bool looks_at_history() const override { return history_; }
  [[nodiscard]] std::vector<std::string_view> exceptions() const override { return exceptions_; }

 private:
  const NandPart& part_;
  Answer answer_;
  bool history_;
  std::vector<std::string_view> exceptions_;
};

ArrayAnswer sheet(const NandPart& part, const ArrayOperation& op) {
  return {.duration = data_sheet_latency(part, op)};
}
/// The data sheet's time, `factor` times.
ArrayAnswer times(const NandPart& part, const ArrayOperation& op, double factor) {
  return {.duration = std::llround(static_cast<double>(data_sheet_latency(part, op)) * factor)};
}

struct TimingFault {
  const char* name;
  const char* found_by;
  Answer answer;
  bool history = true;
  std::vector<std::string_view> exceptions = {};
};

constexpr const char* k_all = "answers every operation";
constexpr const char* k_range = "latencies are above 0 and at most 1000 s";
constexpr const char* k_again = "the same question has the same answer";
constexpr const char* k_second = "a second model of the part answers alike";
constexpr const char* k_history = "looks_at_history() is true where it matters";
constexpr const char* k_points = "suspend points ascend within the operation";
constexpr const char* k_energy = "energies are finite and not negative";

bool reads(const ArrayOperation& op) {
  return op.command == ArrayCommand::sense;
}
bool programs(const ArrayOperation& op) {
  return op.command == ArrayCommand::program;
}
bool erases(const ArrayOperation& op) {
  return op.command == ArrayCommand::erase;
}

std::vector<TimingFault> timing_faults() {
  using Part = NandPart;
  using Op = ArrayOperation;
  return {
      {"throws for old data", k_all,
       [](const Part& part, const Op& op) {
         if (op.age_days > 3000) throw std::out_of_range("age");
         return sheet(part, op);
       }},
      {"throws no std::exception", k_all,
       [](const Part& part, const Op& op) {
         if (op.retry_level > 30) throw 7;
         return sheet(part, op);
       }},
      {"negative when worn", k_range,
       [](const Part& part, const Op& op) { return times(part, op, 1 - op.cycles / 4000); }},
      {"nought in the last word line", k_range,
       [](const Part& part, const Op& op) {
         return programs(op) && op.word_line == 63 ? ArrayAnswer{} : sheet(part, op);
       }},
      {"infinite at the end of life", k_range,
       [](const Part& part, const Op& op) {
         return op.cycles == 6000 ? ArrayAnswer{.duration = std::numeric_limits<Picoseconds>::max()}
                                  : sheet(part, op);
       }},
      {"too long at the end of life", k_range,
       [](const Part& part, const Op& op) {
         return op.cycles == 6000 ? ArrayAnswer{.duration = k_longest_work + 1} : sheet(part, op);
       }},
      {"a counter in the model", k_again,
       [n = std::make_shared<int>(0)](const Part& part, const Op& op) {
         return times(part, op, 1 + 1e-3 * (++*n % 7));
       }},
      {"remembers the latest block", k_again,
       [last = std::make_shared<BlockId>()](const Part& part, const Op& op) {
         const bool same = *last == op.block;
         *last = op.block;
         return times(part, op, same ? 0.9 : 1);
       }},
      {"chance", k_again,
       [](const Part& part, const Op& op) { return times(part, op, 1 + 1e-2 * (std::rand() % 100)); }},
      {"forgets by wear of what it saw", k_again,
       [most = std::make_shared<double>(0)](const Part& part, const Op& op) {
         *most = std::max(*most, op.cycles);
         return times(part, op, 1 + *most * 1e-6 * (op.cycles > 100 ? 1 : 0));
       }},
      {"by the clock on the wall", "the answer does not depend on the clock",
       [](const Part& part, const Op& op) {
         const auto now = std::chrono::steady_clock::now().time_since_epoch();
         return times(part, op, now / std::chrono::milliseconds(1100) % 2 == 0 ? 1.1 : 1);
       }},
      {"reads faster with age", "reads are never faster for older data",
       [](const Part& part, const Op& op) {
         return times(part, op, reads(op) ? 1 / (1 + op.age_days * 1e-3) : 1);
       }},
      {"a dip in age", "reads are never faster for older data",
       [](const Part& part, const Op& op) {
         return times(part, op, reads(op) && op.age_days > 50 && op.age_days < 300 ? 0.9 : 1);
       }},
      {"a dip far out in age", "reads are never faster for older data",
       [](const Part& part, const Op& op) {
         return times(part, op, reads(op) && op.age_days > 20'000 ? 0.9 : 1);
       }},
      {"retries faster", "reads are never faster at a higher retry level",
       [](const Part& part, const Op& op) { return times(part, op, 1 / (1.0 + 0.1 * op.retry_level)); }},
      {"erases faster with wear", "erases are never faster with more cycles",
       [](const Part& part, const Op& op) { return times(part, op, erases(op) ? 1 - op.cycles * 1e-4 : 1); }},
      {"an exception by a wrong name", "exceptions() names what there is", sheet, true, {"reads by age"}},
      {"history denied: age", k_history,
       [](const Part& part, const Op& op) { return times(part, op, 1 + 1e-4 * op.age_days); }, false},
      {"history denied: variation", k_history,
       [](const Part& part, const Op& op) { return times(part, op, 1 + 0.05 * op.die_deviate); }, false},
      {"shorter when resumed", "a resumed operation is not shorter",
       [](const Part& part, const Op& op) { return times(part, op, op.resumed ? 0.5 : 1); }},
      {"slow SLC reads", "SLC mode reads no slower than the slowest page type",
       [](const Part& part, const Op& op) { return times(part, op, op.slc() && reads(op) ? 4 : 1); }},
      {"slow SLC programs", "SLC mode programs no slower than the native mode",
       [](const Part& part, const Op& op) { return times(part, op, op.slc() && programs(op) ? 3 : 1); }},
      {"nanoseconds for picoseconds", "the unit of time is the picosecond",
       [](const Part& part, const Op& op) { return times(part, op, 1e-3); }},
      {"negative energy", k_energy,
       [](const Part& part, const Op& op) {
         ArrayAnswer answer = sheet(part, op);
         answer.energy = 1e-6 * (1 - op.cycles / 5000);
         return answer;
       }},
      {"no energy at all", k_energy,
       [](const Part& part, const Op& op) {
         ArrayAnswer answer = sheet(part, op);
         answer.energy = std::log(op.cycles);
         return answer;
       }},
      {"a suspend point behind the end", k_points,
       [](const Part& part, const Op& op) {
         ArrayAnswer answer = sheet(part, op);
         if (programs(op)) answer.suspend_points = {answer.duration / 2, answer.duration + 1};
         return answer;
       }},
      {"suspend points that fall", k_points,
       [](const Part& part, const Op& op) {
         ArrayAnswer answer = sheet(part, op);
         if (erases(op)) answer.suspend_points = {answer.duration / 2, answer.duration / 4};
         return answer;
       }},
      {"slow", "a call takes at most 2 us",
       [](const Part& part, const Op& op) {
         volatile double sum = 0;
         for (int i = 0; i < 20'000; ++i) sum = sum + std::sqrt(i + op.cycles);
         return sheet(part, op);
       }},
  };
}

Conformance of(const TimingFault& fault, const NandPart& part) {
  return conform_timing(
      [&] { return std::make_unique<Told>(part, fault.answer, fault.history, fault.exceptions); }, part);
}

}  // namespace

TEST_CASE("operations of the kit have all that they can have, and nothing else") {
  const NandPart part = tlc();
  SampledOperations samples(part, 1);
  double least_voltage = 1;
  double most_days = 0;
  for (int i = 0; i < 20'000; ++i) {
    const ArrayOperation op = samples.next();
    least_voltage = std::min(least_voltage, op.pass_voltage);
    most_days = std::max(most_days, op.age_days);
    if (op.command != ArrayCommand::sense) CHECK((op.age_days == 0 && op.pass_voltage == 1));
    if (op.command == ArrayCommand::erase) CHECK((op.reads == 0 && op.cycles >= (op.slc() ? 0 : 1)));
    if (op.command == ArrayCommand::sense) CHECK(op.reads >= 1);
  }
  CHECK(least_voltage == 0.5);
  CHECK(most_days == RetentionClock::k_most_days);
}

TEST_CASE("a timing model without fault passes", "[slow]") {
  const NandPart part = tlc();
  const Conformance found = of({"none", "",
                                [](const NandPart& p, const ArrayOperation& op) {
                                  if (erases(op) && op.cycles >= 6000)
                                    return ArrayAnswer{.duration = k_longest_work};
                                  return times(p, op, 1 + 1e-4 * (reads(op) ? op.age_days : 0));
                                }},
                               part);
  INFO(found.text());
  CHECK(found.passed());
}

TEST_CASE("each planted fault of a timing model is found by the check that is meant for it", "[slow]") {
  const NandPart part = tlc();
  for (const TimingFault& fault : timing_faults()) {
    const Conformance found = of(fault, part);
    INFO(fault.name << "\n" << found.text());
    CHECK(found.failed(fault.found_by));
  }
}

TEST_CASE("models that differ from one instance to the next, or cannot be made, are found", "[slow]") {
  const NandPart part = tlc();
  int made = 0;
  const Conformance differing = conform_timing(
      [&] {
        return std::make_unique<Told>(
            part, [factor = 1 + 0.1 * made++](const NandPart& p, const ArrayOperation& op) {
              return times(p, op, factor);
            });
      },
      part);
  INFO(differing.text());
  CHECK(differing.failed(k_second));
  const Conformance none =
      conform_timing([]() -> std::unique_ptr<TimingModel> { throw std::runtime_error("no"); }, part);
  CHECK(none.failed("can be made for the part"));
  NandPart changed = tlc();
  const Conformance meddling = conform_timing(
      [&] {
        return std::make_unique<Told>(changed, [&changed](const NandPart& p, const ArrayOperation& op) {
          ++changed.endurance;
          return sheet(p, op);
        });
      },
      changed);
  CHECK(meddling.failed("leaves the part as it is"));
}

TEST_CASE("a timing model that keeps what its first instance worked out is found", "[slow]") {
  const NandPart part = tlc();
  for (const bool shares : {false, true}) {
    std::optional<double> first;
    const auto make = [&](double factor) {
      if (!shares) first.reset();
      if (!first) first = factor;
      return std::make_unique<Told>(
          part, [kept = *first](const NandPart& p, const ArrayOperation& op) { return times(p, op, kept); });
    };
    const Conformance found = conform_timing([&] { return make(1); }, part, 1, [&] { return make(1.25); });
    INFO(found.text());
    CHECK(found.passed() == !shares);
    CHECK(found.failed("a model with other parameters answers as it does alone") == shares);
  }
}

TEST_CASE("a model that says where it departs from physics passes", "[slow]") {
  const NandPart part = tlc();
  const Conformance found = of({"excepted",
                                "",
                                [](const NandPart& p, const ArrayOperation& op) {
                                  return times(p, op, erases(op) ? 1 - op.cycles * 1e-4 : 1);
                                },
                                true,
                                {"erase by cycles"}},
                               part);
  INFO(found.text());
  CHECK(found.passed());
}

namespace {

class ToldErrors final : public ReliabilityModel {
 public:
  explicit ToldErrors(std::function<double(const ArrayOperation&)> rate, bool looks_at_variation = true)
      : rate_(std::move(rate)), looks_at_variation_(looks_at_variation) {}
  [[nodiscard]] double rber(const ArrayOperation& op) const override { return rate_(op); }
  [[nodiscard]] bool knows_slc_mode() const override { return true; }
  [[nodiscard]] bool looks_at_variation() const override { return looks_at_variation_; }

 private:
  std::function<double(const ArrayOperation&)> rate_;
  bool looks_at_variation_;
};

}  // namespace

TEST_CASE("each planted fault of a reliability model is found by the check that is meant for it", "[slow]") {
  struct Row {
    const char* found_by;
    std::function<double(const ArrayOperation&)> rate;
  };
  const NandPart part = tlc();
  const Row rows[] = {
      {"", [](const ArrayOperation& op) { return 1e-4 + 1e-9 * op.cycles + 1e-8 * op.age_days; }},
      {"rates are 0 to 0.5", [](const ArrayOperation& op) { return 1e-3 * op.age_days; }},
      {"rates are 0 to 0.5", [](const ArrayOperation& op) { return std::log(op.cycles) * 1e-4; }},
      {k_again, [n = std::make_shared<int>(0)](const ArrayOperation&) { return 1e-6 * ++*n; }},
      {"never better with more cycles", [](const ArrayOperation& op) { return 1e-3 / (1 + op.cycles); }},
      {"never better with older data",
       [](const ArrayOperation& op) { return op.age_days > 200 ? 1e-4 : 1e-3; }},
      {"never better with older data",
       [](const ArrayOperation& op) { return op.age_days > 20'000 ? 1e-4 : 1e-3; }},
      {"never better with more reads",
       [](const ArrayOperation& op) { return 1e-3 / (1 + op.reads_per_page); }},
      {"SLC mode has no more errors than the native mode",
       [](const ArrayOperation& op) { return op.slc() ? 1e-3 : 1e-4; }},
      {k_all, [](const ArrayOperation& op) -> double {
         if (op.reads > 9e6) throw std::runtime_error("too many");
         return 0;
       }}};
  for (const Row& row : rows) {
    const Conformance found =
        conform_reliability([&] { return std::make_unique<ToldErrors>(row.rate); }, part);
    INFO(row.found_by << "\n" << found.text());
    if (*row.found_by == '\0') {
      CHECK(found.passed());
    } else {
      CHECK(found.failed(row.found_by));
    }
  }
}

TEST_CASE("a reliability model that hides its look at the deviates is found", "[slow]") {
  const NandPart part = tlc();
  for (const auto deviate :
       {&ArrayOperation::die_deviate, &ArrayOperation::block_deviate, &ArrayOperation::layer_deviate}) {
    const auto rate = [deviate](const ArrayOperation& op) { return 1e-4 * std::exp(0.1 * op.*deviate); };
    for (const bool says_so : {true, false}) {
      const Conformance found =
          conform_reliability([&] { return std::make_unique<ToldErrors>(rate, says_so); }, part);
      INFO(found.text());
      CHECK(found.passed() == says_so);
      CHECK(found.failed("looks_at_variation() is true where it matters") == !says_so);
    }
  }
}

TEST_CASE("an answer that is no number is complained of as such, and not as another one", "[slow]") {
  const NandPart part = tlc();
  const auto complaints = [](const Conformance& found) {
    std::vector<std::string> all;
    for (const Conformance::Finding& finding : found.findings()) {
      if (!finding.wrong.empty()) all.push_back(finding.check);
    }
    return all;
  };
  const auto rate = [](const ArrayOperation& op) { return op.reads > 5e6 ? std::nan("") : 1e-4; };
  CHECK(complaints(conform_reliability([&] { return std::make_unique<ToldErrors>(rate); }, part)) ==
        std::vector<std::string>{"rates are 0 to 0.5"});
}
