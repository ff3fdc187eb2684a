// AOA-ECC, application-optimised adaptive ECC (Yamaga et al., IMW 2016): Quick-LDPC, which takes
// one sense, or EP-LDPC without upper and lower cells, which takes all of the word line and bears
// more errors.
//
// The workload decides (WorkloadClassifier): one that mostly writes is served by EP-LDPC, because
// decoding hardly shows there and cycles add up; one that mostly reads is served by Quick-LDPC as
// long as that is safe, then by EP-LDPC. The hand-over comes at a number of P/E cycles of the
// page's block that falls with the age that data reach: data of a hot workload (written often) are
// about a day old, those of a cold one six days and more; the cycles go with age^-0.465, so that
// they are 2.3 times as many for hot workloads (S; the exponent D). Until a window has been seen,
// EP-LDPC. A page that Quick-LDPC cannot decode is read again for EP-LDPC.
#pragma once

#include "firmware/ecc/code_choice.h"
#include "firmware/ecc/ecc_policy.h"
#include "firmware/ecc/workload_classifier.h"

namespace tlmssd::firmware {

struct AoaEccConfig {
  std::uint64_t window = 100'000;
  double hot_frequency = 7;
  double read_dominant = 0.6;
  std::uint32_t handover_cycles = 2000;
  double hot_retention = 86'400;
  double cold_retention = 6 * 86'400;
  double retention_exponent = 0.465;
  static const ParameterTable<AoaEccConfig>& parameters();
};

class AoaEcc final : public EccPolicy {
 public:
  static constexpr std::string_view k_name = "aoa-ecc";
  static constexpr std::string_view k_summary =
      "Quick-LDPC or EP-LDPC by workload, P/E cycles and age of data (Yamaga et al., IMW 2016)";
  using Config = AoaEccConfig;
  AoaEcc(const Config& config, const EccContext& context);

  [[nodiscard]] EccCodes codes() const override { return codes_of({EccCode::quick_ldpc, EccCode::ep_ldpc}); }
  [[nodiscard]] ReadAttempt first(const PageFacts& page) override {
    return {page.cycles < limit_ ? EccCode::quick_ldpc : EccCode::ep_ldpc, 0};
  }
  std::optional<ReadAttempt> next(const PageFacts& page, ReadAttempt last, std::uint32_t tried) override;
  [[nodiscard]] bool watches_host() const override { return true; }
  void host_reads(std::uint64_t lba, std::uint64_t blocks) override {
    classifier_.reads(lba, blocks);
    classify();
  }
  void host_writes(std::uint64_t lba, std::uint64_t blocks) override {
    classifier_.writes(lba, blocks);
    classify();
  }
  void rested() override { classifier_.restart(); }
  void report(StatisticsSink& sink) const override;
  void archive(Archive& a) override;

  [[nodiscard]] bool hot() const { return classifier_.traits().write_frequency >= config_.hot_frequency; }
  [[nodiscard]] bool read_dominant() const {
    return classifier_.traits().read_share >= config_.read_dominant;
  }
  /// P/E cycles at which Quick-LDPC hands over for the workload as classified; 0: EP-LDPC from the
  /// start.
  [[nodiscard]] std::uint32_t handover() const { return limit_; }

 private:
  void classify() {
    if (classifier_.windows() != windows_) reclassify();
  }
  void reclassify();

  Config config_;
  WorkloadClassifier classifier_;
  std::uint64_t windows_ = 0;
  std::uint32_t limit_ = 0;
};

}  // namespace tlmssd::firmware
