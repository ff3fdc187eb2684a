// Greedy: the block with the fewest valid units; among equals the one that has had that count the
// longest (Bux & Iliadis 2010; Desnoyers 2012). Blocks without any invalid unit are not worth
// choosing.
#pragma once

#include "firmware/victims/block_lists.h"

namespace tlmssd::firmware {

class GreedyVictims final : public VictimPolicy {
 public:
  static constexpr std::string_view k_name = "greedy";
  static constexpr std::string_view k_summary = "the block with the fewest valid units (Desnoyers 2012)";
  using Config = NoParameters;

  GreedyVictims(const Config& /*config*/, const VictimContext& context)
      : block_units_(context.block_units), buckets_(context) {}

  void insert(std::uint32_t pu, BlockNumber block, std::uint32_t valid) override {
    buckets_.push(pu, block, valid);
  }
  void invalidated(std::uint32_t pu, BlockNumber block, std::uint32_t valid) override {
    buckets_.lower(pu, block, valid);
  }
  void remove(std::uint32_t pu, BlockNumber block, std::uint32_t valid) override {
    buckets_.remove(pu, block, valid);
  }
  BlockNumber select(std::uint32_t pu) override {
    const std::uint32_t valid = buckets_.lowest(pu);
    if (valid == ValidBuckets::k_none || valid == block_units_) return k_no_block;
    const BlockNumber block = buckets_.oldest(pu, valid);
    buckets_.remove(pu, block, valid);
    return block;
  }
  void rank(std::uint32_t pu, std::size_t most, std::vector<Candidate>& into) const override {
    buckets_.rank(pu, block_units_, most, into);
  }
  [[nodiscard]] std::optional<StationaryChoice> stationary() const override { return StationaryChoice{}; }
  void archive(Archive& a) override { a(buckets_); }

 private:
  std::uint32_t block_units_;
  ValidBuckets buckets_;
};

}  // namespace tlmssd::firmware
