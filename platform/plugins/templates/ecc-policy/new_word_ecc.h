// new-name: hard LDPC for young data, soft LDPC at once for old ones and after a failure.
#pragma once

#include "firmware/ecc/code_choice.h"
#include "firmware/ecc/ecc_policy.h"

struct NewTypeConfig {
  double old = 30 * 86'400.0;
  static const tlmssd::ParameterTable<NewTypeConfig>& parameters() {
    static const auto table = tlmssd::ParameterTable<NewTypeConfig>{}.duration(
        "old", &NewTypeConfig::old, {0, 1e9}, "age of a block from which it is read for soft LDPC at once");
    return table;
  }
};

class NewTypeEcc final : public tlmssd::firmware::EccPolicy {
 public:
  using EccCode = tlmssd::EccCode;
  using PageFacts = tlmssd::firmware::PageFacts;
  using ReadAttempt = tlmssd::firmware::ReadAttempt;
  static constexpr std::string_view k_name = "new-name";
  static constexpr std::string_view k_summary = "hard LDPC for young data, soft LDPC for old ones";
  using Config = NewTypeConfig;
  NewTypeEcc(const Config& config, const tlmssd::firmware::EccContext& /*context*/)
      : days_(config.old / 86'400) {}

  // Every code that it may ask for.
  [[nodiscard]] tlmssd::EccCodes codes() const override {
    return tlmssd::firmware::codes_of({EccCode::hard_ldpc, EccCode::soft_ldpc});
  }
  [[nodiscard]] ReadAttempt first(const PageFacts& page) override {
    return {page.days < days_ ? EccCode::hard_ldpc : EccCode::soft_ldpc, 0};
  }
  // Nothing: the page is given up, a media error. Every chain of failures must end so.
  std::optional<ReadAttempt> next(const PageFacts& /*page*/, ReadAttempt last,
                                  std::uint32_t /*tried*/) override {
    if (last.code == EccCode::soft_ldpc) return {};
    return ReadAttempt{EccCode::soft_ldpc, 0};
  }

 private:
  double days_;
};
