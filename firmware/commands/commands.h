// Host commands: one coroutine each, in a file of its own, and what they have in common. None knows
// a feature by name.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "firmware/base/flash_copy.h"
#include "firmware/buffer/flusher.h"
#include "firmware/core/core.h"
#include "firmware/core/layer.h"
#include "firmware/flash/read_batch.h"
#include "models/base/order_table.h"

namespace tlmssd::firmware {

struct Commands final : WriteAcceptor {
  /// `front_layer`: what commands meet first; null: the write buffer.
  Commands(Core& shared, const DriveShape& drive, Flusher& to_flash, Layer* front_layer);
  Commands(const Commands&) = delete;

  /// Carries the command out and hands it back.
  void submit(HostCommand& command);

  /// A command under way; lives in its coroutine.
  struct Active : HeldCommand {
    Active(Commands& owner, HostCommand& host_command);
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

  /// What a read finds elsewhere than by reads of flash of its own.
  struct Elsewhere {
    bool in_buffer = false;  ///< some of it in DRAM, in the write buffer or as copies of what lies in flash
    MemorySpans in_front;    ///< in the layer in front
    /// A copy in DRAM of a unit that lies at `where`, of which the command wants `need`.
    struct Copy {
      FlashCopy* copy;
      Lpn unit;
      Ppn where;
      std::uint64_t need;
    };
    std::vector<Copy> there;   ///< that the layer in front may take in
    std::vector<Copy> coming;  ///< on their way, their units' blocks pinned
  };

  // ---- host commands
  Task<> read(HostCommand& command);
  Task<> write(HostCommand& command);
  Task<> trim(HostCommand& command);
  Task<> flush(HostCommand& command);
  Task<> reject(HostCommand& command, HostStatus status);

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
  /// Features see the command, it takes its place in the order, and what is known of its first unit
  /// is fetched ahead.
  void enter(Active& self, UnitRange units, bool changes);
  [[nodiscard]] HostStatus check(const HostCommand& command) const;
  [[nodiscard]] UnitRange units_of(std::uint64_t lba, std::uint64_t blocks) const {
    return {lba / core.layout.sectors, (lba + blocks - 1) / core.layout.sectors};
  }
  /// Fills what the layer in front, the buffer and copies hold and what was never written, makes
  /// reads of the rest.
  void look_up(HostCommand& command, UnitRange units, ReadBatch& reads, Elsewhere& elsewhere,
               Layer::Hold* hold);
  void note_lost_before(HostCommand& command);
  std::uint64_t take_buffered(HostCommand& command, WriteBuffer::Index i, std::uint64_t want,
                              bool& in_buffer);
  std::uint64_t take_trimmed(HostCommand& command, Lpn unit, std::uint64_t want);
  bool take_copy(HostCommand& command, Lpn unit, Ppn where, std::uint64_t want, Elsewhere& elsewhere);
  /// The command has been given what it wants of a copy that is there: so is the layer in front,
  /// which takes in what comes from flash.
  void end_copy(const Elsewhere::Copy& one, Layer::Hold* hold);
  Task<> fetch_copies(Active& active, const Elsewhere& elsewhere);
  /// Waits for what is on its way; adds to `reads` what is lost of it.
  Task<> await_coming(Active& active, std::vector<Elsewhere::Copy>& coming, ReadBatch& reads,
                      Layer::Hold* hold);
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
  /// Inserts blocks of the host into the buffer as long as there is room; returns how many.
  std::uint64_t insert(const HostCommand& command, std::uint64_t lba, std::uint64_t blocks, const Stamp* data,
                       Durable* durable, BufferAllocation& allocation);
  /// The line of the write buffer in which a unit waits that is written by `command`. Entries set
  /// aside in the other are given back.
  void choose_line(BufferAllocation& allocation, std::uint64_t unit, const HostCommand& command);
  [[nodiscard]] std::uint8_t line_of(std::uint64_t unit, const HostCommand& command);
  /// Inserts all of them, waiting for room. False: the drive is read-only.
  Task<bool> accept(HeldCommand& held, std::uint64_t lba, std::uint64_t blocks, const Stamp* data,
                    Durable* durable, BufferAllocation allocation);
  Task<bool> accept(HeldCommand& held, std::uint64_t lba, std::uint64_t blocks, const Stamp* data,
                    Durable* durable) override {
    return accept(held, lba, blocks, data, durable, {});
  }
  /// Units touched partly keep their other sectors, whole ones lose their place.
  void clear(LbaRange range);
  void deallocate(std::uint64_t first, std::uint64_t last);
  void deallocate_part(std::uint64_t unit, LbaRange range);
  [[nodiscard]] bool holds_data(Lpn unit);
  void end(Active& self);
  void charge(HostCommand& command, Cause cause) { command.ledger.charge(cause, hw.event_queue.now()); }
  [[nodiscard]] bool immediate(const HostCommand& command) const {
    return write_through || command.force_unit_access;
  }

  /// Null: every read is an operation of its own.
  [[nodiscard]] PlaneJoiner* plane_joiner() { return joiner ? &*joiner : nullptr; }

  Hardware& hw;
  Core& core;
  const DriveShape& shape;
  Flusher& flusher;
  Layer* front;                       ///< null: none
  std::optional<PlaneJoiner> joiner;  ///< none: every read is an operation of its own
  OrderTable order;
  bool write_through;
  std::array<Stamp, 64> zeros{};
  IntrusiveQueue<Active> active;  ///< commands under way, oldest first
  TaskSet tasks;                  ///< last: its coroutines refer to everything above
};

}  // namespace tlmssd::firmware
