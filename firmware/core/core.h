// What the parts of the firmware share: the map, the block pool, the policies, the features' hooks,
// the pools of flash operations, the counts, and the way to read-only. Flash itself is reached
// through firmware/flash.
#pragma once

#include <functional>
#include <memory>
#include <unordered_set>

#include "firmware/base/config.h"
#include "firmware/base/ftl_statistics.h"
#include "firmware/base/program_job.h"
#include "firmware/base/read_op.h"
#include "firmware/blocks/block_pool.h"
#include "firmware/blocks/pslc.h"
#include "firmware/blocks/wear_policy.h"
#include "firmware/core/decision_texts.h"
#include "firmware/core/hooks.h"
#include "firmware/core/partial_trims.h"
#include "firmware/ecc/ecc_policy.h"
#include "firmware/mapping/mapping.h"
#include "firmware/victims/victim_policy.h"
#include "models/base/task.h"

namespace tlmssd::firmware {

/// What the shared parts tell the rest of the firmware. Implemented by Ftl.
class CoreEvents {
 public:
  virtual ~CoreEvents() = default;
  /// The last read of a block that is waiting to be erased has ended.
  virtual void unpinned(std::uint32_t pu, BlockNumber block) = 0;
  /// The drive has just become read-only.
  virtual void now_read_only() = 0;
  /// Something has ended; the drive may be quiet now.
  virtual void work_ended() = 0;
  /// The host has no command outstanding any more.
  virtual void host_idle() = 0;
};

class ErrorCorrection;

/// Why a drive has become read-only. Snapshots hold the numbers.
enum class EndOfLife : std::uint8_t {
  none,           ///< it has not
  spare_blocks,   ///< those that are left cannot keep the logical capacity
  victim_policy,  ///< it chose no block, though some held invalid units
  free_blocks,    ///< collection has none to work with
};

class Core {
 public:
  Core(Hardware& hardware, const DriveShape& shape, const FirmwareConfig& config, CoreEvents& events);

  // ---- blocks
  void unpin(BlockNumber block) {
    if (pool.unpin(block) && pool.info(block).state != BlockState::closed)
      events.unpinned(layout.pu_of(block), block);
  }
  [[nodiscard]] BlockMode mode_of(BlockNumber block) const {
    return pslc ? pool.mode(block) : BlockMode::native;
  }

  // ---- the map
  /// Where `unit` is, as the mapping scheme says; InputError when that is no place in flash.
  [[nodiscard]] Ppn lookup(Lpn unit) const {
    const Ppn where = map->lookup(unit);
    if (where.entry() > flash_units_) refuse_place(unit, where);
    return where;
  }
  /// Where the map entries of `count` units from `first` on lie in DRAM, as the mapping scheme
  /// says; InputError when that is not in the DRAM that it takes.
  [[nodiscard]] MappingScheme::Span map_entries(Lpn first, std::uint64_t count) const {
    const MappingScheme::Span entries = map->entries(first, count);
    if (!within(entries, map_bytes_)) refuse_entries(first, count, entries, map_bytes_);
    return entries;
  }
  /// Whether the entries of logical units lie in the host memory buffer instead.
  [[nodiscard]] bool map_in_host() const { return map_host_bytes_ > 0; }
  /// Looks up the entries of `count` logical units from `first` on there; what is not there is
  /// looked at in DRAM, where it arrives from flash. The time goes to `ledger`, if that is not
  /// null.
  Task<> look_up_in_host(Lpn first, std::uint64_t count, Ledger* ledger);
  /// First unit at or after `unit` that may be mapped, as the mapping scheme says; InputError when
  /// that is before it.
  [[nodiscard]] std::uint64_t next_touched(std::uint64_t unit, std::uint64_t end) const {
    const std::uint64_t next = map->next_touched(unit, end);
    if (next < unit) refuse_touched(unit, next);
    return next;
  }
  /// The map points `unit` at unit `n` of a program that has succeeded instead of `from`, if
  /// anywhere. `why`: for the log of decisions.
  void remap(Lpn unit, Ppn from, const ProgramJob& job, std::uint32_t n, std::string_view why) {
    if (from != k_nowhere) pool.invalidate(from);
    if (hw.decisions != nullptr) tell_remap(*this, unit, from, job.base + n, why);
    map->update(unit, job.base + n);
    pool.validate(job.base + n, job.block);
  }
  /// The map points `unit` nowhere instead of `from`.
  void map_nowhere(Lpn unit, Ppn from, std::string_view why) {
    tell_remap(*this, unit, from, k_nowhere, why);
    pool.invalidate(from);
    map->update(unit, k_nowhere);
  }
  /// The map points `unit` at other data, or nowhere, from now on.
  void rewritten(Lpn unit) {
    for (Feature* const feature : hooks.rewritten) feature->on_rewritten(unit);
  }
  /// Deallocates a unit that lies at `where`.
  void deallocate(Lpn unit, Ppn where);
  /// The block-mapped region `block` lies at the first unit of `job` from now on, if anything in it
  /// is mapped.
  void place_block(std::uint32_t block, const ProgramJob& job);

  /// Accounts for map updates: bandwidth is taken, nothing waits.
  void post_map_update(Lpn first, std::uint32_t count) {
    if (map_in_host() && first < layout.logical_units) return post_to_host(first, count);
    const MappingScheme::Span entries = map_entries(first, count);
    hw.memory.access(MemoryKind::dram, entries.address, entries.bytes, true, posted_);
  }
  /// Whether the map entries of `count` units from `first` on can be looked up without
  /// map->fetch().
  [[nodiscard]] bool map_at_hand(Lpn first, std::uint64_t count) {
    return layout.map_units == 0 || map->resident(first, count);
  }

  // ---- time
  /// Firmware's clock, in nanoseconds: it goes on while the drive rests, as the host tells it (NVMe
  /// Timestamp feature).
  [[nodiscard]] std::int64_t clock() const { return rested + hw.event_queue.now() / 1000; }

  // ---- end of life
  /// Units that must remain usable: the logical ones and those of the map, and in every parallel
  /// unit one program unit on its way.
  [[nodiscard]] std::uint64_t needed_units() const {
    return layout.kept_units() + std::uint64_t{layout.pus} * layout.program_units;
  }
  /// Goes read-only when the blocks that are left can no longer keep the logical capacity.
  void check_capacity();
  /// The data of a unit are lost for good, until it is written anew.
  void lose(Lpn unit) {
    if (poisoned.insert(unit).second) ++stats.units_lost;
  }
  /// Notes why. Only the first call counts.
  void go_read_only();

  Hardware& hw;
  Layout layout;
  FirmwareConfig config;  ///< its pointers to policy values are not kept
  std::unique_ptr<MappingScheme> map;
  BlockPlaces*
      places;  ///< of block-mapped regions that are placed as a whole; null: units have places of their own
  std::unique_ptr<VictimPolicy> victims;
  std::unique_ptr<WearPolicy> wear;
  std::unique_ptr<EccPolicy> ecc;         ///< null: nothing is decoded
  ErrorCorrection* correction = nullptr;  ///< of reads (firmware/flash); null as well
  BlockPool pool;
  std::unique_ptr<Pslc> pslc;  ///< null: all blocks are in native mode
  Hooks hooks;                 ///< of the features
  ReadPool reads;
  JobPool jobs;
  FtlStatistics stats;
  CoreEvents& events;
  bool read_only = false;
  EndOfLife end_of_life = EndOfLife::none;  ///< why it is read-only, as things stood when it became so
  bool writes_wait = false;                 ///< a write of the host waits for room in the write buffer
  std::int64_t rested = 0;                  ///< nanoseconds that passed without the simulation seeing them
  std::uint32_t cycles_before = 0;          ///< P/E cycles of every block from before the simulation
  PartialTrims partial_trims;               ///< of logical units, wherever in flash they lie
  std::unordered_set<Lpn>
      poisoned;  ///< units whose data could not be read back when they were moved or merged

 private:
  /// Of the entries, those that lie in the host memory buffer: others are in flash alone.
  [[gnu::cold]] void post_to_host(Lpn first, std::uint32_t count);
  [[noreturn, gnu::cold]] void refuse_place(Lpn unit, Ppn where) const;
  [[noreturn, gnu::cold]] void refuse_entries(Lpn first, std::uint64_t count,
                                              const MappingScheme::Span& entries, Bytes size) const;
  [[nodiscard]] static bool within(const MappingScheme::Span& entries, Bytes size) {
    return entries.bytes != 0 && entries.address <= size && entries.bytes <= size - entries.address;
  }
  [[nodiscard]] MappingScheme::Span host_entries(Lpn first, std::uint64_t count) const;
  [[noreturn, gnu::cold]] void refuse_touched(std::uint64_t unit, std::uint64_t answer) const;

  std::uint64_t flash_units_ = layout.total_units();
  Bytes map_bytes_ = map->dram_bytes();
  Bytes map_host_bytes_ = map->host_memory_bytes();
  Completion posted_;
};

/// How blocks are handed out with this configuration and mapping scheme.
BlockPool::Options pool_options(const FirmwareConfig& config, const DriveShape& shape, const Layout& layout,
                                const WearPolicy& wear, const MappingScheme& map);
/// Makes the policies of a configuration; throws InputError naming the key when there is none of
/// that name.
std::unique_ptr<WearPolicy> make_wear(const FirmwareConfig& config, const Layout& layout);
std::unique_ptr<MappingScheme> make_map(const FirmwareConfig& config, const Layout& layout);
/// The layout with the program units that the mapping scheme wants.
Layout make_layout(const DriveShape& shape, const FirmwareConfig& config);

}  // namespace tlmssd::firmware
