// From the write buffer to flash: which entries go out when, in which program units, to which
// parallel unit; and who waits for it.
//
// Each program unit is a coroutine: units that lack sectors are completed from flash, a place in
// the parallel unit is taken (waiting for garbage collection if it must), the program runs, the map
// is updated. Where the buffer has several lines, a program unit takes entries of one, and goes to
// the write target of that line (flusher_lines.cpp). Program units go round the parallel units in
// the configured order; a parallel unit that is too full to take one is passed over.
#pragma once

#include <algorithm>
#include <optional>
#include <unordered_set>
#include <vector>

#include "firmware/buffer/write_buffer.h"
#include "firmware/core/core.h"

namespace tlmssd::firmware {

class GcWorker;
class LogBlocks;

/// What a program spent on collection, waiting for a free block or behind it on the die, of all
/// that it took. Who waited for the room that it made waited for that in proportion.
struct CollectionWait {
  CollectionWait() = default;
  explicit CollectionWait(const Ledger& program)
      : waited(program.spent(Cause::space_wait) + program.spent(Cause::die_gc)), took(program.total()) {}
  [[nodiscard]] Picoseconds share_of(Picoseconds wait) const {
    return took == 0 ? 0 : static_cast<Picoseconds>(static_cast<__int128>(wait) * waited / took);
  }
  Picoseconds waited = 0;
  Picoseconds took = 0;
};

/// Charges a wait for room that ends now: what the program that made the room had spent on
/// collection counts as such.
inline void charge_full_wait(Ledger& ledger, const CollectionWait& of_program, Picoseconds now) {
  ledger.charge(Cause::space_wait, ledger.mark() + of_program.share_of(now - ledger.mark()));
  ledger.charge(Cause::buffer_wait, now);
}

/// Who wants to know when lines evicted from a cache have reached flash.
class Evictions {
 public:
  virtual ~Evictions() = default;
  virtual void committed(Lpn unit, std::uint64_t eviction, bool failed, const CollectionWait& of_program) = 0;
  /// A program has ended: what waits in the buffer may have changed.
  virtual void pump() = 0;
  /// Whether a command waits for evicted lines to reach flash.
  [[nodiscard]] virtual bool awaited() const = 0;
};

class Flusher {
 public:
  explicit Flusher(Core& core);
  void attach(GcWorker& gc_worker) { gc_worker_ = &gc_worker; }
  /// Programs go to log blocks.
  void attach(LogBlocks& logs) { logs_ = &logs; }
  void attach(Evictions& evictions) { evictions_ = &evictions; }

  [[nodiscard]] WriteBuffer& buffer() { return buffer_; }
  [[nodiscard]] std::uint32_t free_units() const { return buffer_.free(); }
  /// More than half of what may hold writes into SLC mode, or of the buffer when it is not shared
  /// out, is free.
  [[nodiscard]] bool half_empty() const { return space_of(parts_[0]) > parts_[0].most / 2; }
  [[nodiscard]] std::uint32_t capacity() const { return buffer_.capacity(); }
  [[nodiscard]] std::uint64_t address_of(WriteBuffer::Index i) const {
    return base_ + std::uint64_t{i} * core_.layout.unit_bytes;
  }
  [[nodiscard]] Bytes dram_bytes() const {
    return base_ + Bytes{buffer_.capacity()} * core_.layout.unit_bytes;
  }

  /// Sends out whatever is due. Called after entries were added or made urgent.
  void pump();
  /// Pump, if there may be anything to do: cheap enough to be called after every write.
  void pump_if_due() {
    if (buffer_.waiting() >= least_ || buffer_.any_urgent()) pump();
  }

  /// Nothing has ever come in.
  [[nodiscard]] bool untouched() const { return buffer_.accepted() == 0; }
  /// So many units have come in and gone to flash as whole program units, those of a fill that was
  /// not written page by page: what counts them goes on.
  void pass(std::uint64_t units) {
    buffer_.pass(units);
    dispatched_ += units / core_.layout.program_units;
  }

  /// Sends out everything that waits now, even if it takes padding.
  void force() {
    force_ = buffer_.accepted();
    pump();
  }

  /// What flash holds at `where` is what `unit` holds, and nothing newer waits here.
  [[nodiscard]] bool current(Lpn unit, Ppn where) const {
    return core_.map->lookup(unit) == where && buffer_.find(unit) == WriteBuffer::k_none &&
           (core_.poisoned.empty() || !core_.poisoned.contains(unit));
  }

  /// Waits for room for new entries in the buffer, first come first served. granted() then says for
  /// how many. `line`: of the buffer (WriteBuffer); the second may have a part of it to itself
  /// (firmware.pslc.direct_buffer).
  class Reservation {
   public:
    Reservation(Flusher& flusher, std::uint32_t wanted, std::uint8_t line = 0)
        : flusher_(flusher), wanted_(wanted), line_(line) {}
    Reservation(const Reservation&) = delete;
    [[nodiscard]] bool await_ready();
    void await_suspend(std::coroutine_handle<> handle) noexcept { waiter_ = handle; }
    void await_resume() const noexcept {}
    /// Entries set aside for the caller, who must use each or give it back; 0: the drive is
    /// read-only.
    [[nodiscard]] std::uint32_t granted() const { return granted_; }
    /// Of the program that made the room.
    [[nodiscard]] const CollectionWait& collection_wait() const { return collection_wait_; }

    Reservation* next = nullptr;  ///< in the queue of those who wait

   private:
    friend class Flusher;
    Flusher& flusher_;
    std::uint32_t wanted_;
    std::uint8_t line_;
    std::uint32_t granted_ = 0;
    CollectionWait collection_wait_;
    std::coroutine_handle<> waiter_{};
  };
  /// Uses up entries that were set aside: the caller adds them at once.
  void unreserve(std::uint32_t entries, std::uint8_t line = 0) { part_of(line).reserved -= entries; }
  /// Gives back entries that were set aside and are not needed.
  void give_back(std::uint32_t entries, std::uint8_t line = 0) {
    unreserve(entries, line);
    grant({});
  }
  /// Whether a new entry may be made without waiting.
  [[nodiscard]] bool room(std::uint8_t line = 0) const {
    const Part& part = part_of(line);
    return part.waiting.empty() && space_of(part) > 0;
  }

  /// Waits until everything accepted so far is on flash, or only what the host wrote past the
  /// cache.
  class Flushed {
   public:
    explicit Flushed(Flusher& flusher, bool from_host_only = false)
        : flusher_(flusher),
          target_(from_host_only ? flusher.buffer_.accepted_from_host() : flusher.buffer_.accepted()) {}
    Flushed(const Flushed&) = delete;
    [[nodiscard]] bool await_ready();
    void await_suspend(std::coroutine_handle<> handle) noexcept { waiter_ = handle; }
    void await_resume() const noexcept {}
    [[nodiscard]] bool failed() const { return failed_; }
    /// What the program that ended last was waiting for (for the ledger); empty when nothing had to
    /// be waited for.
    [[nodiscard]] const Ledger& last() const { return last_; }

    Flushed* next = nullptr;  ///< in the queue of those who wait

   private:
    friend class Flusher;
    Flusher& flusher_;
    std::uint64_t target_;
    std::uint64_t job_ = 0;
    bool dispatched_ = false;
    bool ready_ = false;
    bool failed_ = false;
    Ledger last_;
    std::coroutine_handle<> waiter_{};
  };

  /// Data of the units from `first` up to `end` are void (trim). Returns how many were here that
  /// the map does not know.
  std::uint64_t discard(std::uint64_t first, std::uint64_t end);

  [[nodiscard]] bool idle() const { return jobs_.empty() && (buffer_.waiting() == 0 || core_.read_only); }
  [[nodiscard]] std::uint64_t jobs_in_flight() const { return jobs_.size(); }
  /// What waits in the buffer is gone. No program may be under way.
  void power_lost();
  /// Nothing will be written any more: everyone who waits is told so.
  void now_read_only();
  void archive(Archive& archive);

 private:
  /// Address for a program unit that begins with entry `i`: its units are scattered, but the
  /// transfer stays inside the buffer.
  [[nodiscard]] std::uint64_t program_address(WriteBuffer::Index i) const {
    return address_of(std::min(i, buffer_.capacity() - core_.layout.program_units));
  }
  [[nodiscard]] bool due() const;
  /// A command waits for what is in the buffer to reach flash.
  [[nodiscard]] bool awaited() const {
    return !parts_[0].waiting.empty() || !parts_[1].waiting.empty() ||
           (evictions_ != nullptr && evictions_->awaited());
  }
  /// What a parallel unit must have beside room for a program.
  enum class Needs : std::uint8_t {
    nothing,
    slc_space,  ///< room in SLC mode that is not promised
    slc_blocks  ///< blocks in SLC mode, be they full
  };
  std::optional<std::uint32_t> next_pu(Needs needs = Needs::nothing);
  /// A feature wants the next program to wait.
  bool held();
  /// Asks for the next program whether some parallel units are to be kept from it.
  void steer();
  /// No parallel unit has been found for it and nothing under way will change that: whether it may
  /// go where it was kept from.
  bool gives_way();
  [[nodiscard]] bool kept_away(std::uint32_t pu) const {
    const Hooks::List& steers = core_.hooks.steers;
    return steered_ && !std::all_of(steers.begin(), steers.end(),
                                    [pu](const Feature* feature) { return feature->allows_write(pu); });
  }
  void occupy(std::uint32_t pu);
  void vacate(std::uint32_t pu);
  void fill(ProgramJob& job, std::uint8_t line = 0);
  Task<> flush(ProgramJob& job);
  Task<> complete_units(ProgramJob& job);
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
  // ---- block-mapped regions that are rewritten as a whole (flusher_blocks.cpp)
  [[nodiscard]] bool block_under_way();
  /// The next parallel unit in turn; for a block-mapped region its home, as its address has it, if
  /// there is room.
  std::optional<std::uint32_t> pu_for_next();
  void fill_block(ProgramJob& job);
  Task<> complete_block(ProgramJob& job);
  [[nodiscard]] bool only_copies(const ProgramJob& job, std::uint32_t part) const;
  [[nodiscard]] bool same_dies(const ProgramJob& job) const;
  /// What of the block can be copied on the dies is marked so; the program must be started at once.
  void plan_copies(ProgramJob& job);
  void forget_copies(ProgramJob& job);
  void commit_block(ProgramJob& job);
  Task<bool> wait_for_space(ProgramJob& job);
  [[nodiscard]] bool claimable(const ProgramJob& job) const;
  // ---- several lines of the write buffer (flusher_lines.cpp)
  struct Destination {
    std::optional<std::uint32_t> pu;  ///< nothing: no place now
    BlockMode mode;
  };
  /// Sends out what is due of any line of the write buffer.
  void pump_lines();
  bool send(std::uint8_t line, bool short_too);
  [[nodiscard]] bool all_lines_short() const;
  [[nodiscard]] std::uint8_t longest_line() const;
  [[nodiscard]] bool pressing(std::uint8_t line) const {
    return buffer_.any_urgent(line) || buffer_.oldest(line) <= force_;
  }
  Destination destination(std::uint8_t line);
  // ---- blocks in SLC mode (flusher_pslc.cpp)
  Destination slc_destination(bool direct);
  [[nodiscard]] bool has(std::uint32_t pu, Needs needs) const;
  /// Some parallel unit would do if it were not busy.
  [[nodiscard]] bool any_has(Needs needs) const;
  /// A program unit that will not find room in SLC mode goes to native blocks.
  void turn_native(ProgramJob& job);
  void reserve(ProgramJob& job);
  void release(ProgramJob& job);
  void commit(ProgramJob& job);
  void give_up(WriteBuffer::Index i);
  void fail(ProgramJob& job);
  void end(ProgramJob& job);
  // ---- log blocks (flusher_blocks.cpp)
  [[nodiscard]] std::optional<std::uint32_t> home_pu();
  Task<> write_to_log(ProgramJob& job);
  void settle(WriteBuffer::Index i, const Ledger* branch, bool failed);
  /// What the entry holds is elsewhere, too: map pages are not read for what they hold (the map is
  /// rebuilt), and what is relocated is in flash already.
  [[nodiscard]] bool expendable(const WriteBuffer::Entry& entry) const {
    return entry.relocated || core_.layout.is_map(entry.unit);
  }
  /// The entry's data have reached flash: what becomes of damage that it carried.
  void note_damage(const WriteBuffer::Entry& entry);
  /// Who waits for room in the buffer, and how much of it is theirs. All are in the first where the
  /// buffer is not shared out between its lines.
  struct Part {
    IntrusiveQueue<Reservation> waiting;
    std::uint32_t reserved = 0;  ///< free entries that are set aside for someone about to resume
    std::uint32_t most = 0;      ///< entries that it may hold
  };
  [[nodiscard]] const Part& part_of(std::uint8_t line) const { return parts_[shared_out_ ? line : 0]; }
  [[nodiscard]] Part& part_of(std::uint8_t line) { return parts_[shared_out_ ? line : 0]; }
  /// Entries that may be set aside in a part now.
  [[nodiscard]] std::uint32_t space_of(const Part& part) const;
  void share_out();
  void grant(const CollectionWait& of_program);
  bool discard(Lpn unit);
  void check_flushes(const Ledger* last);
  void link(ProgramJob& job);

  Core& core_;
  GcWorker* gc_worker_ = nullptr;
  LogBlocks* logs_ = nullptr;  ///< null: the mapping scheme has none
  Evictions* evictions_ = nullptr;
  bool steered_ = false;  ///< a feature keeps the present program away from some parallel units
  std::uint64_t base_;    ///< DRAM address of the buffer
  WriteBuffer buffer_;
  TaskSet tasks_;
  std::vector<std::uint32_t> sequence_;  ///< parallel units in allocation order
  std::uint32_t position_ = 0;
  std::vector<std::uint32_t> place_;      ///< position of each parallel unit in sequence_
  std::vector<std::uint32_t> under_way_;  ///< programs of each parallel unit
  std::vector<std::uint64_t> may_take_;   ///< a bit per position: the parallel unit may take another program
  std::uint32_t busy_ = 0;                ///< parallel units that may not
  std::uint32_t least_;                   ///< entries that make a program unit
  std::uint32_t threshold_;               ///< entries that may wait before anything is sent out
  std::uint64_t force_ = 0;  ///< entries up to this sequence number are to go out even if it takes padding
  bool pumping_ = false;
  bool write_through_;
  std::uint8_t next_line_ = 0;  ///< whose turn it is to send out a program
  bool shared_out_ = false;     ///< each of two lines has a part of the buffer to itself
  Part parts_[2];
  IntrusiveQueue<Flushed> flushes_;
  IntrusiveQueue<ProgramJob> jobs_;  ///< under way, in the order of dispatch
  std::uint64_t dispatched_ = 0;
  std::unordered_set<std::uint32_t> blocks_;  ///< block-mapped regions that are being rewritten
};

}  // namespace tlmssd::firmware
