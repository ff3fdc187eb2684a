// Conventional: BCH while errors are few, soft-decoding LDPC from when the error rate demands it
// (the system that Yamaga et al. compare with).
//
// The decoders tell how many bits they corrected. The mean over the latest pages decides for the
// whole drive: above `switch_at` wrong bits per frame, where BCH would no longer be safe, every
// page is read for soft LDPC at once; below `switch_back` of that, BCH returns. A page that BCH
// cannot decode before the switch is read again for soft LDPC.
#pragma once

#include "firmware/ecc/code_choice.h"
#include "firmware/ecc/ecc_policy.h"

namespace tlmssd::firmware {

struct ConventionalEccConfig {
  std::string code = "bch";
  std::string strong_code = "soft-ldpc";
  double switch_at = 30.8;
  double switch_back = 0.8;
  std::uint32_t average_over = 1024;
  static const ParameterTable<ConventionalEccConfig>& parameters();
};

class ConventionalEcc final : public EccPolicy {
 public:
  static constexpr std::string_view k_name = "conventional";
  static constexpr std::string_view k_summary =
      "BCH, and soft-decoding LDPC from when the error rate demands it (baseline of Yamaga et al.)";
  using Config = ConventionalEccConfig;
  ConventionalEcc(const Config& config, const EccContext& context);

  [[nodiscard]] bool looks_at_age() const override { return false; }
  [[nodiscard]] EccCodes codes() const override { return codes_of({code_, strong_}); }
  [[nodiscard]] ReadAttempt first(const PageFacts& /*page*/) override {
    return {switched_ ? strong_ : code_, 0};
  }
  std::optional<ReadAttempt> next(const PageFacts& page, ReadAttempt last, std::uint32_t tried) override;
  void decoded(const PageFacts& page, ReadAttempt how, const Decoded& result) override;
  void report(StatisticsSink& sink) const override;
  void archive(Archive& a) override;

 private:
  Config config_;
  EccCode code_;
  EccCode strong_;
  bool switched_ = false;
  double mean_ = 0;  // wrong bits per frame
  std::uint32_t pages_ = 0;
  std::uint64_t switches_ = 0;
};

}  // namespace tlmssd::firmware
