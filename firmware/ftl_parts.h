// The inside of the Ftl: its parts and the coroutines of host commands.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "firmware/buffer/destager.h"
#include "firmware/cache/cache.h"
#include "firmware/core.h"
#include "firmware/ftl.h"
#include "firmware/gc/collector.h"
#include "firmware/logblocks/log_blocks.h"
#include "firmware/mapping/map_pages.h"
#include "firmware/partition/partition.h"
#include "firmware/pslc/promoter.h"
#include "firmware/replicas/replicas.h"
#include "models/common/order_table.h"

namespace tlmssd::firmware {

struct Ftl::Parts final : CoreEvents {
  Parts(Hardware& hardware, const DriveShape& drive, const FirmwareConfig& config);

  /// A command under way; lives in its coroutine.
  struct Active {
    Active(Parts& owner, HostCommand& host_command);
    Active(const Active&) = delete;
    HostCommand& command;
    OrderTable::Ticket ticket;
    const char* waits_for = "a controller core";
    Active* previous = nullptr;
    Active* next = nullptr;
  };
  /// Logical units that a range of logical blocks touches.
  struct UnitRange {
    std::uint64_t first;
    std::uint64_t last;
  };

  /// Looks after blocks whose data have become old.
  void patrol();

  // ---- host commands (ftl_commands.cpp)
  Task<> read(HostCommand& command);
  Task<> write(HostCommand& command);
  Task<> trim(HostCommand& command);
  Task<> flush(HostCommand& command);
  Task<> reject(HostCommand& command, HostStatus status);
  Task<> drain();

  // ---- pieces of them
  [[nodiscard]] bool straight_on(const Active& self, Stage next) const;
  /// The command stage, the wait for earlier commands on the same units, then `times` executions of `next`.
  Task<> take_up(Active& self, Stage next, std::uint32_t times);
  [[nodiscard]] HostStatus check(const HostCommand& command) const;
  [[nodiscard]] UnitRange units_of(std::uint64_t lba, std::uint64_t blocks) const;
  /// Fills what the buffer holds and what was never written, makes reads of the rest.
  void sample(HostCommand& command, UnitRange units, ReadList& reads, Bytes& from_buffer,
              MemorySpans& from_cache);
  std::uint64_t take_buffered(HostCommand& command, WriteBuffer::Index i, std::uint64_t want,
                              Bytes& from_buffer);
  Task<> fetch_copies(Active& active, Bytes from_buffer, const MemorySpans& from_cache);
  /// Delivers what reads have brought; what is left in the list has to be read, too: originals of copies that could not be decoded.
  void deliver(HostCommand& command, ReadList& reads, Cache::Room* room);
  void deliver(HostCommand& command, const ReadOp& read, Cache::Room* room);
  /// A unit has been read at `where`: what becomes of it besides.
  void note_read(LogicalUnit unit, PhysicalUnit where, const Stamp* stamps);
  /// Where the next unit of a command goes that needs an entry, and entries that were set aside for this.
  struct Intake {
    bool asked = false;   ///< the data path has been asked about that unit
    bool direct = false;  ///< its answer, and the line in which the entries are
    std::uint32_t granted = 0;
  };
  /// Lays blocks of the host into the buffer as long as there is room; returns how many. `data` null: zeros.
  std::uint64_t lay_in(const HostCommand& command, std::uint64_t lba, std::uint64_t blocks, const Stamp* data,
                       Durable* durable, Intake& intake);
  /// The line of the write buffer in which a unit waits that is written by `command`. Entries set aside in the other are given back.
  void choose_line(Intake& intake, std::uint64_t unit, const HostCommand& command);
  /// Lays all of them in, waiting for room. False: the drive is read-only.
  Task<bool> accept(Active& active, std::uint64_t lba, std::uint64_t blocks, const Stamp* data,
                    Durable* durable, Intake& intake);
  /// The same into the cache, if there is one and its policy likes.
  Task<bool> store(Active& active, std::uint64_t lba, std::uint64_t blocks, const Stamp* data,
                   Durable* durable);
  Task<bool> store_unit(Active& active, LogicalUnit unit, std::uint64_t lba, std::uint64_t blocks,
                        const Stamp* data, MemorySpans& where);
  Task<> wait_to_copy(Active& active, std::optional<Cache::Room>& room);
  Task<bool> wait_for_room(Active& active, Cache::Room& room);
  /// Units touched partly keep their other sectors, whole ones lose their place. False: the drive is read-only.
  Task<bool> clear(Active& active, LbaRange range, Durable* durable);
  void unmap(std::uint64_t first, std::uint64_t last);
  [[nodiscard]] bool holds_data(LogicalUnit unit);
  void end(Active& active);
  void charge(HostCommand& command, Cause cause) { command.ledger.charge(cause, hw.agenda.now()); }
  void charge_room(HostCommand& command, Picoseconds space_wait);
  [[nodiscard]] bool immediate(const HostCommand& command) const {
    return write_through || command.force_unit_access;
  }

  // ---- events
  void unpinned(std::uint32_t group, BlockNumber block) override { reclaimer.unpinned(group, block); }
  void now_read_only() override;
  void settled() override;
  void refresh_due(std::uint32_t group) override { refreshes_due.push_back(group); }
  void start_refreshes();
  /// Makes somebody who gathers what reads have brought, in DRAM behind all others.
  template <class Gatherer>
  void make_gatherer(std::unique_ptr<Gatherer>& which, const FirmwareConfig& config) {
    which = std::make_unique<Gatherer>(core, collector, destager, dram_bytes(), config);
    gatherers.push_back(&which->gatherer());
  }
  /// What reads have brought and is not yet on its way to flash is given up.
  void drop_gathered();
  [[nodiscard]] bool gathering() const {
    return std::any_of(gatherers.begin(), gatherers.end(), [](const ReadGatherer* g) { return !g->idle(); });
  }
  void arm_idle_timer();
  static void idle_timer(void* self);

  // ---- what is asked from outside
  [[nodiscard]] bool idle() const {
    return first == nullptr && destager.idle() && reclaimer.idle() && (!cache || cache->idle()) &&
           !gathering();
  }
  [[nodiscard]] Bytes dram_bytes() const;
  void describe_stall(std::string& text) const;
  void archive(Archive& archive);
  void report(StatisticsSink& sink) const;
  void report_map(StatisticsSink& sink) const;

  Hardware& hw;
  DriveShape shape;
  Core core;
  Destager destager;
  Collector collector;
  std::unique_ptr<LogBlocks> logs;  ///< null: the mapping scheme has no log blocks
  Reclaimer& reclaimer;             ///< whoever of the two makes room
  MapPages map_pages;
  std::unique_ptr<Cache> cache;          ///< null: none
  std::unique_ptr<Promoter> promoter;    ///< null: none
  std::unique_ptr<Replicas> replicas;    ///< null: none
  std::unique_ptr<Partition> partition;  ///< null: none
  std::vector<ReadGatherer*> gatherers;  ///< of the two
  OrderTable order;
  bool write_through;
  bool ecc_watches;  ///< the ECC policy wants to know of the host's commands
  std::array<Stamp, 64> zeros{};
  Active* first = nullptr;  ///< commands under way, oldest first
  Active* last = nullptr;
  std::uint32_t active = 0;
  std::vector<std::uint32_t> refreshes_due;  ///< groups in which a block waits to be refreshed
  WaitQueue quiet;                           ///< drain() waits here
  Picoseconds last_activity = 0;
  bool timer_pending = false;
  bool timer_wanted = false;
  TaskSet tasks;  ///< last: its coroutines refer to everything above
};

}  // namespace tlmssd::firmware
