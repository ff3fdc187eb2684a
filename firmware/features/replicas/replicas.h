// Replicas of data that the host reads often, or that are often blocked: where a read finds the die
// of the original writing or erasing, it goes to the copy.
//
// Copies are gathered as reads deliver their data and programmed into a parallel unit of another
// die than those of the originals (read_gatherer.h): two program units at a time for two different
// dies, so that there is a place for the copy of anything; without one they are dropped. Copies are
// units of their own (replica_table.h) and take room of the spare blocks:
// firmware.replicas.capacity. A copy is dropped at the instant at which the map learns of other
// data of its unit; until then it equals what the map points at. When power fails, copies are
// forgotten. A copy that cannot be decoded is dropped, and the original is read.
//
// Of idle dies alone (`idle_only`): a program unit of copies then waits, and is asked about
// whenever a read ends, until its die has nothing to do and is predicted to stay so (idle_time.h)
// for as long as the quickest program of copies took; the first one only needs an idle die.
//
// Why a read of a copy is of the right data: copy and original are pinned together when the read
// takes effect; later writes may drop the copy, but the flash under it stays. Source: HotR
// (hot_reads.h; the overprovisioned space is one of its two places for copies) and He et al.
// (blocked_reads.h). Left out: giving copies up when blocks fail or when their die is never idle, a
// die of their own, the time to look the table up, new copies in place of those that a write has
// made void.
#pragma once

#include "firmware/base/replica_table.h"
#include "firmware/buffer/read_gatherer.h"
#include "firmware/core/core.h"
#include "firmware/core/feature_info.h"
#include "firmware/features/replicas/idle_time.h"
#include "firmware/features/replicas/replica_policy.h"
#include "models/base/make_policy.h"

namespace tlmssd::firmware {

struct ReplicasConfig {
  Bytes capacity = Bytes{64} << 20U;
  bool idle_only = false;
  double gap_weight = 0.25;
  static const ParameterTable<ReplicasConfig>& parameters();
};

class Replicas final : public Feature, private ReadGatherer::Owner {
 public:
  static constexpr const char* k_path = "firmware.replicas";
  static constexpr const char* k_doc = "replicas, read while the die of the original writes";
  static constexpr const char* k_choice_doc = "which data have one";
  using Config = ReplicasConfig;
  static std::vector<PolicyInfo> policies() {
    return with_none(replica_family(), "there is one copy of everything");
  }
  static std::uint64_t own_units(const FeatureChoice& choice, const Layout& layout);
  static InputError too_many_units(const FeatureChoice& choice, Bytes bytes, Bytes left);
  struct Counters {
    std::uint64_t units_copied = 0;         ///< copies programmed
    std::uint64_t programs = 0;             ///< program units of them
    std::uint64_t programs_in_the_way = 0;  ///< of these, those that other operations waited for
    std::uint64_t rewritten = 0;            ///< dropped because the data were written or trimmed
    std::uint64_t displaced = 0;            ///< dropped to make room for others
    std::uint64_t refused = 0;              ///< not made for want of a place that no command had to wait for
    std::uint64_t conflicts = 0;            ///< units of host reads whose die was writing or erasing
    std::uint64_t conflicts_with_copy = 0;  ///< of these, units with a copy
    std::uint64_t reads_of_copies = 0;      ///< units read from it
  };

  explicit Replicas(const FeatureContext& context);

  void on_host_read(Lpn unit, Ppn where, const Stamp* stamps) override;
  void on_read_end() override { gatherer_.pump(); }
  void on_rewritten(Lpn unit) override;
  [[nodiscard]] bool knows_fill() const override { return true; }  // there are no copies yet
  void on_power_lost() override;
  bool redirect_read(Lpn unit, Ppn where, std::uint64_t need, ReadBatch& reads) override;
  bool end_redirected(const ReadOp& read, ReadBatch& again) override;

  [[nodiscard]] bool idle() const override { return gatherer_.idle(); }
  void drop() override { gatherer_.drop(); }
  [[nodiscard]] Bytes dram_bytes() const override { return gatherer_.dram_bytes(); }
  [[nodiscard]] std::optional<MovedUnits> moved() const override {
    return MovedUnits{"copies", "replicas", counters_.units_copied};
  }
  void report(StatisticsSink& sink) const override;
  void reset_statistics() override { counters_ = {}; }
  void archive(Archive& archive) override;
  [[nodiscard]] const Counters& counters() const { return counters_; }

 private:
  /// Where the copy of `unit` lies if that is to be read instead of `where`; k_nowhere: read the
  /// original.
  Ppn choose(Lpn unit, Ppn where);
  [[nodiscard]] DieId die_of(Ppn where) const {
    return die_of_pu(core_.layout.pu_of(core_.layout.block_of(where)));
  }
  [[nodiscard]] DieId die_of_pu(std::uint32_t pu) const { return core_.layout.die_of(pu, 0); }
  void gather(Lpn unit, Ppn where, const Stamp* stamps);
  [[nodiscard]] bool suits(std::uint32_t pu, std::optional<std::uint32_t> other) const override;
  [[nodiscard]] bool may_start(std::uint32_t pu) const override;
  void committed(const ProgramJob& job, Picoseconds took) override;
  void aborted(const ProgramJob& job, bool refused) override;
  void drop(ReplicaTable::Slot slot);

  Core& core_;
  const Flusher& flusher_;
  std::string policy_name_;
  bool idle_only_;
  std::unique_ptr<ReadHotPolicy> policy_;
  ReplicaTable table_;
  ReadGatherer gatherer_;
  IdleTime idle_time_;        ///< knows nothing unless idle_only_
  Picoseconds quickest_ = 0;  ///< program of copies; 0: there was none
  Counters counters_;
};

}  // namespace tlmssd::firmware
