// Little worn: data that are read much go to the free block with the fewest erases and the fewest
// reads so far (Li et al., ACM TODAES 26(1), 2021, as Luo et al. describe it).
//
// The original estimates a block's read error rate from its P/E cycles and accumulated reads. Here
// the two are added, `reads_per_cycle` reads counting for a cycle (A). An erase undoes what reads
// did to the data, so the reads of a block's whole life stand for what its cells went through. Left
// out: the original's choice of idle intervals for refresh by reinforcement learning.
#pragma once

#include "firmware/features/placement/placement_policy.h"
#include "models/base/sparse_array.h"

namespace tlmssd::firmware {

struct LittleWornConfig {
  double reads_per_cycle = 100'000;
  static const ParameterTable<LittleWornConfig>& parameters() {
    static const auto table = ParameterTable<LittleWornConfig>{}.real(
        "reads_per_cycle", &LittleWornConfig::reads_per_cycle, {0, 1e12},
        "page reads in the life of a block that speak against it as much as one program/erase cycle; 0: "
        "reads do not count");
    return table;
  }
};

class LittleWornPlacement final : public PlacementPolicy {
 public:
  static constexpr std::string_view k_name = "little-worn";
  static constexpr std::string_view k_summary =
      "to the free block with the fewest erases and reads in its life (Li et al., 2021)";
  using Config = LittleWornConfig;
  LittleWornPlacement(const Config& config, std::uint32_t blocks)
      : per_read_(config.reads_per_cycle > 0 ? 1 / config.reads_per_cycle : 0), reads_(blocks) {}

  void read(BlockNumber block) override { ++reads_[block]; }
  [[nodiscard]] double burden(BlockNumber block, std::uint32_t cycles) const override {
    return cycles + per_read_ * static_cast<double>(reads_[block]);
  }
  void placed(BlockNumber /*block*/, std::uint32_t cycles) override {
    ++blocks_;
    cycles_ += cycles;
  }
  void report(StatisticsSink& sink) const override {
    sink.value("blocks", blocks_, "", "blocks opened for data that are read much");
    sink.value("mean cycles", blocks_ > 0 ? static_cast<double>(cycles_) / static_cast<double>(blocks_) : 0,
               "", "program/erase cycles that these had, in this simulation");
  }
  void reset_statistics() override { blocks_ = cycles_ = 0; }
  void archive(Archive& a) override {
    for (std::size_t block = 0; block < reads_.size(); ++block) a(reads_[block]);
    a(blocks_);
    a(cycles_);
  }

 private:
  double per_read_;
  ZeroPages<std::uint64_t> reads_;  // by block, in its life
  std::uint64_t blocks_ = 0;
  std::uint64_t cycles_ = 0;
};

}  // namespace tlmssd::firmware
