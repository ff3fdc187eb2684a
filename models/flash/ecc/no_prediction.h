// No prediction: every code corrects what its section says.
#pragma once

#include "models/flash/ecc/error_prediction.h"

namespace tlmssd {

class NoPrediction final : public ErrorPrediction {
 public:
  static constexpr std::string_view k_name = "none";
  static constexpr std::string_view k_summary = "every code corrects what its section says";
  using Config = NoParameters;
  NoPrediction(const Config& /*config*/, const PlainDecoder& plain) : plain_(plain) {}
  [[nodiscard]] double correctable(SideInformation /*side*/, const PageRead& /*page*/) const override {
    return plain_.correctable;
  }

 private:
  PlainDecoder plain_;
};

}  // namespace tlmssd
