// FIFO: the block that was written first, however many valid units it has (Robinson 1996; Menon &
// Stockmeyer 1998).
#pragma once

#include "firmware/victims/block_lists.h"

namespace tlmssd::firmware {

class FifoVictims final : public VictimPolicy {
 public:
  static constexpr std::string_view k_name = "fifo";
  static constexpr std::string_view k_summary = "the block written longest ago (Robinson 1996)";
  using Config = NoParameters;

  FifoVictims(const Config& /*config*/, const VictimContext& context) : list_(context) {}

  void insert(std::uint32_t pu, BlockNumber block, std::uint32_t /*valid*/) override {
    list_.push(pu, block);
  }
  void invalidated(std::uint32_t /*pu*/, BlockNumber /*block*/, std::uint32_t /*valid*/) override {}
  void remove(std::uint32_t pu, BlockNumber block, std::uint32_t /*valid*/) override {
    list_.remove(pu, block);
  }
  BlockNumber select(std::uint32_t pu) override {
    const BlockNumber block = list_.first(pu);
    if (block != k_no_block) list_.remove(pu, block);
    return block;
  }
  void rank(std::uint32_t pu, std::size_t most, std::vector<Candidate>& into) const override {
    for (BlockNumber b = list_.first(pu); b != k_no_block && into.size() < most; b = list_.next(b))
      into.push_back({b, static_cast<double>(into.size())});
  }
  [[nodiscard]] std::optional<StationaryChoice> stationary() const override {
    return StationaryChoice{.window = 1, .draws = 1};
  }
  void archive(Archive& a) override { a(list_); }

 private:
  BlockList list_;
};

}  // namespace tlmssd::firmware
