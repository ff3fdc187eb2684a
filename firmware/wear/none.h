// No wear levelling: free blocks are used in the order they were freed.
#pragma once

#include "firmware/blocks/wear_policy.h"

namespace tlmssd::firmware {

class NoWearLevelling final : public WearPolicy {
 public:
  static constexpr std::string_view k_name = "none";
  static constexpr std::string_view k_summary = "free blocks are used in the order they were freed";
  using Config = NoParameters;
  NoWearLevelling(const Config& /*config*/, std::uint32_t /*pus*/) {}
  [[nodiscard]] bool least_worn_first() const override { return false; }
  [[nodiscard]] bool moves_data() const override { return false; }
  void archive(Archive& /*archive*/) override {}
};

}  // namespace tlmssd::firmware
