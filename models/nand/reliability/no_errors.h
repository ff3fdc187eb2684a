// Errors switched off: every page reads as it was written.
#pragma once

#include "models/nand/reliability/reliability_model.h"

namespace tlmssd {

class NoErrors final : public ReliabilityModel {
 public:
  static constexpr std::string_view k_name = "none";
  static constexpr std::string_view k_summary = "no bit errors";
  using Config = NoParameters;
  NoErrors(const Config& /*config*/, const NandPart& /*part*/) {}
  [[nodiscard]] double rber(const ArrayOperation& /*stress*/) const override { return 0; }
  [[nodiscard]] bool looks_at_variation() const override { return false; }
};

}  // namespace tlmssd
