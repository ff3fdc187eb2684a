// Reads of popular contents, redirected: where a read finds its die busy and the same content lies
// on a die that is less so, it is read there (Elyasi et al., "Content Popularity-Based Selective
// Replication for Read Redirection in SSDs", MASCOTS 2018; Luo et al. 2022: [21]).
//
// A hash engine makes a fingerprint of every mapping page that is programmed (hash_engine.h). A
// content that the host has written often enough while it was on a list of what was written last
// gets an entry in a table, and from then on each place where it is programmed is known until it is
// erased: data of other addresses, old ones that nothing refers to any more, and copies of the
// drive's own. Of a content that is popular and lies on few dies, `selective` makes replicas on
// others as reads deliver it, within firmware.redirection.capacity (read_gatherer.h,
// replica_table.h): units of their own, which are moved as data are.
//
// The paper's abstract says what is done (what, how much, where and when to replicate follow from
// popularity; redirection is to less loaded chips), not how. List, thresholds, the order of loads
// and the use of old data are our reading (A).
//
// Why a read of another place is of the right data: original and copy are pinned when the read
// takes effect, and both hold the same content until they are erased, which is told before. A
// fingerprint stands for the hash of real data, for which two contents that share one are out of
// the question (shared_content(), models/base/content.h). A copy that cannot be decoded is
// forgotten, and the original is read. When power fails, the table is lost.
//
// Left out: the time to look the table up, but for its traffic; pages that copyback moves are not
// seen.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "firmware/base/access_history.h"
#include "firmware/base/replica_table.h"
#include "firmware/buffer/read_gatherer.h"
#include "firmware/core/core.h"
#include "firmware/core/feature_info.h"
#include "firmware/features/redirection/content_table.h"
#include "firmware/features/redirection/hash_engine.h"

namespace tlmssd::firmware {

struct RedirectionConfig {
  Bytes capacity = Bytes{64} << 20U;
  std::uint32_t contents = 2048;
  std::uint32_t places = 262144;
  std::uint32_t list = 65536;
  std::uint32_t writes = 2;
  std::uint32_t uses = 8;
  std::uint32_t dies = 4;
  std::string target = "least-loaded";
  Picoseconds hash_time = 5'000'000;
  std::uint32_t hash_queue = 1024;
  Bytes content_entry = 32;
  Bytes place_entry = 12;
  static const ParameterTable<RedirectionConfig>& parameters();
};

class Redirection final : public Feature, private ReadGatherer::Owner {
 public:
  static constexpr const char* k_path = "firmware.redirection";
  static constexpr const char* k_doc = "reads of busy dies, redirected to the same content on another die";
  static constexpr const char* k_choice_doc = "whether contents get replicas for it";
  using Config = RedirectionConfig;
  static std::vector<PolicyInfo> policies();
  static std::uint64_t own_units(const FeatureChoice& choice, const Layout& layout);
  static InputError too_many_units(const FeatureChoice& choice, Bytes bytes, Bytes left);
  struct Counters {
    std::uint64_t not_hashed = 0;    ///< units programmed while too many waited for the hash engine
    std::uint64_t forgotten = 0;     ///< contents, to make room
    std::uint64_t busy = 0;          ///< units of host reads whose die was busy
    std::uint64_t popular = 0;       ///< of these, units in the table
    std::uint64_t redirected = 0;    ///< units read elsewhere
    std::uint64_t lost = 0;          ///< of these, units that could not be decoded there
    std::uint64_t units_copied = 0;  ///< replicas programmed
    std::uint64_t displaced = 0;     ///< replicas dropped to make room for others
    std::uint64_t refused = 0;       ///< replicas not made for want of a place
  };

  explicit Redirection(const FeatureContext& context);

  void on_programmed(const ProgramJob& job) override;
  void on_host_read(Lpn unit, Ppn where, const Stamp* stamps) override;
  void on_read_end() override { gatherer_.pump(); }
  void on_erase(BlockNumber block) override;
  void on_power_lost() override;
  bool redirect_read(Lpn unit, Ppn where, std::uint64_t need, ReadBatch& reads) override;
  bool end_redirected(const ReadOp& read, ReadBatch& again) override;

  [[nodiscard]] bool idle() const override { return gatherer_.idle(); }
  void drop() override { gatherer_.drop(); }
  [[nodiscard]] Bytes dram_bytes() const override {
    return table_bytes() + core_.layout.unit_bytes + (replicates_ ? gatherer_.dram_bytes() : 0);
  }
  [[nodiscard]] std::optional<MovedUnits> moved() const override {
    return MovedUnits{"replicas of contents", "replicas of popular contents", counters_.units_copied};
  }
  void report(StatisticsSink& sink) const override;
  void reset_statistics() override { counters_ = {}; }
  void archive(Archive& archive) override;
  [[nodiscard]] const Counters& counters() const { return counters_; }
  [[nodiscard]] const ContentTable& table() const { return table_; }

 private:
  [[nodiscard]] Bytes table_bytes() const;
  [[nodiscard]] std::uint32_t die_of_pu(std::uint32_t pu) const { return index(core_.layout.die_of(pu, 0)); }
  [[nodiscard]] std::uint32_t die_of(Ppn where) const {
    return die_of_pu(core_.layout.pu_of(core_.layout.block_of(where)));
  }
  /// How busy a die is: first whether it writes, then by what waits.
  [[nodiscard]] std::uint64_t load(std::uint32_t die) const;
  [[nodiscard]] ContentTable::Index choose(ContentTable::Index place);
  [[nodiscard]] bool hashes();
  void learn(Ppn where, Lpn unit, const Stamp* stamps, bool by_host);
  [[nodiscard]] ContentTable::Index entry_of(std::uint32_t number, Lpn unit, Stamp first, bool by_host);
  void forget(ContentTable::Index content);
  [[nodiscard]] Lpn key(std::uint32_t number, std::uint32_t die) const { return number * dies_ + die; }
  /// The content lies on the die, or a replica for it has been made or is on its way.
  [[nodiscard]] bool has_die(ContentTable::Index content, std::uint32_t die) const {
    return table_.on_die(content, die) != ContentTable::k_none ||
           replicas_.find(key(table_.number_of(content), die)) != ReplicaTable::k_none;
  }
  [[nodiscard]] bool lacks_dies(ContentTable::Index content) const;
  void gather(ContentTable::Index content, const Stamp* stamps);
  void drop_replica(ReplicaTable::Slot slot);
  void access_table(bool write);
  [[nodiscard]] bool suits(std::uint32_t pu, std::optional<std::uint32_t> other) const override;
  void committed(const ProgramJob& job, Picoseconds took) override;
  void aborted(const ProgramJob& job, bool refused) override;

  Core& core_;
  std::string policy_name_;
  RedirectionConfig config_;
  bool replicates_;
  bool at_random_;
  std::uint32_t dies_;
  std::uint64_t table_address_;
  AccessHistory written_;  ///< contents by fingerprint
  ContentTable table_;
  ReplicaTable replicas_;
  ReadGatherer gatherer_;
  HashEngine engine_;
  Counters counters_;
  std::uint64_t drawn_ = 0;  ///< choices made at random
  Completion posted_;
};

}  // namespace tlmssd::firmware
