// new-name: FIFO, but a block that still holds much valid data goes back to the end of the line, a
// few times in one choice.
#pragma once

#include "firmware/victims/block_lists.h"

struct NewTypeConfig {
  double too_full = 0.8;
  std::uint32_t tries = 8;
  static const tlmssd::ParameterTable<NewTypeConfig>& parameters() {
    static const auto table =
        tlmssd::ParameterTable<NewTypeConfig>{}
            .share("too_full", &NewTypeConfig::too_full, {0, 1},
                   "share of valid data above which a block is passed over")
            .integer("tries", &NewTypeConfig::tries, {1, 1000}, "blocks passed over in one choice, at most");
    return table;
  }
};

class NewTypeVictims final : public tlmssd::firmware::VictimPolicy {
 public:
  using BlockNumber = tlmssd::firmware::BlockNumber;
  static constexpr std::string_view k_name = "new-name";
  static constexpr std::string_view k_summary = "the block written longest ago that is not too full";
  using Config = NewTypeConfig;

  NewTypeVictims(const Config& config, const tlmssd::firmware::VictimContext& context)
      : limit_(static_cast<std::uint32_t>(config.too_full * context.block_units)),
        tries_(config.tries),
        pus_(context.pus),
        line_(context),
        valid_(std::size_t{context.pus} * context.blocks) {}

  void insert(std::uint32_t pu, BlockNumber block, std::uint32_t valid) override {
    valid_[block] = valid;
    line_.push(pu, block);
  }
  void invalidated(std::uint32_t /*pu*/, BlockNumber block, std::uint32_t valid) override {
    valid_[block] = valid;
  }
  void remove(std::uint32_t pu, BlockNumber block, std::uint32_t /*valid*/) override {
    line_.remove(pu, block);
  }
  BlockNumber select(std::uint32_t pu) override {
    for (std::uint32_t n = 0;; ++n) {
      const BlockNumber block = line_.first(pu);
      if (block == tlmssd::firmware::k_no_block) return block;
      line_.remove(pu, block);
      if (valid_[block] <= limit_ || n == tries_) return block;
      line_.push(pu, block);
    }
  }
  void archive(tlmssd::Archive& a) override {
    a(line_);
    for (std::uint32_t pu = 0; pu < pus_; ++pu)
      for (BlockNumber b = line_.first(pu); b != tlmssd::firmware::k_no_block; b = line_.next(b))
        a(valid_[b]);
  }

 private:
  std::uint32_t limit_;
  std::uint32_t tries_;
  std::uint32_t pus_;
  tlmssd::firmware::BlockList line_;
  tlmssd::ZeroPages<std::uint32_t> valid_;  // by block
};
