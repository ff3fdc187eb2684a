// What the parts of the firmware share: the map, the block pool, the policies, the pools of
// operations, the counts.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <unordered_set>

#include "firmware/base/config.h"
#include "firmware/base/decisions.h"
#include "firmware/base/flash_io.h"
#include "firmware/base/ftl_statistics.h"
#include "firmware/blocks/block_pool.h"
#include "firmware/blocks/wear_policy.h"
#include "firmware/core/hooks.h"
#include "firmware/core/plane_joiner.h"
#include "firmware/ecc/ecc_policy.h"
#include "firmware/mapping/mapping.h"
#include "firmware/pslc/pslc.h"
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
  virtual void settled() = 0;
};

class Core {
 public:
  Core(Hardware& hardware, const DriveShape& shape, const FirmwareConfig& config, CoreEvents& events);

  // ---- addresses
  void unpin(BlockNumber block) {
    if (pool.unpin(block) && pool.info(block).state != BlockState::closed)
      events.unpinned(layout.pu_of(block), block);
  }

  // ---- reads
  /// A read of one unit, pinned, not yet started; joins `list` or widens the read of the same
  /// multi-plane page that is near its end.
  ReadOp& add_read(ReadList& list, Ppn where);
  /// A read of its own of the unit at `where`, which is in no list yet.
  ReadOp& take_read(Ppn where);
  /// Settles where the reads of a list go, once it is complete.
  void resolve(ReadList& list);
  /// Makes multi-plane reads of those reads of a resolved list that a die can do together, if the
  /// drive does so.
  void join_planes(ReadList& list) {
    if (joiner_ && list.size() > 1) joiner_->join(list);
  }
  /// Starts a read that has been aimed, with all that are joined to it; nothing to do for these.
  /// `parent`: the ledger it is charged to, or null; `alone`: directly, because it is the only
  /// operation, otherwise in a branch of its own (Latch::settle).
  void start_read(ReadOp& read, Latch& latch, Purpose purpose, Ledger* parent, bool alone);
  /// Gives a read back that has been dealt with.
  void end_read(ReadOp& read) {
    for (Feature* const feature : hooks.page_read) feature->on_page_read(read);
    unpin(read.block);
    if (read.copy_of != k_no_unit) unpin(layout.block_of(read.original));
    reads.give(read);
  }
  /// Throws when the spare area does not name the unit that the map says is there.
  void check_spare(const ReadOp& read, std::uint32_t at) const;

  // ---- programs
  /// Claims a program unit for `job` and completes its operation; the caller must start it at once.
  void claim(ProgramJob& job, WriteTarget target, Purpose purpose, std::uint64_t buffer_address);
  /// Completes the operation of a job whose place (`base`) has been taken.
  void prepare(ProgramJob& job, Purpose purpose, std::uint64_t buffer_address);
  /// Fills the next slot of `job`. `unit` k_no_unit: nothing lies there.
  void put(ProgramJob& job, Lpn unit, std::uint32_t source, const Stamp* stamps);
  void put_hole(ProgramJob& job);
  /// Marks the slots of `job` that carry nothing.
  void pad(ProgramJob& job);
  /// Books a program that failed: the block is to be emptied and retired.
  void program_failed(const ProgramJob& job);
  void count_program(const ProgramJob& job, Purpose purpose) {
    const auto p = static_cast<std::size_t>(purpose);
    stats.programs[p] += job.operations;
    stats.units_padded[p] += layout.units_of_program(job.mode) - job.live + job.holes;
  }
  /// The map is about to point `unit` at `to` instead of `from`: for the log of decisions.
  void note_remap(Lpn unit, Ppn from, Ppn to, std::string_view why) const {
    if (hw.decisions != nullptr) tell_remap(unit, from, to, why);
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

  // ---- erases
  /// Erases a block that has been emptied and with no reads under way into `mode`, or retires it
  /// when it has failed or fails now.
  Task<> erase(BlockNumber block, BlockMode mode = BlockMode::native);

  /// Accounts for map updates: bandwidth is taken, nothing waits.
  void post_map_update(Lpn first, std::uint32_t count) {
    const MappingScheme::Span entries = map->entries(first, count);
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
  void go_read_only() {
    if (read_only) return;
    read_only = true;
    events.now_read_only();
  }

  Hardware& hw;
  Layout layout;
  FirmwareConfig config;  ///< its pointers to policy values are not kept
  std::unique_ptr<MappingScheme> map;
  BlockPlaces*
      places;  ///< of block-mapped regions that are placed as a whole; null: units have places of their own
  std::unique_ptr<VictimPolicy> victims;
  std::unique_ptr<WearPolicy> wear;
  std::unique_ptr<EccPolicy> ecc;  ///< null: nothing is decoded
  BlockPool pool;
  std::unique_ptr<Pslc> pslc;  ///< null: all blocks are in native mode
  Hooks hooks;                 ///< of the features
  ReadPool reads;
  JobPool jobs;
  FtlStatistics stats;
  CoreEvents& events;
  bool read_only = false;
  bool writes_wait = false;         ///< a write of the host waits for room in the write buffer
  std::int64_t rested = 0;          ///< nanoseconds that passed without the simulation seeing them
  std::uint32_t cycles_before = 0;  ///< P/E cycles of every block from before the simulation
  std::unordered_set<Lpn>
      poisoned;  ///< units whose data could not be read back when they were moved or merged

 private:
  [[nodiscard]] BlockMode mode_of(BlockNumber block) const {
    return pslc ? pool.mode(block) : BlockMode::native;
  }
  void tell_remap(Lpn unit, Ppn from, Ppn to, std::string_view why) const;
  void tell_program(const ProgramJob& job) const;
  void tell_code(const ReadOp& read, std::string_view what, std::string_view why) const;
  void tell_block(DecisionKind kind, std::string_view what, std::string_view why, BlockNumber block) const;
  void copy_on_die(FlashOp& op, Ppn from);
  void set_up(ReadOp& read, Latch& latch, Purpose purpose);
  ReadOp* part_unlike(ReadOp& read, Latch& latch, Purpose purpose);
  void start_chain(ReadOp& read, Ledger* ledger);
  void end_flash(ReadOp& read) {
    if (ecc) {
      after_decoder(read);
    } else {
      read.latch->arrive(read.op.ledger);
    }
  }
  static void ended_due(void* read) { static_cast<ReadOp*>(read)->core->ended(*static_cast<ReadOp*>(read)); }
  void ended(ReadOp& first);
  [[nodiscard]] PageFacts facts(const ReadOp& read) const;
  void after_decoder(ReadOp& read);
  Task<> read_again(ReadOp& read);
  /// Decoded or given up: counts it and tells the waiter.
  void end_decoding(ReadOp& read);

  Completion posted_;
  std::optional<PlaneJoiner> joiner_;  // none: every read is an operation of its own
  std::uint32_t frames_per_unit_ = 1;
  bool ecc_looks_at_age_ = false;
  TaskSet rereads_;
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
