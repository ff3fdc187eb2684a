// Retry only: one code, and after a failure the page is read again with the reference voltages of
// the next step of the part's read-retry levels, as controllers of 3D TLC do (Park et al., ASPLOS
// 2021).
//
// With `remember`, the next read of a block begins at the step that last worked there since the
// block was erased, and tries the steps from that one on; when the read-retry levels end it goes on
// from its beginning, so that every step is tried once.
#pragma once

#include <utility>
#include <vector>

#include "firmware/ecc/code_choice.h"
#include "firmware/ecc/ecc_policy.h"

namespace tlmssd::firmware {

struct RetryOnlyConfig {
  std::string code = "bch";
  std::uint32_t steps = 40;
  bool remember = false;
  static const ParameterTable<RetryOnlyConfig>& parameters() {
    using C = RetryOnlyConfig;
    static const auto table =
        ParameterTable<C>{}
            .choice("code", &C::code, ecc_code_names(), "code that every page is decoded with")
            .integer("steps", &C::steps, {1, 254},
                     "steps of the read-retry levels of reference voltages, beside the default one")
            .flag("remember", &C::remember,
                  "begin at the step that last worked in the same block since it was erased");
    return table;
  }
};

class RetryOnlyEcc final : public EccPolicy {
 public:
  static constexpr std::string_view k_name = "retry-only";
  static constexpr std::string_view k_summary =
      "one code; after a failure the page is read again with shifted reference voltages (Park et al. 2021)";
  using Config = RetryOnlyConfig;
  RetryOnlyEcc(const Config& config, const EccContext& context)
      : code_(ecc_code_called(config.code)),
        steps_(config.steps),
        remember_(config.remember),
        last_(config.remember ? context.blocks : 0),
        cycles_(last_.size()) {}

  [[nodiscard]] bool looks_at_age() const override { return remember_; }
  [[nodiscard]] EccCodes codes() const override { return codes_of({code_}); }
  [[nodiscard]] ReadAttempt first(const PageFacts& page) override {
    const bool known = remember_ && cycles_[page.block] == page.cycles;
    return {code_, known ? last_[page.block] : std::uint8_t{0}};
  }
  std::optional<ReadAttempt> next(const PageFacts& /*page*/, ReadAttempt last, std::uint32_t tried) override {
    if (tried > steps_) return {};
    return ReadAttempt{code_,
                       static_cast<std::uint8_t>(last.retry_level == steps_ ? 0 : last.retry_level + 1)};
  }
  [[nodiscard]] std::uint32_t most_attempts() const override { return steps_ + 1; }
  void decoded(const PageFacts& page, ReadAttempt how, const Decoded& /*result*/) override {
    if (!remember_) return;
    last_[page.block] = how.retry_level;
    cycles_[page.block] = page.cycles;
  }
  void archive(Archive& a) override {
    std::vector<std::uint8_t> last = last_;
    std::vector<std::uint32_t> cycles = cycles_;
    a(last);
    a(cycles);
    if (cycles.size() != last.size())
      throw ArchiveError("snapshot is damaged: retry-only remembers blocks in part");
    if (last.size() != last_.size()) return;  // one of the two does not remember
    last_ = std::move(last);
    cycles_ = std::move(cycles);
  }

 private:
  EccCode code_;
  std::uint32_t steps_;
  bool remember_;
  std::vector<std::uint8_t> last_;     // by block
  std::vector<std::uint32_t> cycles_;  // of the block then
};

}  // namespace tlmssd::firmware
