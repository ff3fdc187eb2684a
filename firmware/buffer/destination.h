// Where program units of the write buffer go, and what that takes: native blocks, blocks in SLC
// mode, block-mapped regions that are rewritten as a whole, log blocks (firmware/destinations).
//
// The flusher is one coroutine for all of them and asks its destination: next_place() and fill()
// when a program unit is sent out, read_modify_write() when some of its units lack sectors, a claim
// when it is about to be programmed, then started(), on_failure() as often as the program fails,
// and commit(). Each destination states its part in why nothing can deadlock. What is here goes for
// all in which a program unit holds single mapping pages.
#pragma once

#include <algorithm>
#include <cstdint>

#include "firmware/buffer/completions.h"
#include "firmware/buffer/pu_turns.h"
#include "firmware/buffer/write_buffer.h"
#include "firmware/core/core.h"

namespace tlmssd::firmware {

class Flusher;

class Destination {
 public:
  /// A parallel unit and the mode of its block, or nothing: no place now. One number, because parts
  /// that are written one by one and read together soon after stall the processor.
  class Place {
   public:
    Place() = default;
    /// `pu` PuTurns::k_none: nothing.
    explicit Place(std::uint32_t pu, BlockMode mode = BlockMode::native)
        : code_(pu == PuTurns::k_none ? k_nothing
                                      : std::uint64_t{pu} << 1U | (mode == BlockMode::slc ? 1 : 0)) {}
    explicit operator bool() const { return code_ != k_nothing; }
    [[nodiscard]] std::uint32_t pu() const { return static_cast<std::uint32_t>(code_ >> 1U); }
    [[nodiscard]] BlockMode mode() const { return (code_ & 1U) != 0 ? BlockMode::slc : BlockMode::native; }

   private:
    static constexpr std::uint64_t k_nothing = ~std::uint64_t{0};
    std::uint64_t code_ = k_nothing;
  };

  virtual ~Destination() = default;
  Destination(const Destination&) = delete;

  /// What is to go out next has to wait for a program under way.
  [[nodiscard]] virtual bool blocked() { return false; }
  /// Where the next program of a line of the write buffer goes.
  virtual Place next_place(std::uint8_t line) = 0;
  /// Takes what goes into a program out of the line; the job has its parallel unit and mode.
  virtual void fill(ProgramJob& job, std::uint8_t line) = 0;
  /// Units that were written in part get their other sectors from flash, or zeros where nothing was
  /// ever written.
  virtual Task<> read_modify_write(ProgramJob& job);
  /// Gives the job its place, if that takes no waiting; the caller must start it at once and then
  /// call started(). So does claim(), which waits; false: the drive is read-only.
  virtual bool claim_now(ProgramJob& job) = 0;
  virtual Task<bool> claim(ProgramJob& job) = 0;
  virtual void started(ProgramJob& job) = 0;
  /// The program has failed, and will be made again in another place.
  virtual void on_failure(ProgramJob& job) = 0;
  /// Has the processor fetch what commit() will look up, if units lie apart: while they were in the
  /// buffer their map entries have left the caches.
  void prefetch(const ProgramJob& job) const;
  /// The program has succeeded: the map follows, entries are free.
  virtual void commit(ProgramJob& job);
  /// The job is over, well or not: it gives back what it holds but its parallel unit.
  virtual void release(ProgramJob& /*job*/) {}
  /// A job of the parallel unit is over: whether there is something to collect.
  virtual void ended(std::uint32_t /*pu*/) {}

 protected:
  explicit Destination(Flusher& flusher);
  /// Fills the job with waiting entries, or until one does not join (`joins(unit)`).
  void fill_units(ProgramJob& job, std::uint8_t line) {
    fill_units(job, line, [](Lpn /*unit*/) { return true; });
  }
  template <class Joins>
  void fill_units(ProgramJob& job, std::uint8_t line, Joins&& joins) {
    const std::uint64_t all = core_.layout.all_sectors();
    const std::uint32_t units = core_.layout.units_of_program(job.mode);
    while (job.live < units) {
      const WriteBuffer::Index i = buffer_.front(line);
      if (i == WriteBuffer::k_none) break;
      const WriteBuffer::Entry& entry = buffer_.entry(i);
      if (job.live > 0 && !joins(entry.unit)) break;
      buffer_.take(i);
      if (entry.unit != next_in_order_ && (job.live > 0 || units == 1)) job.scattered = true;
      next_in_order_ = std::uint64_t{entry.unit} + 1;
      if (entry.mask != all) ++job.partial;
      if (core_.layout.is_map(entry.unit)) ++job.map_units;
      job.put(entry.unit, i, buffer_.stamps(i));
    }
    job.pad();
    job.entry = job.source[0];
  }
  /// Completes the entry that is unit `n` of a job: what it lacks comes from `content(sector)`, or
  /// from what flash holds of it.
  template <class Content>
  void complete(ProgramJob& job, std::uint32_t n, Content content) {
    const std::uint32_t sectors = core_.layout.sectors;
    WriteBuffer::Entry& entry = buffer_.entry(job.source[n]);
    Stamp* const stamps = buffer_.stamps(job.source[n]);
    for (std::uint32_t s = 0; s < sectors; ++s) {
      if ((entry.mask >> s & 1U) == 0) stamps[s] = content(s);
    }
    job.set_content(n, stamps);
    entry.mask = core_.layout.all_sectors();
  }
  void complete(ProgramJob& job, std::uint32_t n, const ReadOp& read, std::uint32_t at);
  /// Whether the entry that is unit `n` of a job lacks nothing that flash may hold: what has been
  /// trimmed of it is zeros.
  bool lacks_nothing(ProgramJob& job, std::uint32_t n);
  /// Address of what is programmed: its units are scattered, but the transfer stays inside the
  /// buffer.
  [[nodiscard]] std::uint64_t address_of(const ProgramJob& job) const {
    return buffer_.address_of(std::min(job.entry, buffer_.capacity() - core_.layout.program_units));
  }

  [[nodiscard]] Lpn unit_of(const ProgramJob& job, std::uint32_t n) const {
    return buffer_.entry(job.source[n]).unit;
  }
  void prefetch_behind(const ProgramJob& job) const;

  Core& core_;
  WriteBuffer& buffer_;
  PuTurns& turns_;
  Completions& completions_;
  std::uint64_t next_in_order_ = 0;  ///< unit behind the one that was sent out last
};

}  // namespace tlmssd::firmware
