// Fixed: one code for every page, whatever its state; a failure is final.
#pragma once

#include "firmware/ecc/code_choice.h"
#include "firmware/ecc/ecc_policy.h"

namespace tlmssd::firmware {

struct FixedEccConfig {
  std::string code = "bch";
  static const ParameterTable<FixedEccConfig>& parameters() {
    static const auto table = ParameterTable<FixedEccConfig>{}.choice(
        "code", &FixedEccConfig::code, ecc_code_names(), "code that every page is decoded with");
    return table;
  }
};

class FixedEcc final : public EccPolicy {
 public:
  static constexpr std::string_view k_name = "fixed";
  static constexpr std::string_view k_summary = "one code for every page; a failure is final";
  using Config = FixedEccConfig;
  FixedEcc(const Config& config, const EccContext& /*context*/) : code_(ecc_code_called(config.code)) {}

  [[nodiscard]] bool looks_at_age() const override { return false; }
  [[nodiscard]] EccCodes codes() const override { return codes_of({code_}); }
  [[nodiscard]] ReadAttempt first(const PageFacts& /*page*/) override { return {code_, 0}; }
  std::optional<ReadAttempt> next(const PageFacts& /*page*/, ReadAttempt /*last*/,
                                  std::uint32_t /*tried*/) override {
    return {};
  }

 private:
  EccCode code_;
};

}  // namespace tlmssd::firmware
