// Dynamic wear levelling: of the free blocks of a parallel unit the least erased is used first.
// Cold data stay where they are.
#pragma once

#include "firmware/blocks/wear_policy.h"

namespace tlmssd::firmware {

class DynamicWearLevelling final : public WearPolicy {
 public:
  static constexpr std::string_view k_name = "dynamic";
  static constexpr std::string_view k_summary = "the least erased free block is used first";
  using Config = NoParameters;
  DynamicWearLevelling(const Config& /*config*/, std::uint32_t /*pus*/) {}
  [[nodiscard]] bool least_worn_first() const override { return true; }
  [[nodiscard]] bool moves_data() const override { return false; }
  void archive(Archive& /*archive*/) override {}
};

}  // namespace tlmssd::firmware
