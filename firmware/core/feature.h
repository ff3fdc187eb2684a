// What stands beside the kernel of the FTL: a class whose hooks do nothing by default.
//
// A feature observes (on_...), decides (redirect_read, copy_of, holds_read, restricts_writes,
// allows_write, holds_program, holds_collection, write_line, pass_voltage, next_move, knows_fill)
// and lasts (report, archive, dram_bytes, idle). It owns its parameters, counters and policy. The
// kernel asks only those features that implement a hook (core/hooks.h), in the order of the list of
// features (firmware/features.cpp), and knows none of them by name.
//
// No hook may wait. Hooks are called in the midst of the kernel's work and must not start anything;
// only on_read_end, on_program_end, on_moved, on_erased and on_collected may have the write buffer
// pump or start programs of their own, on_read_end reads as well, and only on_arrival,
// on_command_end and patrol may start collection (GcEngine::kick).
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "firmware/base/program_job.h"
#include "firmware/base/read_op.h"
#include "models/base/archive.h"
#include "models/base/host_command.h"
#include "models/base/statistics.h"

namespace tlmssd::firmware {

struct FlashCopy;
class ReadBatch;
class ReadTurn;

/// Mapping pages that a feature has programmed: its part of the write amplification.
struct MovedUnits {
  const char* name;  ///< key of the report
  const char* doc;
  std::uint64_t units;
};

/// What a feature has data moved for, as the kernel books and reports it.
struct MovePurpose {
  Purpose purpose;         ///< of the flash operations; its name is the key of its write amplification
  const char* doc;         ///< of that
  const char* blocks;      ///< key of the number of blocks moved
  const char* blocks_doc;  ///< of that
  const char* parts;       ///< the same of parts of blocks, if there are such moves
  const char* parts_doc;   ///< of that
};
/// What the kernel itself programs for: no feature's moves.
constexpr bool is_of_kernel(Purpose purpose) {
  return purpose == Purpose::host || purpose == Purpose::gc || purpose == Purpose::wear ||
         purpose == Purpose::map;
}

/// Data that a feature wants to be written anew: units [first, end) of a block, or all that there
/// are in it.
struct Move {
  Purpose purpose = Purpose::migration;  ///< that of the feature's MovePurpose
  BlockNumber block = k_no_block;        ///< closed or a victim
  std::uint32_t first = 0;
  std::uint32_t end = 0;
  bool whole = true;
  std::string_view why = {};  ///< for the log of decisions
};

class Feature {
 public:
  virtual ~Feature() = default;

  // ---- observes
  /// A command has come from the host; nothing has been done for it.
  virtual void on_arrival() {}
  /// Firmware has taken a read or a write of the host.
  virtual void on_host_command(const HostCommand& /*command*/) {}
  /// A read of the host has delivered `unit` from `where`, whose block is still pinned; `stamps`:
  /// all sectors of the unit.
  virtual void on_host_read(Lpn /*unit*/, Ppn /*where*/, const Stamp* /*stamps*/) {}
  /// A read command has released its blocks: programs may be started.
  virtual void on_read_end() {}
  /// A command has been handed back; it holds nothing any more.
  virtual void on_command_end() {}
  /// A page, or several units of one, has been read, for whatever purpose; its block is still
  /// pinned.
  virtual void on_page_read(const ReadOp& /*read*/) {}
  /// The decoder has done with the first attempt at a read.
  virtual void on_first_attempt(const ReadOp& /*read*/) {}
  /// The map points `unit` at other data, or nowhere, from now on.
  virtual void on_rewritten(Lpn /*unit*/) {}
  /// The write buffer has filled a program unit and sends it on its way. `kept_away`: not to any
  /// parallel unit, because a feature places writes.
  virtual void on_program(const ProgramJob& /*job*/, bool /*kept_away*/) {}
  /// A program has succeeded, of whatever kind, and what it is for has followed; the job still
  /// holds all that was programmed.
  virtual void on_programmed(const ProgramJob& /*job*/) {}
  /// A program of the write buffer is over and holds nothing any more.
  virtual void on_program_end() {}
  /// Collection begins to empty `block`; one in which a program has failed will be retired.
  virtual void on_victim(std::uint32_t /*pu*/, BlockNumber /*block*/) {}
  /// Collection has programmed `slots` slots of what it moves.
  virtual void on_moved(std::uint32_t /*pu*/, std::uint32_t /*slots*/) {}
  /// `block` is empty and about to be erased or retired: no read of it may begin any more.
  virtual void on_erase(BlockNumber /*block*/) {}
  /// A block that is not a failed one has been erased, or retired because its erase has failed.
  virtual void on_erased(std::uint32_t /*pu*/) {}
  /// Collection of a parallel unit has come to an end, for now.
  virtual void on_collected(std::uint32_t /*pu*/) {}
  /// A sequential fill of a drive that was never written has not been written (firmware/fill): so
  /// many units have gone to flash, in so many program units. Called once, before anything else is.
  virtual void on_fill(std::uint64_t /*units*/, std::uint64_t /*programs*/) {}
  /// The power has failed; nothing is gathered or under way.
  virtual void on_power_lost() {}

  // ---- decides
  /// Whether `unit`, whose sectors `need` a read of the host wants, is read from elsewhere than
  /// `where`: then what takes its place has been added to `reads`, in reads of their own with
  /// redirector, copy_of and original set, and for each the block of the original has been pinned.
  virtual bool redirect_read(Lpn /*unit*/, Ppn /*where*/, std::uint64_t /*need*/, ReadBatch& /*reads*/) {
    return false;
  }
  /// A read that the feature has redirected has ended, and with it all others of `again`, where
  /// those come that are to follow. False: what was wanted does not come of this one, but of
  /// another of them, or of the original, which has been added to `again` because a read could not
  /// be decoded.
  virtual bool end_redirected(const ReadOp& /*read*/, ReadBatch& /*again*/) { return true; }
  /// A copy in DRAM of `unit` as it lies at `where`, or one that is on its way there, of which a
  /// read of the host wants the sectors `need`; null: there is none. It stays until it is given
  /// back, and who has to wait for it waits in its queue.
  virtual FlashCopy* copy_of(Lpn /*unit*/, Ppn /*where*/, std::uint64_t /*need*/) { return nullptr; }
  /// A copy is not used any more; once for each time that it was handed out.
  virtual void give_back(FlashCopy& /*copy*/) {}
  /// Whether the reads of a command, whose places are known, have to wait; who says so lets them go
  /// (ReadTurn::go), not from within a hook.
  virtual bool holds_read(ReadTurn& /*turn*/) { return false; }
  /// Reads that holds_read() was asked about are over.
  virtual void on_read_turn_end(const ReadTurn& /*turn*/) {}
  /// Whether the next program of the write buffer is to be kept away from some parallel units.
  /// Asked once for each.
  virtual bool restricts_writes() { return false; }
  /// Whether the parallel unit may take the program that restricts_writes() was asked about.
  [[nodiscard]] virtual bool allows_write(std::uint32_t /*pu*/) const { return true; }
  /// Whether the next program of the write buffer has to wait; who says so has it pump again
  /// (Flusher::pump). `slots`: of a program unit.
  virtual bool holds_program(std::uint32_t /*slots*/) { return false; }
  /// Whether collection of the parallel unit has to wait before it takes another victim; who says
  /// so has it look again (GcWorker::look_again), in any case before what it waits for is over.
  virtual bool holds_collection(std::uint32_t /*pu*/) { return false; }
  /// The line of the write buffer in which `unit` waits that a command writes, where there are
  /// several: the placement handle, one of those that there are (core/feature_info.h).
  [[nodiscard]] virtual std::uint8_t write_line(Lpn /*unit*/, const HostCommand& /*command*/) { return 0; }
  /// With which share of the nominal pass voltage the first attempt at a page of `block` is made.
  [[nodiscard]] virtual float pass_voltage(BlockNumber /*block*/) { return 1; }
  /// Something of the parallel unit is to be written anew.
  [[nodiscard]] virtual bool move_waits(std::uint32_t /*pu*/) const { return false; }
  /// What of the parallel unit is written anew next; none (k_no_block) when nothing is any more. A
  /// part of a block only where `parts` says that there is room for it: moving it frees nothing.
  [[nodiscard]] virtual Move next_move(std::uint32_t /*pu*/, bool /*parts*/) { return {}; }
  /// There may be moves of parts of blocks.
  [[nodiscard]] virtual bool moves_parts() const { return false; }

  /// Whether it has a part in where data lie, by what it moves or otherwise. Where none has, a
  /// steady state need not be written.
  [[nodiscard]] virtual bool places_data() const { return true; }

  /// Whether such a fill leaves the feature as on_fill() does: that nothing it would have been
  /// asked or told meanwhile would have changed anything else. Only asked of a feature that
  /// implements a hook which a write calls.
  [[nodiscard]] virtual bool knows_fill() const { return false; }

  // ---- time that the simulation does not see
  /// Every page that holds data has been read so many times.
  virtual void on_disturbed(std::uint32_t /*reads*/) {}
  /// Looks after data that have become old, as it does by itself from time to time.
  virtual void patrol() {}
  /// Seconds between two such looks; 0: it makes none.
  [[nodiscard]] virtual double patrol_interval() const { return 0; }
  /// Seconds until such a look finds something, if nothing is read or written meanwhile; what could
  /// not be moved does not count. Infinity: never.
  [[nodiscard]] virtual double next_due() { return std::numeric_limits<double>::infinity(); }

  // ---- lasts
  /// Nothing of its own is under way.
  [[nodiscard]] virtual bool idle() const { return true; }
  /// What it has gathered and not yet sent on its way is given up: before the drive is at rest,
  /// when it becomes read-only and when power fails.
  virtual void drop() {}
  /// DRAM that it uses, from the address that it was given.
  [[nodiscard]] virtual Bytes dram_bytes() const { return 0; }
  [[nodiscard]] virtual std::optional<MovedUnits> moved() const { return {}; }
  virtual void report(StatisticsSink& /*sink*/) const {}
  virtual void reset_statistics() {}
  /// Saves or restores what lives across an idle moment, counters included.
  virtual void archive(Archive& archive) = 0;
};

}  // namespace tlmssd::firmware
