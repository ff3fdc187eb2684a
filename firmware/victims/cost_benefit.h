// Cost-benefit: the block with the largest (1 - u) / (2 u) * age, u its share of valid units
// (Rosenblum & Ousterhout 1992; Kawaguchi, Nishioka & Motoda 1995, from whom age, the time since
// the block last lost a unit, is taken).
//
// Age counts events (blocks written, units invalidated) of the parallel unit, so that it does not
// depend on the clock. Within one valid count the oldest block is the best, so one candidate per
// count is enough, and the search ends as soon as not even the oldest block of the parallel unit
// could beat the best candidate with the next count.
#pragma once

#include <algorithm>
#include <utility>

#include "firmware/victims/block_lists.h"

namespace tlmssd::firmware {

class CostBenefitVictims final : public VictimPolicy {
 public:
  static constexpr std::string_view k_name = "cost-benefit";
  static constexpr std::string_view k_summary =
      "the block with the largest (1 - u) / (2 u) * age (Rosenblum & Ousterhout 1992, Kawaguchi et al. 1995)";
  using Config = NoParameters;

  CostBenefitVictims(const Config& /*config*/, const VictimContext& context)
      : block_units_(context.block_units),
        buckets_(context),
        by_age_(context),
        touched_(std::size_t{context.pus} * context.blocks),
        clock_(context.pus, 0) {}

  void insert(std::uint32_t pu, BlockNumber block, std::uint32_t valid) override {
    touched_[block] = ++clock_[pu];
    buckets_.push(pu, block, valid);
    by_age_.push(pu, block);
  }
  void invalidated(std::uint32_t pu, BlockNumber block, std::uint32_t valid) override {
    touched_[block] = ++clock_[pu];
    buckets_.lower(pu, block, valid);
    by_age_.remove(pu, block);
    by_age_.push(pu, block);
  }
  void remove(std::uint32_t pu, BlockNumber block, std::uint32_t valid) override {
    buckets_.remove(pu, block, valid);
    by_age_.remove(pu, block);
  }
  BlockNumber select(std::uint32_t pu) override {
    const BlockNumber eldest = by_age_.first(pu);
    if (eldest == k_no_block) return k_no_block;
    const double longest = age(pu, eldest);
    BlockNumber best = k_no_block;
    std::uint32_t best_valid = 0;
    double best_score = 0;
    for (std::uint32_t valid = buckets_.lowest(pu); valid != ValidBuckets::k_none && valid < block_units_;
         valid = buckets_.lowest_from(pu, valid + 1)) {
      if (best != k_no_block && benefit(valid) * longest <= best_score) break;
      const BlockNumber block = buckets_.oldest(pu, valid);
      const double score = benefit(valid) * age(pu, block);
      if (best == k_no_block || score > best_score) {
        best = block;
        best_valid = valid;
        best_score = score;
      }
      if (valid == 0) break;  // costs nothing: nothing can be better
    }
    if (best != k_no_block) remove(pu, best, best_valid);
    return best;
  }
  /// Of each valid count the best `most`, which come first in its list.
  void rank(std::uint32_t pu, std::size_t most, std::vector<Candidate>& into) const override {
    std::vector<std::pair<Candidate, std::uint32_t>> all;
    for (std::uint32_t valid = buckets_.lowest_from(pu, 0); valid < block_units_;
         valid = buckets_.lowest_from(pu, valid + 1)) {
      BlockNumber b = buckets_.oldest(pu, valid);
      for (std::size_t n = 0; b != k_no_block && n < most; ++n, b = buckets_.next(b))
        all.push_back({{b, benefit(valid) * age(pu, b)}, valid});
    }
    // Blocks without valid units go before all others: they cost nothing.
    std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
      return (a.second == 0) != (b.second == 0) ? a.second == 0 : a.first.score > b.first.score;
    });
    for (std::size_t n = 0; n < std::min(most, all.size()); ++n) into.push_back(all[n].first);
  }
  void archive(Archive& a) override {
    a(buckets_);
    a(by_age_);
    a(clock_);
    for (std::uint32_t pu = 0; pu < clock_.size(); ++pu) {
      for (BlockNumber b = by_age_.first(pu); b != k_no_block; b = by_age_.next(b)) a(touched_[b]);
    }
  }

 private:
  [[nodiscard]] double age(std::uint32_t pu, BlockNumber block) const {
    return static_cast<double>(clock_[pu] - touched_[block] + 1);
  }
  [[nodiscard]] double benefit(std::uint32_t valid) const {
    return (block_units_ - valid) / (2.0 * (valid == 0 ? 1e-9 : valid));
  }
  std::uint32_t block_units_;
  ValidBuckets buckets_;
  BlockList by_age_;
  ZeroPages<std::uint64_t> touched_;
  std::vector<std::uint64_t> clock_;
};

}  // namespace tlmssd::firmware
