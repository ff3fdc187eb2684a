// Which blocks wait to be refreshed: keeps the history of every block that is read, patrols all of
// them from time to time, and asks the policy. The GC worker moves their data.
//
// A patrol rides on the host's commands (firmware wakes up for them) or is called for when time
// passes without the simulation seeing it. Data in a block that is still being written age too: a
// patrol ends such a block early, so that it can be moved. Memory: 16 bytes per block read, and 4
// for each region of it where the policy divides blocks.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "firmware/core/core.h"
#include "firmware/core/feature_info.h"
#include "firmware/features/refresh/refresh_policy.h"
#include "models/base/make_policy.h"
#include "models/base/sparse_array.h"

namespace tlmssd::firmware {

class Refresher final : public Feature {
 public:
  static constexpr const char* k_path = "firmware.refresh";
  static constexpr const char* k_doc = "writing data anew so that they stay readable";
  static constexpr const char* k_choice_doc = "when data are moved";
  static constexpr MovePurpose k_moves{
      .purpose = Purpose::refresh,
      .doc = "data moved because of their age or of reads",
      .blocks = "refreshes",
      .blocks_doc = "blocks moved because of the age of their data or of reads",
      .parts = "region refreshes",
      .parts_doc = "parts of blocks moved because of their reads"};
  using Config = NoParameters;
  static std::vector<PolicyInfo> policies() {
    return with_none(refresh_family(), "data stay where they are until they are collected");
  }

  explicit Refresher(const FeatureContext& context);

  void on_arrival() override {
    if (interval_ > 0 && core_.clock() >= next_patrol_) patrol();
  }
  void on_command_end() override {
    if (!due_.empty()) start();
  }
  void on_page_read(const ReadOp& read) override;
  [[nodiscard]] bool places_data() const override { return !policy_->never(); }
  // Data just written are not due.
  [[nodiscard]] bool knows_fill() const override { return true; }
  [[nodiscard]] bool move_waits(std::uint32_t pu) const override { return !waiting_[pu].empty(); }
  [[nodiscard]] Move next_move(std::uint32_t pu, bool parts) override;
  [[nodiscard]] bool moves_parts() const override { return regions_ > 0; }

  void on_disturbed(std::uint32_t reads) override;
  void patrol() override;
  [[nodiscard]] double patrol_interval() const override { return policy_->patrol(); }
  [[nodiscard]] double next_due() override;

  // Nothing to report: what is moved is counted by the kernel, with the other moves.
  void archive(Archive& archive) override;

 private:
  struct History {
    std::uint32_t erases;  ///< of the block when this was counted: after the next erase it is no longer true
    std::uint32_t reads;
    std::uint32_t worst_errors;
    std::uint32_t queued;
  };
  struct Entry {
    BlockNumber block;
    std::uint32_t erases;
    std::uint32_t region;  ///< or k_whole
  };
  /// No more than the largest number: disturb() counts as far.
  [[nodiscard]] static std::uint32_t sum_of(std::uint32_t reads, std::uint32_t senses) {
    return senses < 0xFFFFFFFFU - reads ? reads + senses : 0xFFFFFFFFU;
  }
  static constexpr std::uint32_t k_whole = ~std::uint32_t{0};
  static constexpr std::uint32_t k_queued =
      ~std::uint32_t{0};  ///< in place of a region's reads: it waits to be moved
  History& history(BlockNumber block);
  template <class Visit>
  void each_used(Visit visit);
  /// Its data can be moved.
  [[nodiscard]] bool movable(const BlockInfo& info) const;
  bool judge(BlockNumber block, History& history);
  [[nodiscard]] double age(const BlockInfo& info) const {
    return static_cast<double>(core_.clock() - info.written) * 1e-9;
  }
  void start();
  bool count_region(BlockNumber block, std::uint32_t mp_page, std::uint32_t senses);
  bool take_region(const Entry& entry, bool parts);
  [[nodiscard]] std::uint32_t& region_reads(BlockNumber block, std::uint32_t region) {
    return region_reads_[std::size_t{block} * regions_ + region];
  }

  Core& core_;
  BlockPool& pool_;
  GcEngine& gc_engine_;
  std::string policy_name_;
  std::unique_ptr<RefreshPolicy> policy_;
  std::int64_t interval_;  // nanoseconds
  std::int64_t next_patrol_ = 0;
  std::uint32_t region_units_;
  std::uint32_t regions_;  // of a block; 0: reads are counted by block only
  ZeroPages<History> history_;
  ZeroPages<std::uint32_t> region_reads_;    // since the block was written or the region was moved
  std::vector<std::vector<Entry>> waiting_;  // by parallel unit
  std::vector<std::uint32_t> due_;           // parallel units of which the GC engine is yet to be told
};

}  // namespace tlmssd::firmware
