#include "firmware/ecc/conventional.h"

#include <algorithm>

namespace tlmssd::firmware {

namespace {
constexpr std::uint32_t k_least_pages = 64;  // of which a mean says something
}

const ParameterTable<ConventionalEccConfig>& ConventionalEccConfig::parameters() {
  using C = ConventionalEccConfig;
  static const auto table =
      ParameterTable<C>{}
          .choice("code", &C::code, ecc_code_names(), "code while errors are few")
          .choice("strong_code", &C::strong_code, ecc_code_names(), "code from when they are many")
          .real(
              "switch_at", &C::switch_at, {0, 65535},
              "mean number of wrong bits per frame from which the strong code is used at once; 30.8 is what "
              "BCH with 60 bits bears at a frame failure rate of 1e-6 with binomial errors (20.5 with the "
              "default)")
          .share("switch_back", &C::switch_back, {0, 1},
                 "share of switch_at below which the first code returns")
          .integer("average_over", &C::average_over, {1, 1'000'000}, "pages over which the mean is taken");
  return table;
}

ConventionalEcc::ConventionalEcc(const Config& config, const EccContext& /*context*/)
    : config_(config), code_(ecc_code_called(config.code)), strong_(ecc_code_called(config.strong_code)) {}

std::optional<ReadAttempt> ConventionalEcc::next(const PageFacts& /*page*/, ReadAttempt last,
                                                 std::uint32_t /*tried*/) {
  if (last.code == strong_) return {};
  return ReadAttempt{strong_, 0};
}

void ConventionalEcc::decoded(const PageFacts& /*page*/, ReadAttempt /*how*/, const Decoded& result) {
  // The plain mean of the first pages, then a mean that forgets.
  pages_ = std::min(pages_ + 1, config_.average_over);
  mean_ += (result.mean - mean_) / pages_;
  if (pages_ < std::min(config_.average_over, k_least_pages)) return;
  const bool strong =
      switched_ ? mean_ >= config_.switch_at * config_.switch_back : mean_ >= config_.switch_at;
  if (strong == switched_) return;
  switched_ = strong;
  ++switches_;
}

void ConventionalEcc::report(StatisticsSink& sink) const {
  sink.text("code", name_of(switched_ ? strong_ : code_), "code that pages are first read for, at the end");
  sink.value("mean_errors", mean_, "bits", "wrong bits per frame over the latest pages");
  sink.value("switches", switches_, "", "changes from one code to the other");
}

void ConventionalEcc::archive(Archive& a) {
  a(switched_);
  a(mean_);
  a(pages_);
  a(switches_);
}

}  // namespace tlmssd::firmware
