// The pass voltage that blocks are read with: a policy chooses it by block and is told what became
// of each first attempt (pass_voltage_policy.h).
#pragma once

#include <memory>
#include <vector>

#include "firmware/core/core.h"
#include "firmware/core/feature_info.h"
#include "firmware/features/pass_voltage/pass_voltage_policy.h"
#include "models/base/make_policy.h"

namespace tlmssd::firmware {

class PassVoltage final : public Feature {
 public:
  static constexpr const char* k_path = "firmware.pass_voltage";
  static constexpr const char* k_doc = "voltage of the word lines that are not read";
  static constexpr const char* k_choice_doc = "with how much of the nominal pass voltage blocks are read";
  using Config = NoParameters;
  static std::vector<PolicyInfo> policies() {
    return with_none(pass_voltage_family(), "every page is read with the nominal voltage");
  }

  explicit PassVoltage(const FeatureContext& context);

  [[nodiscard]] float pass_voltage(BlockNumber block) override {
    return policy_->voltage(block, core_.pool.info(block).erases);
  }
  void on_first_attempt(const ReadOp& read) override;

  void report(StatisticsSink& sink) const override;
  void reset_statistics() override { policy_->reset_statistics(); }
  void archive(Archive& archive) override { policy_->archive(archive); }

 private:
  Core& core_;
  std::unique_ptr<PassVoltagePolicy> policy_;
};

}  // namespace tlmssd::firmware
