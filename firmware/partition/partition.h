// A part of the dies is kept for reading: what is only read is moved there, and what the host writes goes to the others.
//
// Moving. What reads of the host have delivered and the policy calls read data is gathered and programmed into the reading part
// (read_gatherer.h); then the map points there and the old place is stale. What is written or trimmed meanwhile stays as the
// host has it: rewritten() takes it off the list of what is under way, under a number that tells apart units gathered twice.
//
// Writing. Programs of the write buffer keep away from the reading part while there is something to keep away from (reads are at least
// `steer_from` of what the host lately read from and wrote to flash) and while the writing part has room: it can take in `keep_room` of what it may
// hold. Otherwise they go round all groups, so that all of the capacity can be used, a drive without reads loses none of its bandwidth, and
// what was written before anybody read lies everywhere. Collection, folding, wear levelling and refresh stay within their group, as always.
//
// Source: Lv et al. 2020 (read_write_partition.h). Left out: moving data that nobody has read lately out of the writing part; borders that move with
// the load; the reading part's blocks in SLC mode for what is moved there.
#pragma once

#include <unordered_map>
#include <vector>

#include "firmware/buffer/destager.h"
#include "firmware/buffer/read_gatherer.h"
#include "firmware/config.h"
#include "firmware/core.h"
#include "firmware/partition/partition_policy.h"

namespace tlmssd::firmware {

class Partition final : public UnitCopies, public Steering, private ReadGatherer::Owner {
 public:
  /// `dram_address`: where data are gathered. Throws InputError when the configuration does not go together.
  Partition(Core& core, Collector& collector, const Destager& destager, std::uint64_t dram_address,
            const FirmwareConfig& config);

  /// The host has read `unit` at `where`, whose block is still pinned; `stamps`: all sectors of the unit.
  void read(LogicalUnit unit, PhysicalUnit where, const Stamp* stamps);
  void rewritten(LogicalUnit unit) override;
  [[nodiscard]] bool steers() override;
  [[nodiscard]] bool takes_writes(std::uint32_t group) const override { return !reading_[group]; }

  [[nodiscard]] ReadGatherer& gatherer() { return gatherer_; }
  void report(StatisticsSink& sink) const;
  /// Nothing may be gathered or under way.
  void archive(Archive& archive);

 private:
  [[nodiscard]] bool suits(std::uint32_t group, std::uint32_t other) const override;
  void landed(const ProgramJob& job) override;
  void given_up(const ProgramJob& job, bool refused) override;
  void divide();
  void look_for_room();

  Core& core_;
  const Destager& destager_;
  PartitionConfig config_;
  std::unique_ptr<ReadHotPolicy> policy_;
  std::vector<bool> reading_;  ///< by group
  ReadGatherer gatherer_;
  std::unordered_map<LogicalUnit, std::uint32_t> moving_;  ///< by unit under way: its number
  std::uint32_t number_ = 0;
  double read_share_ = 0;   ///< of units read and written lately
  bool has_room_ = true;    ///< the writing part, when it was looked at last
  std::uint32_t left_ = 0;  ///< programs until it is looked at again
};

}  // namespace tlmssd::firmware
