// Which physical unit holds a logical unit: the interface of mapping schemes, chosen by name
// (firmware.mapping.scheme).
//
// lookup() and update() act on map entries that are at hand; a scheme that keeps part of its table
// in flash brings them in with fetch(). Entries that are at hand lie in DRAM or in the host memory
// buffer: the caller accounts for the access at entries().
//
// A table in flash consists of map pages of one mapping page each. They are units like any other,
// numbered from the last logical unit on: written through the write buffer, moved by garbage
// collection, found by lookup() and update(), which have the places of map pages at hand always.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "firmware/base/layout.h"
#include "models/base/archive.h"
#include "models/base/ledger.h"
#include "models/base/parameters.h"
#include "models/base/statistics.h"
#include "models/base/task.h"

namespace tlmssd::firmware {

class BlockPlaces;
class BlockPool;
class LogScheme;
class MapPages;

class MappingScheme {
 public:
  static constexpr Bytes k_entry_bytes = 4;
  /// A piece of memory.
  struct Span {
    std::uint64_t address;
    Bytes bytes;
  };
  virtual ~MappingScheme() = default;
  /// Where `unit` is; k_nowhere when it was never written or has been trimmed.
  [[nodiscard]] virtual Ppn lookup(Lpn unit) const = 0;
  /// Points `unit` at `where` (k_nowhere: unmapped). Never waits, whether the entry is at hand or
  /// not.
  virtual void update(Lpn unit, Ppn where) = 0;
  /// The entry of `unit` will be needed soon. No effect but speed.
  virtual void prefetch(Lpn /*unit*/) const {}
  /// The first `rounds` rounds of blocks, one in each parallel unit, are written in sequence
  /// (SequentialPlaces). Nothing was ever mapped. False, and nothing done: the scheme keeps each
  /// entry.
  virtual bool fill(std::uint32_t /*rounds*/) { return false; }
  /// First unit at or after `unit` whose entry may be mapped; skips what was never touched. `end`
  /// when there is none before it.
  [[nodiscard]] virtual std::uint64_t next_touched(std::uint64_t unit, std::uint64_t end) const {
    return std::min(unit, end);
  }
  /// Entries that firmware looks at to find `unit`, and whether those of `count` units from `first`
  /// on are at hand, without any effect: for what the look-up costs a core (ssd.cpu.costs).
  [[nodiscard]] virtual std::uint32_t looked_at(Lpn /*unit*/) const { return 1; }
  [[nodiscard]] virtual bool at_hand(Lpn /*first*/, std::uint64_t /*count*/) const { return true; }
  /// Where in DRAM the entries of `count` units from `first` on lie, or would lie, and the DRAM
  /// that the scheme takes in all.
  [[nodiscard]] virtual Span entries(Lpn first, std::uint64_t count) const = 0;
  [[nodiscard]] virtual Bytes dram_bytes() const = 0;
  /// Of the host memory buffer what the scheme takes. Not 0: entries of logical units lie there, in
  /// place of DRAM.
  [[nodiscard]] virtual Bytes host_memory_bytes() const { return 0; }
  /// Of a scheme that takes some: of the entries of `count` logical units from `first` on, those
  /// that lie there now.
  [[nodiscard]] virtual std::uint64_t in_host_memory(Lpn /*first*/, std::uint64_t count) const {
    return count;
  }
  virtual void archive(Archive& archive) = 0;

  virtual void report(StatisticsSink& /*sink*/) const {}
  virtual void reset_statistics() {}

  // ---- schemes that place runs of units as a whole
  /// Units of such a run; 0: every unit has a place of its own. The run is then the grain of
  /// programs (Layout::program_units), places() is not null, and update() only deallocates.
  [[nodiscard]] virtual std::uint32_t block_units() const { return 0; }
  [[nodiscard]] virtual BlockPlaces* places() { return nullptr; }
  /// Whether pages are copied on their die (copyback) where that is possible, instead of through
  /// the controller.
  [[nodiscard]] virtual bool copies_on_die() const { return false; }

  // ---- schemes with log blocks
  /// Blocks per parallel unit that the scheme keeps beside those for data. Not 0: the blocks are
  /// the scheme's own, and there is no garbage collection.
  [[nodiscard]] virtual std::uint32_t set_aside() const { return 0; }
  /// Whether the blocks that are left are enough for a scheme that owns them.
  [[nodiscard]] virtual bool fits(const BlockPool& /*pool*/) const { return true; }
  [[nodiscard]] virtual LogScheme* log_scheme() { return nullptr; }
  [[nodiscard]] const LogScheme* log_scheme() const { return const_cast<MappingScheme*>(this)->log_scheme(); }

  /// Every unit has a place of its own and all of the table is at hand: features may have a unit
  /// moved, or read from elsewhere, at any time.
  [[nodiscard]] bool can_redirect() const {
    return block_units() == 0 && set_aside() == 0 && entries_per_page() == 0;
  }

  // ---- schemes that keep their table in flash
  /// Entries that a map page holds; 0: all of the table is in DRAM, and nothing below is ever
  /// called.
  [[nodiscard]] virtual std::uint32_t entries_per_page() const { return 0; }
  /// How map pages are read and written; to be called before anything else.
  virtual void attach(MapPages& /*pages*/) {}
  /// Whether the entries of `count` units (or none) from `first` on are at hand. Yes: they count as
  /// used. No, or something is left to be done before the host goes on: call fetch().
  [[nodiscard]] virtual bool resident(Lpn /*first*/, std::uint64_t /*count*/) { return true; }
  /// Brings the entries of `count` units from `first` on to hand, one after the other: those of a
  /// long command need not fit all at once. May wait for room in the write buffer, so the caller
  /// must not hold any. The time goes to `ledger`, if that is not null.
  virtual Task<> fetch(Lpn /*first*/, std::uint64_t /*count*/, Ledger* /*ledger*/) { co_return; }
  /// The same for units that are going to be unmapped: what lies in map pages that become void as a
  /// whole is not needed.
  virtual Task<> fetch_to_deallocate(Lpn /*first*/, std::uint64_t /*count*/, Ledger* /*ledger*/) {
    co_return;
  }
  /// All units from `first` up to `end` are about to be unmapped by update().
  virtual void deallocation(std::uint64_t /*first*/, std::uint64_t /*end*/) {}
  /// What was in DRAM is gone, and is taken to be rebuilt from the spare areas.
  virtual void power_lost() {}
  virtual void describe_stall(std::string& /*text*/) const {}
};

class MappingFamily : public PolicyFamily<MappingScheme, const Layout&> {
 public:
  template <class Scheme>
  MappingFamily&& with() && {
    add<Scheme>({});
    return std::move(*this);
  }
  template <class Scheme>
  void add(std::string origin) {
    if constexpr (requires { Scheme::k_log_blocks; }) logs_.emplace_back(Scheme::k_name);
    PolicyFamily::add<Scheme>(std::move(origin));
  }
  /// Whether the scheme of that name has log blocks: it makes room by merges, without victims,
  /// streams or thresholds.
  [[nodiscard]] bool has_log_blocks(std::string_view scheme) const {
    return std::find(logs_.begin(), logs_.end(), scheme) != logs_.end();
  }

 private:
  std::vector<std::string> logs_;
};
/// All mapping schemes by name.
MappingFamily& mapping_family();

}  // namespace tlmssd::firmware
