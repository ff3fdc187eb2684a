// formula: latencies by expressions in the part file (formula.h says what may stand in them).
//
//   timing: formula
//   read: "tR[type] * (1 + 0.08 * age_days^0.3) + retry * 12us"
//   program: "base * exp(-0.04 * layer / 63) * (1 - 0.1 * cycles / 3000)"
//
// A program's expression is of one program operation: a page, or a word line where the part
// programs those as a whole; `base` is then the sum of its pages. What has no expression is as the
// data sheet says.
#pragma once

#include <array>
#include <optional>

#include "models/nand/timing/formula.h"
#include "models/nand/timing/timing_model.h"

namespace tlmssd {

struct FormulaTimingConfig {
  std::string read;
  std::string program;
  std::string erase;
  std::string slc_read;
  std::string slc_program;
  std::string slc_erase;

  static const ParameterTable<FormulaTimingConfig>& parameters();
};

class FormulaTiming final : public TimingModel {
 public:
  static constexpr std::string_view k_name = "formula";
  static constexpr std::string_view k_summary =
      "latencies by expressions over type, layer, cycles, age, retry level and others";
  using Config = FormulaTimingConfig;

  /// InputError names expression and position.
  FormulaTiming(const Config& config, const NandPart& part);
  [[nodiscard]] ArrayAnswer answer(const ArrayOperation& op) const override;
  [[nodiscard]] bool looks_at_history() const override { return history_; }
  void check_drive(const Geometry& drive) const override;

 private:
  NandPart part_;
  std::array<std::array<std::optional<Formula>, 3>, 2> formulas_;  // by mode and command
  bool history_ = false;
};

}  // namespace tlmssd
