// Read/write partitioning: what is only read is moved to a part of the dies, and what the host
// writes goes to the others.
//
// Moving. What reads of the host have delivered and the policy calls read data is gathered and
// programmed into the reading part (read_gatherer.h); then the map points there and the old place
// is invalid. What is written or trimmed meanwhile stays as the host has it: rewritten() takes it
// off the list of what is under way, under a number that tells apart units gathered twice.
//
// Writing. Programs of the write buffer keep away from the reading part while there is something to
// keep away from (reads are at least `placement_from` of what the host lately read from and wrote
// to flash) and while the writing part has room: it can take in `keep_room` of what it may hold.
// Otherwise they go round all parallel units, so that all of the capacity can be used, a drive
// without reads loses none of its bandwidth, and what was written before anybody read lies
// everywhere. Collection, folding, wear levelling and refresh stay within their parallel unit, as
// always.
//
// Source: Lv et al. 2020 (read_write_partition.h). Left out: moving data that were not read lately
// out of the writing part; borders that move with the load; the reading part's blocks in SLC mode
// for what is moved there.
#pragma once

#include <unordered_map>
#include <vector>

#include "firmware/buffer/flusher.h"
#include "firmware/buffer/read_gatherer.h"
#include "firmware/core/core.h"
#include "firmware/core/feature_info.h"
#include "firmware/features/partition/partition_policy.h"
#include "models/base/make_policy.h"

namespace tlmssd::firmware {

struct PartitionConfig {
  double read_dies = 0.5;
  double placement_from = 0.05;
  double keep_room = 0.10;
  static const ParameterTable<PartitionConfig>& parameters();
};

class Partition final : public Feature, private ReadGatherer::Owner {
 public:
  static constexpr const char* k_path = "firmware.partition";
  static constexpr const char* k_doc = "read dies";
  static constexpr const char* k_choice_doc = "which data lie there";
  using Config = PartitionConfig;
  static std::vector<PolicyInfo> policies() {
    return with_none(partition_family(), "every die is read and written");
  }
  struct Counters {
    std::uint64_t units_moved = 0;       ///< programmed there because they are only read
    std::uint64_t refused = 0;           ///< not moved for want of a place that no command had to wait for
    std::uint64_t units_read_there = 0;  ///< that commands of the host read from flash
    std::uint64_t units_read_elsewhere = 0;  ///< the same from the other dies
    std::uint64_t programs_kept_away = 0;    ///< of the write buffer
    std::uint64_t programs_let_in = 0;       ///< that might go anywhere
  };

  explicit Partition(const FeatureContext& context);

  void on_host_read(Lpn unit, Ppn where, const Stamp* stamps) override;
  void on_read_end() override { gatherer_.pump(); }
  void on_rewritten(Lpn unit) override;
  void on_program(const ProgramJob& /*job*/, bool kept_away) override {
    ++(kept_away ? counters_.programs_kept_away : counters_.programs_let_in);
  }
  void on_fill(std::uint64_t /*units*/, std::uint64_t programs) override {
    counters_.programs_let_in += programs;
  }
  // Nothing has been read yet, so that writes go everywhere.
  [[nodiscard]] bool knows_fill() const override { return config_.placement_from > 0; }
  [[nodiscard]] bool restricts_writes() override;
  [[nodiscard]] bool allows_write(std::uint32_t pu) const override { return !(restricting_ && reading_[pu]); }

  [[nodiscard]] bool idle() const override { return gatherer_.idle(); }
  void drop() override { gatherer_.drop(); }
  [[nodiscard]] Bytes dram_bytes() const override { return gatherer_.dram_bytes(); }
  [[nodiscard]] std::optional<MovedUnits> moved() const override {
    return MovedUnits{"partition", "data moved to read dies", counters_.units_moved};
  }
  void report(StatisticsSink& sink) const override;
  void reset_statistics() override { counters_ = {}; }
  void archive(Archive& archive) override;
  [[nodiscard]] const Counters& counters() const { return counters_; }

 private:
  [[nodiscard]] bool suits(std::uint32_t pu, std::optional<std::uint32_t> other) const override;
  void committed(const ProgramJob& job, Picoseconds took) override;
  void aborted(const ProgramJob& job, bool refused) override;
  void divide();
  void look_for_room();

  Core& core_;
  const Flusher& flusher_;
  std::string policy_name_;
  PartitionConfig config_;
  std::unique_ptr<ReadHotPolicy> policy_;
  std::vector<bool> reading_;  ///< by parallel unit
  ReadGatherer gatherer_;
  std::unordered_map<Lpn, std::uint32_t> moving_;  ///< by unit under way: its number
  std::uint32_t number_ = 0;
  Counters counters_;
  bool restricting_ = false;  ///< what restricts_writes() said last
  double read_share_ = 0;     ///< of units read and written lately
  bool has_room_ = true;      ///< the writing part, when it was looked at last
  std::uint32_t left_ = 0;    ///< programs until it is looked at again
};

}  // namespace tlmssd::firmware
