// Random and d-choices: the best of d blocks drawn at random, with replacement (Van Houdt 2013; Li,
// Lee & Lui 2013). Random is d = 1. d-choices approaches greedy as d grows, at a static cost.
#pragma once

#include "firmware/victims/block_lists.h"

namespace tlmssd::firmware {

struct ChoicesConfig {
  std::uint32_t choices = 10;
  static const ParameterTable<ChoicesConfig>& parameters() {
    static const auto table = ParameterTable<ChoicesConfig>{}.integer(
        "choices", &ChoicesConfig::choices, {1, 1024},
        "number of blocks drawn, of which the one with the fewest valid units is taken");
    return table;
  }
};

class DrawnVictims : public VictimPolicy {
 public:
  DrawnVictims(std::uint32_t draws, const VictimContext& context)
      : draws_(draws),
        set_(context),
        valid_(std::size_t{context.pus} * context.blocks),
        random_(context.seed, "firmware.gc victims") {}

  void insert(std::uint32_t pu, BlockNumber block, std::uint32_t valid) override {
    valid_[block] = valid;
    set_.insert(pu, block);
  }
  void invalidated(std::uint32_t /*pu*/, BlockNumber block, std::uint32_t valid) override {
    valid_[block] = valid;
  }
  void remove(std::uint32_t pu, BlockNumber block, std::uint32_t /*valid*/) override {
    set_.remove(pu, block);
  }
  BlockNumber select(std::uint32_t pu) override {
    const auto& members = set_.members(pu);
    if (members.empty()) return k_no_block;
    BlockNumber best = members[random_.below(members.size())];
    for (std::uint32_t draw = 1; draw < draws_; ++draw) {
      const BlockNumber block = members[random_.below(members.size())];
      if (valid_[block] < valid_[best]) best = block;
    }
    set_.remove(pu, best);
    return best;
  }
  [[nodiscard]] std::optional<StationaryChoice> stationary() const override {
    return StationaryChoice{.window = 0, .draws = draws_};
  }
  void archive(Archive& a) override {
    a(set_);
    a(random_);
    for (std::uint32_t pu = 0; pu < pus(); ++pu) {
      for (const BlockNumber block : set_.members(pu)) a(valid_[block]);
    }
  }

 private:
  [[nodiscard]] std::uint32_t pus() const { return set_.pus(); }
  std::uint32_t draws_;
  BlockSet set_;
  ZeroPages<std::uint32_t> valid_;
  RandomStream random_;
};

class RandomVictims final : public DrawnVictims {
 public:
  static constexpr std::string_view k_name = "random";
  static constexpr std::string_view k_summary = "any block, by chance";
  using Config = NoParameters;
  RandomVictims(const Config& /*config*/, const VictimContext& context) : DrawnVictims(1, context) {}
};

class ChoicesVictims final : public DrawnVictims {
 public:
  static constexpr std::string_view k_name = "d-choices";
  static constexpr std::string_view k_summary = "the best of a few blocks drawn by chance (Van Houdt 2013)";
  using Config = ChoicesConfig;
  ChoicesVictims(const Config& config, const VictimContext& context)
      : DrawnVictims(config.choices, context) {}
};

}  // namespace tlmssd::firmware
