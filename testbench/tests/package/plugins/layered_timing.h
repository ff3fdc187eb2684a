// layered: tPROG falls from the first word line to the last and with wear, tR grows with retention.
// The same as layered-table.yaml and layered-formula.yaml.
#pragma once

#include <algorithm>
#include <cmath>

#include "models/nand/timing/timing_model.h"

class LayeredTiming final : public tlmssd::TimingModel {
 public:
  static constexpr std::string_view k_name = "layered";
  static constexpr std::string_view k_summary = "tPROG by word line and P/E cycles, tR by retention";
  using Config = tlmssd::NoParameters;
  LayeredTiming(const Config& /*config*/, const tlmssd::NandPart& part) : part_(part) {}

  [[nodiscard]] tlmssd::ArrayAnswer answer(const tlmssd::ArrayOperation& op) const override {
    double factor = 1;
    if (op.command == tlmssd::ArrayCommand::program)
      factor = (1 - 0.12 * op.word_line / 95) * (1 - 0.1 * std::min(op.cycles, 3000.0) / 3000);
    if (op.command == tlmssd::ArrayCommand::sense) factor = 1 + 0.3 * std::min(op.age_days, 90.0) / 90;
    return {.duration = std::llround(static_cast<double>(tlmssd::data_sheet_latency(part_, op)) * factor)};
  }

 private:
  const tlmssd::NandPart& part_;
};
