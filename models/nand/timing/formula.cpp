#include "models/nand/timing/formula.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <fmt/format.h>

#include "models/base/input_error.h"
#include "models/base/mixing.h"
#include "models/nand/timing/expression.h"
#include "models/nand/timing/formula_check.h"
#include "models/nand/timing/timing_model.h"

namespace tlmssd {

/// The expression, and the answers it gave: a table in which a new set of arguments takes the place
/// of the one before. It is given up when the same arguments hardly ever come back, as with the age
/// of data on a drive where time passes.
class Formula::Evaluator {
 public:
  Evaluator(std::string key, std::string text, const NandPart& part, ArrayCommand command, bool slc)
      : key_(std::move(key)),
        text_(std::move(text)),
        part_(part),
        command_(command),
        slc_(slc),
        expression_(text_, part),
        values_(expression_.used().size()) {
    width_ = values_.size() + (expression_.uses_base() ? 1 : 0);
    keys_.resize(k_kept * width_);
    answers_.resize(k_kept, 0);
  }

  [[nodiscard]] const Expression& expression() const { return expression_; }

  void check(const Geometry& drive) const { check_formula(key_, text_, part_, drive, command_, slc_); }

  Picoseconds at(const ArrayOperation& op) const {
    const auto& used = expression_.used();
    for (std::size_t i = 0; i < used.size(); ++i) values_[i] = used[i]->of(op);
    const auto base = expression_.uses_base() ? static_cast<double>(data_sheet_latency(part_, op)) : 0;
    return keeps_ ? kept(base) : evaluated(base);
  }

 private:
  static constexpr unsigned k_kept_bits = 12;
  static constexpr std::size_t k_kept = std::size_t{1} << k_kept_bits;
  static constexpr std::uint32_t k_trial =
      8192;  ///< answers worked out until it is seen whether any come back

  static std::uint64_t mix(std::uint64_t hash, double value) {
    hash = (hash ^ std::bit_cast<std::uint64_t>(value)) * 0x9FB21C651E98DF25U;
    return hash ^ (hash >> 32U);
  }

  /// Of `values_`.
  Picoseconds kept(double base) const {
    std::uint64_t hash = k_golden;
    for (const double value : values_) hash = mix(hash, value);
    if (expression_.uses_base()) hash = mix(hash, base);
    const std::size_t place = hash >> (64 - k_kept_bits);
    double* const key = keys_.data() + place * width_;
    Picoseconds& answer = answers_[place];
    if (answer != 0 && std::equal(values_.begin(), values_.end(), key) &&
        (!expression_.uses_base() || key[width_ - 1] == base)) {
      ++found_;
      return answer;
    }
    if (++asked_ == k_trial) keeps_ = found_ >= k_trial / 8;
    answer = evaluated(base);
    std::copy(values_.begin(), values_.end(), key);
    if (expression_.uses_base()) key[width_ - 1] = base;
    return answer;
  }

  Picoseconds evaluated(double base) const {
    const double time = expression_.value(values_, base);
    if (std::isfinite(time) && time >= static_cast<double>(k_longest_work))
      throw objection("ssd.flash.part." + key_, too_long(time) + asked(base));
    if (!(time >= 0.5 && std::isfinite(time)))
      throw objection("ssd.flash.part." + key_, fmt_value(time) + " is no latency" + asked(base));
    return std::llround(time);
  }
  /// What it has been asked for: " where cycles = 3, base = 50 us".
  [[nodiscard]] std::string asked(double base) const {
    std::string text;
    const auto& used = expression_.used();
    for (std::size_t i = 0; i < used.size(); ++i)
      text += fmt::format("{}{} = {:g}", i == 0 ? " where " : ", ", used[i]->name, values_[i]);
    if (expression_.uses_base())
      text += fmt::format("{}base = {:g} us", text.empty() ? " where " : ", ", base * 1e-6);
    return text;
  }
  static std::string fmt_value(double picoseconds) {
    return std::isfinite(picoseconds) ? std::to_string(picoseconds * 1e-6) + " us"
                                      : std::to_string(picoseconds);
  }

  std::string key_;
  std::string text_;
  const NandPart& part_;
  ArrayCommand command_;
  bool slc_;
  Expression expression_;
  std::size_t width_ = 0;
  mutable std::vector<double> values_;
  mutable std::vector<double> keys_;          // width_ for each answer
  mutable std::vector<Picoseconds> answers_;  // 0: none
  mutable bool keeps_ = true;
  mutable std::uint32_t asked_ = 0;  // that had to be worked out
  mutable std::uint64_t found_ = 0;
};

Formula::Formula(const std::string& key, const std::string& text, const NandPart& part, ArrayCommand command,
                 bool slc) {
  check_formula(key, text, part, part.geometry(1, 1, 1), command, slc);
  evaluator_ = std::make_unique<Evaluator>(key, text, part, command, slc);
}

Formula::~Formula() = default;
Formula::Formula(Formula&&) noexcept = default;
Formula& Formula::operator=(Formula&&) noexcept = default;

bool Formula::looks_at_history() const {
  const auto& used = evaluator_->expression().used();
  return std::any_of(used.begin(), used.end(),
                     [](const TimingArgument* argument) { return argument->history; });
}

void Formula::check_drive(const Geometry& drive) const {
  const auto& used = evaluator_->expression().used();
  if (std::any_of(used.begin(), used.end(), [](const TimingArgument* argument) {
        return argument->name == "die" || argument->name == "block";
      })) {
    evaluator_->check(drive);
  }
}

Picoseconds Formula::at(const ArrayOperation& op) const {
  return evaluator_->at(op);
}

}  // namespace tlmssd
