// Windowed greedy: greedy among the `window` blocks that were written longest ago (Hu et al.,
// SYSTOR 2009).
//
// Blocks in the window are kept by valid count, the others in the order of writing; whenever one
// leaves the window, the next oldest enters it.
#pragma once

#include "firmware/victims/block_lists.h"

namespace tlmssd::firmware {

struct WindowConfig {
  std::uint32_t window = 64;
  static const ParameterTable<WindowConfig>& parameters() {
    static const auto table = ParameterTable<WindowConfig>{}.integer(
        "window", &WindowConfig::window, {1, 1U << 24U},
        "blocks per parallel unit, the oldest ones, among which the choice is greedy");
    return table;
  }
};

class WindowedGreedyVictims final : public VictimPolicy {
 public:
  static constexpr std::string_view k_name = "windowed-greedy";
  static constexpr std::string_view k_summary =
      "greedy among the blocks written longest ago (Hu et al. 2009)";
  using Config = WindowConfig;

  WindowedGreedyVictims(const Config& config, const VictimContext& context)
      : window_(config.window),
        buckets_(context),
        younger_(context),
        valid_(std::size_t{context.pus} * context.blocks),
        inside_(context.pus, 0) {}

  void insert(std::uint32_t pu, BlockNumber block, std::uint32_t valid) override {
    valid_[block] = {valid, false};
    younger_.push(pu, block);
    fill(pu);
  }
  void invalidated(std::uint32_t pu, BlockNumber block, std::uint32_t valid) override {
    valid_[block].count = valid;
    if (valid_[block].inside) buckets_.lower(pu, block, valid);
  }
  void remove(std::uint32_t pu, BlockNumber block, std::uint32_t /*valid*/) override {
    if (valid_[block].inside) {
      leave(pu, block);
    } else {
      younger_.remove(pu, block);
    }
  }
  BlockNumber select(std::uint32_t pu) override {
    const std::uint32_t valid = buckets_.lowest(pu);
    if (valid == ValidBuckets::k_none) return k_no_block;
    const BlockNumber block = buckets_.oldest(pu, valid);
    leave(pu, block);
    return block;
  }
  void rank(std::uint32_t pu, std::size_t most, std::vector<Candidate>& into) const override {
    buckets_.rank(pu, ValidBuckets::k_none, most, into);
  }
  [[nodiscard]] std::optional<StationaryChoice> stationary() const override {
    return StationaryChoice{.window = window_, .draws = 0};
  }
  void archive(Archive& a) override {
    a(buckets_);
    a(younger_);
    a(inside_);
    for (std::uint32_t pu = 0; pu < inside_.size(); ++pu) {
      for (BlockNumber b = younger_.first(pu); b != k_no_block; b = younger_.next(b)) a(valid_[b].count);
      for (std::uint32_t valid = buckets_.lowest(pu); valid != ValidBuckets::k_none;
           valid = buckets_.lowest_from(pu, valid + 1)) {
        for (BlockNumber b = buckets_.oldest(pu, valid); b != k_no_block; b = buckets_.next(b))
          valid_[b] = {valid, true};
      }
    }
  }

 private:
  struct Valid {
    std::uint32_t count;
    bool inside;
  };
  void leave(std::uint32_t pu, BlockNumber block) {
    buckets_.remove(pu, block, valid_[block].count);
    --inside_[pu];
    fill(pu);
  }
  void fill(std::uint32_t pu) {
    while (inside_[pu] < window_) {
      const BlockNumber oldest = younger_.first(pu);
      if (oldest == k_no_block) return;
      younger_.remove(pu, oldest);
      valid_[oldest].inside = true;
      buckets_.push(pu, oldest, valid_[oldest].count);
      ++inside_[pu];
    }
  }
  std::uint32_t window_;
  ValidBuckets buckets_;
  BlockList younger_;
  ZeroPages<Valid> valid_;
  std::vector<std::uint32_t> inside_;
};

}  // namespace tlmssd::firmware
