// Placement of read-hot data: what refresh moves gets an open block of its own in each parallel
// unit, and a policy says which free block that is (placement_policy.h).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "firmware/core/core.h"
#include "firmware/core/feature_info.h"
#include "firmware/features/placement/placement_policy.h"
#include "models/base/make_policy.h"

namespace tlmssd::firmware {

class Placement final : public Feature {
 public:
  static constexpr const char* k_path = "firmware.placement";
  static constexpr const char* k_doc = "places for data that are read much";
  static constexpr const char* k_choice_doc = "which free block takes data that refresh moves";
  static constexpr bool k_move_block = true;
  using Config = NoParameters;
  static std::vector<PolicyInfo> policies() {
    return with_none(placement_family(), "data moved by refresh go where all moved data go");
  }

  explicit Placement(const FeatureContext& context);

  void on_page_read(const ReadOp& read) override { policy_->read(read.block); }

  void report(StatisticsSink& sink) const override;
  void reset_statistics() override { policy_->reset_statistics(); }
  void archive(Archive& archive) override { policy_->archive(archive); }

 private:
  std::unique_ptr<PlacementPolicy> policy_;
};

}  // namespace tlmssd::firmware
