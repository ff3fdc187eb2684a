// The inside of the Ftl: its parts and the coroutines of host commands.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "firmware/buffer/buffered_map_pages.h"
#include "firmware/buffer/flusher.h"
#include "firmware/cache/cache.h"
#include "firmware/core/core.h"
#include "firmware/core/feature_info.h"
#include "firmware/core/layer.h"
#include "firmware/flash/error_correction.h"
#include "firmware/flash/read_batch.h"
#include "firmware/ftl.h"
#include "firmware/gc/worker.h"
#include "firmware/logblocks/log_blocks.h"
#include "models/base/order_table.h"

namespace tlmssd::firmware {

struct Ftl::Parts final : CoreEvents, WriteAcceptor {
  Parts(Hardware& hardware, const DriveShape& drive, const FirmwareConfig& config);

  /// A command under way; lives in its coroutine.
  struct Active : HeldCommand {
    Active(Parts& owner, HostCommand& host_command);
    Active(const Active&) = delete;
    OrderTable::Ticket ticket;
    Active* previous = nullptr;
    Active* next = nullptr;
  };
  /// Logical units that a range of logical blocks touches.
  struct UnitRange {
    std::uint64_t first;
    std::uint64_t last;
  };

  // ---- host commands (commands/)
  Task<> read(HostCommand& command);
  Task<> write(HostCommand& command);
  Task<> trim(HostCommand& command);
  Task<> flush(HostCommand& command);
  Task<> reject(HostCommand& command, HostStatus status);
  Task<> drain();

  // ---- pieces of them
  /// The core that takes a command goes straight on with it, unless an earlier command on the same
  /// units must end first or other cores are meant for what comes next.
  [[nodiscard]] bool can_coalesce(const Active& self, Stage next) const {
    return !self.ticket.blocked() && hw.cpu.same_cores(Stage::command, next);
  }
  /// Tells cores whose cycles depend on it what `stage` of the command has to do.
  void describe(Stage stage, const HostCommand& command);
  /// The command stage, the wait for earlier commands on the same units, then `times` executions of
  /// `next`.
  Task<> dispatch(Active& self, Stage next, std::uint32_t times);
  [[nodiscard]] HostStatus check(const HostCommand& command) const;
  [[nodiscard]] UnitRange units_of(std::uint64_t lba, std::uint64_t blocks) const {
    return {lba / core.layout.sectors, (lba + blocks - 1) / core.layout.sectors};
  }
  /// Fills what the layer in front and the buffer hold and what was never written, makes reads of
  /// the rest.
  void look_up(HostCommand& command, UnitRange units, ReadBatch& reads, Bytes& from_buffer,
               MemorySpans& in_front);
  std::uint64_t take_buffered(HostCommand& command, WriteBuffer::Index i, std::uint64_t want,
                              Bytes& from_buffer);
  Task<> fetch_copies(Active& active, Bytes from_buffer, const MemorySpans& in_front);
  /// Delivers what reads have brought; what is left in the list has to be read, too: originals of
  /// copies that could not be decoded.
  void deliver(HostCommand& command, ReadBatch& reads, Layer::Hold* hold);
  void deliver(HostCommand& command, const ReadOp& read, Layer::Hold* hold);
  /// Where the next unit of a command goes that needs an entry, and entries that were set aside for
  /// this.
  struct BufferAllocation {
    bool asked = false;     ///< the line has been chosen for that unit
    std::uint8_t line = 0;  ///< of the write buffer; in it are the entries
    std::uint32_t granted = 0;
  };
  /// Lays blocks of the host into the buffer as long as there is room; returns how many. `data`
  /// null: zeros.
  std::uint64_t insert(const HostCommand& command, std::uint64_t lba, std::uint64_t blocks, const Stamp* data,
                       Durable* durable, BufferAllocation& allocation);
  /// The line of the write buffer in which a unit waits that is written by `command`. Entries set
  /// aside in the other are given back.
  void choose_line(BufferAllocation& allocation, std::uint64_t unit, const HostCommand& command);
  [[nodiscard]] std::uint8_t line_of(std::uint64_t unit, const HostCommand& command);
  /// Lays all of them in, waiting for room. False: the drive is read-only.
  Task<bool> accept(HeldCommand& held, std::uint64_t lba, std::uint64_t blocks, const Stamp* data,
                    Durable* durable, BufferAllocation allocation);
  Task<bool> accept(HeldCommand& held, std::uint64_t lba, std::uint64_t blocks, const Stamp* data,
                    Durable* durable) override {
    return accept(held, lba, blocks, data, durable, {});
  }
  /// The same into the layer in front, if there is one.
  Task<bool> store(Active& self, std::uint64_t lba, std::uint64_t blocks, const Stamp* data,
                   Durable* durable) {
    return front != nullptr ? front->write(self, *this, lba, blocks, data, durable)
                            : accept(self, lba, blocks, data, durable, {});
  }
  /// Units touched partly keep their other sectors, whole ones lose their place. False: the drive
  /// is read-only.
  Task<bool> clear(Active& self, LbaRange range, Durable* durable);
  void deallocate(std::uint64_t first, std::uint64_t last);
  [[nodiscard]] bool holds_data(Lpn unit);
  void end(Active& self);
  void charge(HostCommand& command, Cause cause) { command.ledger.charge(cause, hw.event_queue.now()); }
  [[nodiscard]] bool immediate(const HostCommand& command) const {
    return write_through || command.force_unit_access;
  }

  // ---- events
  void unpinned(std::uint32_t pu, BlockNumber block) override { gc_engine.unpinned(pu, block); }
  void now_read_only() override;
  void settled() override;
  /// Makes those that the scenario has chosen.
  void make_features(const FirmwareConfig& config);
  /// What features have gathered and is not yet on its way to flash is given up.
  void drop_gathered();
  [[nodiscard]] bool features_idle() const {
    return std::all_of(chosen.begin(), chosen.end(), [](const Chosen& c) { return c.feature->idle(); });
  }
  void arm_idle_timer();
  static void idle_timer(void* self);

  // ---- what is asked from outside
  [[nodiscard]] bool idle() const {
    return active.empty() && flusher.idle() && gc_engine.idle() && (!cache || cache->idle()) &&
           features_idle();
  }
  [[nodiscard]] Bytes dram_bytes() const;
  void describe_stall(std::string& text) const;
  void archive(Archive& archive);
  void report(StatisticsSink& sink) const;
  void report_map(StatisticsSink& sink) const;

  Hardware& hw;
  DriveShape shape;
  Core core;
  std::optional<ErrorCorrection> correction;  ///< none: nothing is decoded
  std::optional<PlaneJoiner> joiner;          ///< none: every read is an operation of its own
  Flusher flusher;
  GcWorker gc_worker;
  std::unique_ptr<LogBlocks> logs;  ///< null: the mapping scheme has no log blocks
  GcEngine& gc_engine;              ///< the one of the two that makes space
  BufferedMapPages map_pages;
  std::unique_ptr<Cache> cache;  ///< null: none
  Layer* front;                  ///< what commands meet first; null: the write buffer
  /// A feature that the scenario has chosen.
  struct Chosen {
    const FeatureInfo* info;
    std::string policy;
    std::unique_ptr<Feature> feature;
  };
  std::vector<Chosen> chosen;  ///< in the order of the list of features
  std::string identity;        ///< keys and values that a snapshot must have, too, a line each
  OrderTable order;
  bool write_through;
  std::vector<std::unique_ptr<Feature>>
      watchers;  ///< by which policies of the kernel see the host's commands
  std::array<Stamp, 64> zeros{};
  IntrusiveQueue<Active> active;  ///< commands under way, oldest first
  WaitQueue quiet;                ///< drain() waits here
  Picoseconds last_activity = 0;
  bool timer_pending = false;
  bool timer_wanted = false;
  TaskSet tasks;  ///< last: its coroutines refer to everything above
};

}  // namespace tlmssd::firmware
