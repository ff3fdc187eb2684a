// Second copies of data that the host reads often: where a read finds the die of the original writing or erasing, it goes to the copy.
//
// Copies are gathered as reads deliver their data and programmed into a group of another die than those of the originals
// (read_gatherer.h): two program units at a time for two different dies, so that there is a place for the copy of anything; without one they
// are dropped. Copies are units of their own (replica_table.h) and take room of the spare blocks: firmware.replicas.capacity.
// A copy is dropped at the instant at which the map learns of other data of its unit; until then it equals what the map points
// at. When power fails, copies are forgotten. A copy that cannot be decoded is dropped, and the original is read.
//
// Why a read of a copy is of the right data: copy and original are pinned together when
// the read takes effect; later writes may drop the copy, but the flash under it stays.
// Source: HotR (hot_reads.h; the overprovisioned space is one of its two places for copies). Left out: giving copies up when blocks
// fail, a die of their own, the time to look the table up.
#pragma once

#include "firmware/buffer/read_gatherer.h"
#include "firmware/config.h"
#include "firmware/core.h"
#include "firmware/replicas/replica_policy.h"
#include "firmware/replicas/replica_table.h"

namespace tlmssd::firmware {

class Destager;

class Replicas final : public UnitCopies, private ReadGatherer::Owner {
 public:
  /// `dram_address`: where copies are gathered. Throws InputError when the configuration does not go together.
  Replicas(Core& core, Collector& collector, const Destager& destager, std::uint64_t dram_address,
           const FirmwareConfig& config);

  /// Where the copy of `unit` lies if that is to be read instead of `where`; k_nowhere: read the original.
  PhysicalUnit choose(LogicalUnit unit, PhysicalUnit where);
  /// Adds the read of the copy at `copy` to `list`, for the sectors `need`.
  void add_read(ReadList& list, LogicalUnit unit, PhysicalUnit where, PhysicalUnit copy, std::uint64_t need);
  /// The read of a copy has ended. False: it could not be decoded; the original has been added to `again`.
  bool settle(const ReadOp& read, ReadList& again);
  /// The host has read `unit` at `where`, whose block is still pinned; `stamps`: all sectors of the unit.
  void read(LogicalUnit unit, PhysicalUnit where, const Stamp* stamps);

  void rewritten(LogicalUnit unit) override;
  [[nodiscard]] ReadGatherer& gatherer() { return gatherer_; }
  /// Nothing may be gathered.
  void power_lost();
  void report(StatisticsSink& sink) const;
  /// Nothing may be gathered or under way.
  void archive(Archive& archive);

 private:
  [[nodiscard]] DieId die_of(PhysicalUnit where) const {
    return die_of_group(core_.layout.group_of(core_.layout.block_of(where)));
  }
  [[nodiscard]] DieId die_of_group(std::uint32_t group) const { return core_.layout.die_of(group, 0); }
  void gather(LogicalUnit unit, PhysicalUnit where, const Stamp* stamps);
  [[nodiscard]] bool suits(std::uint32_t group, std::uint32_t other) const override;
  void landed(const ProgramJob& job) override;
  void given_up(const ProgramJob& job, bool refused) override;
  void drop(ReplicaTable::Slot slot);

  Core& core_;
  const Destager& destager_;
  std::string policy_name_;
  std::unique_ptr<ReadHotPolicy> policy_;
  ReplicaTable table_;
  ReadGatherer gatherer_;
};

}  // namespace tlmssd::firmware
