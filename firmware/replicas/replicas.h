// Second copies of data that the host reads often: where a read finds the die of the original writing or erasing, it goes to the copy.
//
// Copies are gathered in DRAM as reads deliver their data, until a program unit is full; that is programmed, in native mode, into a
// group of another die than those of the originals. Two program units are gathered at a time, for two different dies, so that there is a place
// for the copy of anything. Copies are units of their own (replica_table.h) and take room of the spare blocks: firmware.replicas.capacity.
// A copy is dropped at the instant at which the map learns of other data of its unit; until then it equals what the map points
// at. When power fails, copies are forgotten. A copy that cannot be decoded is dropped, and the original is read.
//
// Why the data copied are true: as in promoter.h. Why a read of a copy is of the right data: copy and original are pinned together when
// the read takes effect; later writes may drop the copy, but the flash under it stays.
// Why nobody waits for it: a program unit is only given a place that the host could take at once without anybody waiting; without one
// its copies are dropped.
// Source: HotR (hot_reads.h; the overprovisioned space is one of its two places for copies). Left out: giving copies up when blocks
// fail, a die of their own, the time to look the table up.
#pragma once

#include <array>

#include "firmware/config.h"
#include "firmware/core.h"
#include "firmware/replicas/replica_policy.h"
#include "firmware/replicas/replica_table.h"

namespace tlmssd::firmware {

class Collector;
class WriteBuffer;

class Replicas final : public UnitCopies {
 public:
  /// `dram_address`: where copies are gathered. Throws InputError when the configuration does not go together.
  Replicas(Core& core, Collector& collector, const WriteBuffer& buffer, std::uint64_t dram_address,
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
  /// What is being gathered is given up.
  void drop_gathered();
  void power_lost();
  [[nodiscard]] bool idle() const { return under_way_ == 0; }
  [[nodiscard]] Bytes dram_bytes() const;
  void report(StatisticsSink& sink) const;
  /// Nothing may be gathered or under way.
  void archive(Archive& archive);

 private:
  static constexpr std::uint32_t k_no_group = 0xFFFFFFFFU;
  /// A program unit of copies.
  struct Gathering {
    ProgramJob* job = nullptr;
    std::uint32_t group = k_no_group;
    bool flying = false;
  };
  [[nodiscard]] DieId die_of(PhysicalUnit where) const {
    return core_.layout.die_of(core_.layout.group_of(core_.layout.block_of(where)), 0);
  }
  [[nodiscard]] bool current(LogicalUnit unit, PhysicalUnit where) const;
  void gather(LogicalUnit unit, PhysicalUnit where, const Stamp* stamps);
  Gathering* gathering_for(DieId original);
  bool begin(Gathering& gathering);
  [[nodiscard]] bool may_program(std::uint32_t group) const;
  Task<> program(Gathering& gathering);
  void commit(ProgramJob& job);
  void give_up(Gathering& gathering);
  void end(Gathering& gathering);
  void drop(ReplicaTable::Slot slot);

  Core& core_;
  Collector& collector_;
  const WriteBuffer& buffer_;
  std::uint64_t dram_address_;
  std::string policy_name_;
  std::unique_ptr<ReplicaPolicy> policy_;
  ReplicaTable table_;
  std::array<Gathering, 2> gatherings_;
  std::uint32_t position_ = 0;  ///< in the allocation order: the group that is asked next
  std::uint32_t under_way_ = 0;
  Completion posted_;
  TaskSet tasks_;
};

}  // namespace tlmssd::firmware
