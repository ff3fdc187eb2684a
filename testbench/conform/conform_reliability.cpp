// What a reliability model promises (models/nand/reliability/reliability_model.h), tried out.
#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <thread>

#include "models/nand/reliability/reliability_model.h"
#include "testbench/conform/call_cost.h"
#include "testbench/conform/conformance.h"
#include "testbench/conform/found_by.h"
#include "testbench/conform/same_number.h"
#include "testbench/conform/sampled_operations.h"

namespace tlmssd {

namespace {

class ReliabilityChecks {
  static constexpr std::size_t k_operations = 20'000;
  static constexpr std::size_t k_series = 500;
  static constexpr double k_most_nanoseconds = 2000;  // a call

 public:
  ReliabilityChecks(const MakeReliability& make, const NandPart& part, std::uint64_t seed)
      : make_(make), part_(part), samples_(part, seed), model_(make()) {
    for (std::size_t i = 0; i < k_operations; ++i)
      operations_.push_back(samples_.next(ArrayCommand::sense, part.has_slc_mode() && i % 4 == 0));
  }

  Conformance all() {
    found_.check("answers every operation", [&]() -> std::string {
      for (const ArrayOperation& op : operations_) rates_.push_back(model_->rber(op));
      return {};
    });
    if (!found_.passed()) return found_;
    found_.check("rates are 0 to 0.5", [&] { return in_range(); });
    found_.check("the same question has the same answer", [&] { return compare(*model_); });
    found_.check("a second model of the part answers alike", [&] { return compare(*make_()); });
    found_.check("the answer does not depend on the clock", [&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(1100));
      return compare(*model_);
    });
    grows("never better with more cycles", &ArrayOperation::cycles, 1000, more_of(1000));
    grows("never better with older data", &ArrayOperation::age_days, 100,
          [&](double age) { return samples_.later(age); });
    grows("never better with more reads", &ArrayOperation::reads_per_page, 10'000, more_of(10'000));
    found_.check("looks_at_variation() is true where it matters", [&] { return variation(); });
    if (part_.has_slc_mode() && model_->knows_slc_mode())
      found_.check("SLC mode has no more errors than the native mode", [&] { return slc(); });
    found_.check("a call takes at most 2 us", [&] { return cost(); });
    found_.note(fmt::format("{:.0f} ns", nanoseconds_));
    return found_;
  }

 private:
  std::string in_range() const {
    for (std::size_t i = 0; i < k_operations; ++i) {
      if (rates_[i] >= 0 && rates_[i] <= 0.5) continue;
      return fmt::format("{} for the {}", rates_[i], to_text(operations_[i]));
    }
    return {};
  }

  std::string compare(const ReliabilityModel& model) const {
    for (std::size_t i = k_operations; i-- > 0;) {
      const double again = model.rber(operations_[i]);
      if (!same_number(again, rates_[i]))
        return fmt::format("{}, then {} for the {}", rates_[i], again, to_text(operations_[i]));
    }
    return {};
  }

  std::function<double(double)> more_of(double most) {
    return [this, most](double value) { return value + std::floor(samples_.between(1, most)); };
  }

  /// From values up to `most` on, by `next`.
  void grows(const char* what, double ArrayOperation::*field, double most,
             const std::function<double(double)>& next) {
    found_.check(what, [&]() -> std::string {
      for (std::size_t i = 0; i < k_series; ++i) {
        ArrayOperation op = samples_.next(ArrayCommand::sense);
        op.*field = samples_.between(0, most);
        for (int step = 0; step < 8; ++step) {
          ArrayOperation more = op;
          more.*field = next(op.*field);
          const double before = model_->rber(op);
          const double after = model_->rber(more);
          if (after < before)
            return fmt::format("{} for the {}, but {} for the {}", before, to_text(op), after, to_text(more));
          op = more;
        }
      }
      return {};
    });
  }

  std::string variation() const {
    if (model_->looks_at_variation()) return {};
    for (std::size_t i = 0; i < k_operations; ++i) {
      ArrayOperation other = operations_[i];
      other.die_deviate -= 1;
      other.block_deviate += 1;
      other.layer_deviate += 2;
      const double rate = model_->rber(other);
      if (!same_number(rate, rates_[i]))
        return fmt::format("it is false, but {}, then {} for the {}", rates_[i], rate, to_text(other));
    }
    return {};
  }

  std::string slc() {
    for (std::size_t i = 0; i < k_series; ++i) {
      const ArrayOperation op = samples_.next(ArrayCommand::sense, true);
      ArrayOperation native = op;
      native.mode = BlockMode::native;
      if (model_->rber(op) > model_->rber(native))
        return fmt::format("{}, native {}, for the {}", model_->rber(op), model_->rber(native), to_text(op));
    }
    return {};
  }

  std::string cost() {
    nanoseconds_ =
        nanoseconds_of_call(k_operations, [&](std::size_t i) { return model_->rber(operations_[i]); });
    return nanoseconds_ <= k_most_nanoseconds ? "" : fmt::format("{:.0f} ns", nanoseconds_);
  }

  const MakeReliability& make_;
  const NandPart& part_;
  SampledOperations samples_;
  std::unique_ptr<ReliabilityModel> model_;
  std::vector<ArrayOperation> operations_;
  std::vector<double> rates_;
  double nanoseconds_ = 0;
  Conformance found_;
};

}  // namespace

Conformance conform_reliability(const MakeReliability& make, const NandPart& part, std::uint64_t seed) {
  return found_by<ReliabilityChecks>("can be made for the part", make, part, seed);
}

}  // namespace tlmssd
