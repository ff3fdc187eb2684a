// Static wear levelling: as dynamic, and when the erase counts of a parallel unit spread too far,
// the data of its least erased block are moved into its most erased free block, so that the young
// block takes part again (Chang, Hsieh & Kuo, DAC 2007, in the threshold form that most firmware
// uses).
//
// Closed blocks wait in a heap by erase count; entries that no longer hold are dropped when they
// come to the top.
#pragma once

#include <vector>

#include "firmware/blocks/wear_policy.h"

namespace tlmssd::firmware {

struct StaticWearConfig {
  std::uint32_t threshold = 64;
  std::uint32_t interval = 8;
  static const ParameterTable<StaticWearConfig>& parameters();
};

class StaticWearLevelling final : public WearPolicy {
 public:
  static constexpr std::string_view k_name = "static";
  static constexpr std::string_view k_summary =
      "as dynamic, and cold data are moved into worn blocks when erase counts spread too far";
  using Config = StaticWearConfig;
  StaticWearLevelling(const Config& config, std::uint32_t pus) : config_(config), pus_(pus) {}
  [[nodiscard]] bool least_worn_first() const override { return true; }
  [[nodiscard]] bool moves_data() const override { return true; }
  void closed(std::uint32_t pu, BlockNumber block, std::uint32_t erases) override;
  void erased(std::uint32_t pu, BlockNumber block, std::uint32_t erases) override;
  BlockNumber due(std::uint32_t pu, const BlockPool& pool) override;
  void archive(Archive& archive) override;

 private:
  struct Entry {
    std::uint32_t erases;
    BlockNumber block;
    bool operator<(const Entry& other) const {  // std heaps have the largest on top
      return erases != other.erases ? erases > other.erases : block > other.block;
    }
  };
  struct ParallelUnit {
    std::vector<Entry> closed;
    std::uint32_t most = 0;      ///< highest erase count seen
    std::uint32_t since = 0;     ///< erases since the last move
    std::uint32_t rebuilt = 64;  ///< size of the heap at which stale entries are thrown out
  };
  static bool holds(const Entry& entry, const BlockPool& pool);
  StaticWearConfig config_;
  std::vector<ParallelUnit> pus_;
};

}  // namespace tlmssd::firmware
