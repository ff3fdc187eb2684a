// What a timing model promises (models/nand/timing/timing_model.h), tried out.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <thread>

#include "models/base/mixing.h"
#include "models/nand/timing/timing_model.h"
#include "testbench/conform/call_cost.h"
#include "testbench/conform/conformance.h"
#include "testbench/conform/found_by.h"
#include "testbench/conform/in_child.h"
#include "testbench/conform/same_number.h"
#include "testbench/conform/sampled_operations.h"

namespace tlmssd {

namespace {

bool same(const ArrayAnswer& a, const ArrayAnswer& b) {
  return a.duration == b.duration && same_number(a.energy, b.energy) && a.suspend_points == b.suspend_points;
}

std::string differs(const ArrayOperation& op, const ArrayAnswer& first, const ArrayAnswer& then) {
  return fmt::format("{} ps, then {} ps for the {}", first.duration, then.duration, to_text(op));
}

class TimingChecks {
  static constexpr std::size_t k_operations = 20'000;
  static constexpr std::size_t k_series = 500;
  static constexpr double k_most_nanoseconds = 2'000;

 public:
  TimingChecks(const MakeTiming& make, const NandPart& part, std::uint64_t seed)
      : make_(make), part_(part), samples_(part, seed), model_(make()) {
    for (std::size_t i = 0; i < k_operations; ++i) operations_.push_back(samples_.next());
  }

  Conformance all() {
    found_.check("answers every operation", [&] { return answers_all(); });
    if (!found_.passed()) return found_;
    found_.check("latencies are above 0 and at most 1000 s", [&] { return in_range(); });
    found_.check("the same question has the same answer", [&] { return repeats(); });
    found_.check("a second model of the part answers alike", [&] { return second_model(); });
    found_.check("the answer does not depend on the clock", [&] { return later(); });
    found_.check("leaves the part as it is", [&] { return part_unchanged(); });
    found_.check("energies are finite and not negative", [&] { return energies(); });
    found_.check("suspend points ascend within the operation", [&] { return suspend_points(); });
    found_.check("looks_at_history() is true where it matters", [&] { return history(); });
    monotone("read by age", "reads are never faster for older data", ArrayCommand::sense,
             [&](ArrayOperation& op) { op.age_days = samples_.later(op.age_days); });
    monotone("read by retry level", "reads are never faster at a higher retry level", ArrayCommand::sense,
             [&](ArrayOperation& op) { op.retry_level += 1; });
    monotone("erase by cycles", "erases are never faster with more cycles", ArrayCommand::erase,
             [&](ArrayOperation& op) { op.cycles += std::floor(samples_.between(1, 1000)); });
    found_.check("exceptions() names what there is", [&] { return exceptions(); });
    found_.check("a resumed operation is not shorter", [&] { return resumed(); });
    if (part_.has_slc_mode()) {
      found_.check("SLC mode reads no slower than the slowest page type",
                   [&] { return slc(ArrayCommand::sense); });
      found_.check("SLC mode programs no slower than the native mode",
                   [&] { return slc(ArrayCommand::program); });
    }
    if (const std::string missing = left_out(); !missing.empty()) {
      found_.check("every kind of operation was asked about", [] { return ""; });
      found_.note("but for what the part does not have: " + missing);
    }
    found_.check("the unit of time is the picosecond", [&] { return scale(); });
    found_.check("a call takes at most 2 us", [&] { return cost(); });
    found_.note(fmt::format("{:.0f} ns", nanoseconds_));
    return found_;
  }

 private:
  std::string answers_all() {
    for (const ArrayOperation& op : operations_) answers_.push_back(model_->answer(op));
    return {};
  }

  std::string in_range() const {
    for (std::size_t i = 0; i < k_operations; ++i) {
      const Picoseconds time = answers_[i].duration;
      if (time > 0 && time <= k_longest_work) continue;
      return fmt::format("{} ps for the {}", time, to_text(operations_[i]));
    }
    return {};
  }

  /// Operations that only other parts have.
  [[nodiscard]] std::string left_out() const {
    std::string missing;
    if (!part_.has_slc_mode()) missing += "SLC mode";
    if (part_.pages_per_step() == 1)
      missing += (missing.empty() ? "" : ", ") + std::string("programs of several pages");
    return missing;
  }

  /// Backwards, so that what came before is another question.
  std::string repeats() const { return compare(*model_); }
  std::string second_model() const {
    const auto other = make_();
    return compare(*other);
  }
  std::string compare(const TimingModel& model) const {
    for (std::size_t i = k_operations; i-- > 0;) {
      const ArrayAnswer again = model.answer(operations_[i]);
      if (!same(again, answers_[i])) return differs(operations_[i], answers_[i], again);
    }
    return {};
  }

  std::string later() const {
    std::this_thread::sleep_for(std::chrono::milliseconds(1100));
    return compare(*model_);
  }

  std::string part_unchanged() const {
    const auto other = make_();
    const NandPart before = part_;
    for (const ArrayOperation& op : operations_) static_cast<void>(other->answer(op));
    const bool kept = before.read_latency == part_.read_latency &&
                      before.program_latency == part_.program_latency &&
                      before.erase_latency == part_.erase_latency && before.endurance == part_.endurance &&
                      before.pages_per_block == part_.pages_per_block && before.cell == part_.cell;
    return kept ? "" : "the part is another one after the calls";
  }

  std::string energies() const {
    for (std::size_t i = 0; i < k_operations; ++i) {
      if (std::isfinite(answers_[i].energy) && answers_[i].energy >= 0) continue;
      return fmt::format("{} J for the {}", answers_[i].energy, to_text(operations_[i]));
    }
    return {};
  }

  std::string suspend_points() const {
    for (std::size_t i = 0; i < k_operations; ++i) {
      Picoseconds before = 0;
      for (const Picoseconds point : answers_[i].suspend_points) {
        if (point > before && point < answers_[i].duration) {
          before = point;
          continue;
        }
        return fmt::format("{} ps after {} ps, of {} ps for the {}", point, before, answers_[i].duration,
                           to_text(operations_[i]));
      }
    }
    return {};
  }

  std::string history() {
    if (model_->looks_at_history()) return {};
    for (std::size_t i = 0; i < k_operations; ++i) {
      ArrayOperation other = operations_[i];
      samples_.change_history(other);
      other.resumed = !other.resumed && other.command != ArrayCommand::sense;
      const ArrayAnswer answer = model_->answer(other);
      if (!same(answer, answers_[i])) return "it is false, but " + differs(other, answers_[i], answer);
    }
    return {};
  }

  template <class Grow>
  void monotone(std::string_view name, const char* what, ArrayCommand command, Grow grow) {
    const auto excepted = model_->exceptions();
    if (std::find(excepted.begin(), excepted.end(), name) != excepted.end()) {
      found_.check(what, [] { return ""; });
      found_.note("left out: the model says that it is otherwise");
      return;
    }
    found_.check(what, [&]() -> std::string {
      for (std::size_t i = 0; i < k_series; ++i) {
        ArrayOperation op = samples_.next(command, part_.has_slc_mode() && i % 4 == 0);
        if (name == "read by age") op.age_days = samples_.between(0, 100);
        if (name == "erase by cycles") op.cycles = std::floor(op.cycles / 2);
        ArrayAnswer last = model_->answer(op);
        for (int step = 0; step < 8; ++step) {
          ArrayOperation more = op;
          grow(more);
          const ArrayAnswer next = model_->answer(more);
          if (next.duration < last.duration)
            return fmt::format("{} ps for the {}, but {} ps for the {}", last.duration, to_text(op),
                               next.duration, to_text(more));
          op = more;
          last = next;
        }
      }
      return {};
    });
  }

  std::string exceptions() const {
    for (const std::string_view name : model_->exceptions()) {
      if (name == "read by age" || name == "read by retry level" || name == "erase by cycles") continue;
      return fmt::format("\"{}\" is none of: read by age, read by retry level, erase by cycles", name);
    }
    return {};
  }

  std::string resumed() {
    for (std::size_t i = 0; i < k_series; ++i) {
      ArrayOperation op = samples_.next(i % 2 == 0 ? ArrayCommand::program : ArrayCommand::erase);
      op.resumed = false;
      const ArrayAnswer fresh = model_->answer(op);
      op.resumed = true;
      const ArrayAnswer again = model_->answer(op);
      if (again.duration < fresh.duration) return differs(op, fresh, again);
    }
    return {};
  }

  std::string slc(ArrayCommand command) {
    for (std::size_t i = 0; i < k_series; ++i) {
      const ArrayOperation op = samples_.next(command, true);
      const Picoseconds time = model_->answer(op).duration;
      ArrayOperation native = op;
      native.mode = BlockMode::native;
      Picoseconds slowest = 0;
      const std::uint32_t step = command == ArrayCommand::program ? part_.pages_per_step() : 1;
      for (std::uint32_t page = 0; page < part_.bits(); page += step) {
        native.pages = step;
        PageShape(part_).place(native, PageId{index(op.page) * part_.bits() + page});
        slowest = std::max(slowest, model_->answer(native).duration);
      }
      if (time > slowest) return fmt::format("{} ps, native {} ps, for the {}", time, slowest, to_text(op));
    }
    return {};
  }

  /// A model that answers in nanoseconds or microseconds is a thousand times too fast.
  std::string scale() {
    const auto far_off = [&](ArrayCommand command) -> std::string {
      std::vector<double> ratios;
      for (std::size_t i = 0; i < k_series; ++i) {
        const ArrayOperation op = samples_.next(command);
        ratios.push_back(static_cast<double>(model_->answer(op).duration) /
                         static_cast<double>(data_sheet_latency(part_, op)));
      }
      std::nth_element(ratios.begin(), ratios.begin() + k_series / 2, ratios.end());
      const double median = ratios[k_series / 2];
      if (median > 0.005 && median < 200) return {};
      return fmt::format("half of the answers are below {:.3g} times the part's data sheet", median);
    };
    for (const ArrayCommand command : {ArrayCommand::sense, ArrayCommand::program, ArrayCommand::erase}) {
      if (std::string wrong = far_off(command); !wrong.empty()) return wrong;
    }
    return {};
  }

  /// The fastest of ten rounds: what other programs of the machine take does not count.
  std::string cost() {
    nanoseconds_ = nanoseconds_of_call(
        k_operations, [&](std::size_t i) { return model_->answer(operations_[i]).duration; });
    return nanoseconds_ <= k_most_nanoseconds ? "" : fmt::format("{:.0f} ns", nanoseconds_);
  }

  const MakeTiming& make_;
  const NandPart& part_;
  SampledOperations samples_;
  std::unique_ptr<TimingModel> model_;
  std::vector<ArrayOperation> operations_;
  std::vector<ArrayAnswer> answers_;
  Conformance found_;
  double nanoseconds_ = 0;
};

/// Of the model's answers to operations of `part`.
std::uint64_t digest_of(const TimingModel& model, const NandPart& part, std::uint64_t seed) {
  SampledOperations samples(part, seed);
  std::uint64_t digest = 0;
  for (int i = 0; i < 1000; ++i)
    digest = mixed(digest ^ static_cast<std::uint64_t>(model.answer(samples.next()).duration));
  return digest;
}

}  // namespace

Conformance conform_timing(const MakeTiming& make, const NandPart& part, std::uint64_t seed,
                           const MakeTiming& other) {
  // Alone: before any other model of this process.
  const auto alone = other ? in_child([&] { return digest_of(*other(), part, seed); }) : std::nullopt;
  Conformance found = found_by<TimingChecks>("can be made for the part", make, part, seed);
  if (!alone || !found.passed()) return found;
  found.check("a model with other parameters answers as it does alone", [&]() -> std::string {
    if (digest_of(*other(), part, seed) == *alone) return {};
    return "its answers are others when a model has been made before it; something of theirs is static";
  });
  return found;
}

}  // namespace tlmssd
