// From the write buffer to flash: which entries go out when, in which program units, to which group; and who waits for it.
//
// Each program unit is a coroutine: units that lack sectors are completed from flash, a place in the group is taken (waiting
// for garbage collection if it must), the program runs, the map is updated. Program units go round the groups in the configured
// order; a group that is too full to take one is passed over.
#pragma once

#include <algorithm>
#include <unordered_set>
#include <vector>

#include "firmware/buffer/write_buffer.h"
#include "firmware/core.h"

namespace tlmssd::firmware {

class Collector;
class LogBlocks;

/// Who wants to know when lines evicted from a cache have reached flash.
class Evictions {
 public:
  virtual ~Evictions() = default;
  /// @param space_wait  what the program spent waiting for garbage collection
  virtual void landed(LogicalUnit unit, std::uint64_t eviction, bool failed, Picoseconds space_wait) = 0;
  /// A program has ended: what waits in the buffer may have changed.
  virtual void pump() = 0;
  /// Whether somebody waits for evicted lines to reach flash.
  [[nodiscard]] virtual bool awaited() const = 0;
};

/// Who keeps programs of the write buffer away from some groups.
class Steering {
 public:
  virtual ~Steering() = default;
  /// Whether that is to be done now. Asked once for each program.
  virtual bool steers() = 0;
  /// Not one of the groups to keep away from.
  [[nodiscard]] virtual bool takes_writes(std::uint32_t group) const = 0;
};

class Destager {
 public:
  explicit Destager(Core& core);
  void attach(Collector& collector) { collector_ = &collector; }
  /// Programs go to log blocks.
  void attach(LogBlocks& logs) { logs_ = &logs; }
  void attach(Evictions& evictions) { evictions_ = &evictions; }
  void attach(Steering& steering) { steering_ = &steering; }

  [[nodiscard]] WriteBuffer& buffer() { return buffer_; }
  [[nodiscard]] std::uint32_t free_units() const { return buffer_.free(); }
  /// More than half of what may hold writes into SLC mode, or of the buffer when it is not shared out, is free.
  [[nodiscard]] bool half_empty() const { return room_of(lines_[0]) > lines_[0].most / 2; }
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

  /// Sends out everything that waits now, even if it takes padding.
  void force() {
    force_ = buffer_.accepted();
    pump();
  }

  /// What flash holds at `where` is what `unit` holds, and nothing newer waits here.
  [[nodiscard]] bool current(LogicalUnit unit, PhysicalUnit where) const {
    return core_.map->lookup(unit) == where && buffer_.find(unit) == WriteBuffer::k_none &&
           (core_.poisoned.empty() || !core_.poisoned.contains(unit));
  }

  /// Waits for room for new entries in the buffer, first come first served. granted() then says for how many. `direct`: of the
  /// second line (WriteBuffer), which may have a part of the buffer to itself (firmware.pslc.direct_buffer).
  class Room {
   public:
    Room(Destager& destager, std::uint32_t wanted, bool direct = false)
        : destager_(destager), wanted_(wanted), direct_(direct) {}
    Room(const Room&) = delete;
    [[nodiscard]] bool await_ready();
    void await_suspend(std::coroutine_handle<> handle) noexcept { waiter_ = handle; }
    void await_resume() const noexcept {}
    /// Entries set aside for the caller, who must use each or give it back; 0: the drive is read-only.
    [[nodiscard]] std::uint32_t granted() const { return granted_; }
    /// Part of the wait that was spent on garbage collection.
    [[nodiscard]] Picoseconds space_wait() const { return space_wait_; }

   private:
    friend class Destager;
    Destager& destager_;
    std::uint32_t wanted_;
    bool direct_;
    std::uint32_t granted_ = 0;
    Picoseconds space_wait_ = 0;
    std::coroutine_handle<> waiter_{};
    Room* next_ = nullptr;
  };
  /// Uses up entries that were set aside: the caller adds them at once.
  void unreserve(std::uint32_t entries, bool direct = false) { line(direct).reserved -= entries; }
  /// Gives back entries that were set aside and are not needed.
  void give_back(std::uint32_t entries, bool direct = false) {
    unreserve(entries, direct);
    give_room(0);
  }
  /// Whether a new entry may be made without waiting.
  [[nodiscard]] bool room(bool direct = false) const {
    const Line& of = line(direct);
    return of.first == nullptr && room_of(of) > 0;
  }

  /// Waits until everything accepted so far is on flash, or only what the host wrote past the cache.
  class Flushed {
   public:
    explicit Flushed(Destager& destager, bool from_host_only = false)
        : destager_(destager),
          target_(from_host_only ? destager.buffer_.accepted_from_host() : destager.buffer_.accepted()) {}
    Flushed(const Flushed&) = delete;
    [[nodiscard]] bool await_ready();
    void await_suspend(std::coroutine_handle<> handle) noexcept { waiter_ = handle; }
    void await_resume() const noexcept {}
    [[nodiscard]] bool failed() const { return failed_; }
    /// What the program that ended last was waiting for (for the ledger); empty when nothing had to be waited for.
    [[nodiscard]] const Ledger& last() const { return last_; }

   private:
    friend class Destager;
    Destager& destager_;
    std::uint64_t target_;
    std::uint64_t job_ = 0;
    bool dispatched_ = false;
    bool ready_ = false;
    bool failed_ = false;
    Ledger last_;
    std::coroutine_handle<> waiter_{};
    Flushed* next_ = nullptr;
  };

  /// Data of the units from `first` up to `end` are void (trim). Returns how many were here that the map does not know.
  std::uint64_t discard(std::uint64_t first, std::uint64_t end);

  [[nodiscard]] bool idle() const {
    return first_job_ == nullptr && (buffer_.waiting() == 0 || core_.read_only);
  }
  [[nodiscard]] std::uint64_t jobs_in_flight() const { return jobs_; }
  /// What waits in the buffer is gone. No program may be under way.
  void power_lost();
  /// Nothing will be written any more: everyone who waits is told so.
  void now_read_only();
  void archive(Archive& archive);

 private:
  /// Address for a program unit that begins with entry `i`: its units are scattered, but the transfer stays inside the buffer.
  [[nodiscard]] std::uint64_t program_address(WriteBuffer::Index i) const {
    return address_of(std::min(i, buffer_.capacity() - core_.layout.program_units));
  }
  static constexpr std::uint32_t k_no_group = 0xFFFFFFFFU;
  [[nodiscard]] bool due() const;
  /// Somebody waits for what is in the buffer to reach flash.
  [[nodiscard]] bool awaited() const {
    return lines_[0].first != nullptr || lines_[1].first != nullptr ||
           (evictions_ != nullptr && evictions_->awaited());
  }
  /// What a group must have beside room for a program.
  enum class Needs : std::uint8_t {
    nothing,
    slc_room,   ///< room in SLC mode that nobody has been promised
    slc_blocks  ///< blocks in SLC mode, be they full
  };
  std::uint32_t next_group(Needs needs = Needs::nothing);
  /// Asks for the next program whether some groups are to be kept from it.
  void steer();
  /// No group has been found for it and nothing under way will change that: whether it may go where it was kept from.
  bool gives_way();
  [[nodiscard]] bool kept_away(std::uint32_t group) const {
    return steered_ && !steering_->takes_writes(group);
  }
  void occupy(std::uint32_t group);
  void vacate(std::uint32_t group);
  void fill(ProgramJob& job, bool direct = false);
  Task<> destage(ProgramJob& job);
  Task<> complete_units(ProgramJob& job);
  /// Completes the entry that is unit `n` of a job: what it lacks comes from `content(sector)`, or from what flash holds of it.
  template <class Content>
  void complete(ProgramJob& job, std::uint32_t n, Content content) {
    const std::uint32_t sectors = core_.layout.sectors;
    WriteBuffer::Entry& entry = buffer_.entry(job.source[n]);
    Stamp* const stamps = buffer_.stamps(job.source[n]);
    for (std::uint32_t s = 0; s < sectors; ++s) {
      if ((entry.mask >> s & 1U) == 0) stamps[s] = content(s);
    }
    std::copy_n(stamps, sectors, &job.stamps[std::size_t{core_.layout.program_slot(n, job.mode)} * sectors]);
    entry.mask = core_.layout.all_sectors();
  }
  void complete(ProgramJob& job, std::uint32_t n, const ReadOp& read, std::uint32_t at);
  // ---- management blocks that are rewritten as a whole (destager_blocks.cpp)
  [[nodiscard]] bool block_under_way();
  /// The next group in turn; for a management block its home, as its address has it, if there is room.
  std::uint32_t group_for_next();
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
  // ---- blocks in SLC mode (destager_pslc.cpp)
  struct Destination {
    std::uint32_t group;
    BlockMode mode;
  };
  /// Sends out what is due of either line of the write buffer.
  void pump_lines();
  bool send(bool direct, bool short_too);
  [[nodiscard]] bool both_lines_short() const;
  [[nodiscard]] bool pressing(bool direct) const {
    return buffer_.any_urgent(direct) || buffer_.oldest(direct) <= force_;
  }
  Destination destination(bool direct);
  [[nodiscard]] bool has(std::uint32_t group, Needs needs) const;
  /// Some group would do if it were not busy.
  [[nodiscard]] bool any_has(Needs needs) const;
  /// A program unit that will not find room in SLC mode goes to native blocks.
  void turn_native(ProgramJob& job);
  void hold_room(ProgramJob& job);
  void leave_room(ProgramJob& job);
  void commit(ProgramJob& job);
  void fail(ProgramJob& job);
  void end(ProgramJob& job);
  // ---- log blocks (destager_blocks.cpp)
  [[nodiscard]] std::uint32_t home_group();
  Task<> write_to_log(ProgramJob& job);
  void settle(WriteBuffer::Index i, const Ledger* branch, bool failed);
  /// What the entry holds is elsewhere, too: nobody reads map pages for what they hold (the map is rebuilt), and what is promoted is in
  /// flash already.
  [[nodiscard]] bool expendable(const WriteBuffer::Entry& entry) const {
    return entry.promoted || core_.layout.is_map(entry.unit);
  }
  /// The entry's data have reached flash: what becomes of damage that it carried.
  void note_damage(const WriteBuffer::Entry& entry);
  /// Who waits for room in the buffer, and how much of it is theirs. All are in the first where the buffer is not shared out.
  struct Line {
    Room* first = nullptr;
    Room* last = nullptr;
    std::uint32_t reserved = 0;  ///< free entries that are set aside for someone about to resume
    std::uint32_t most = 0;      ///< entries that it may hold
  };
  [[nodiscard]] const Line& line(bool direct) const { return lines_[shared_out_ && direct ? 1 : 0]; }
  [[nodiscard]] Line& line(bool direct) { return lines_[shared_out_ && direct ? 1 : 0]; }
  /// Entries that may be set aside for a line now.
  [[nodiscard]] std::uint32_t room_of(const Line& line) const;
  void share_out();
  void give_room(Picoseconds space_wait);
  bool discard(LogicalUnit unit);
  void check_flushes(const Ledger* last);
  void link(ProgramJob& job);
  void unlink(ProgramJob& job);

  Core& core_;
  Collector* collector_ = nullptr;
  LogBlocks* logs_ = nullptr;  ///< null: the mapping scheme has none
  Evictions* evictions_ = nullptr;
  Steering* steering_ = nullptr;  ///< null: programs go to all groups
  bool steered_ = false;          ///< what steering said for the present program
  std::uint64_t base_;            ///< DRAM address of the buffer
  WriteBuffer buffer_;
  TaskSet tasks_;
  std::vector<std::uint32_t> sequence_;  ///< groups in allocation order
  std::uint32_t position_ = 0;
  std::vector<std::uint32_t> place_;      ///< position of each group in sequence_
  std::vector<std::uint32_t> under_way_;  ///< programs of each group
  std::vector<std::uint64_t> may_take_;   ///< a bit per position: the group may take another program
  std::uint32_t busy_ = 0;                ///< groups that may not
  std::uint32_t least_;                   ///< entries that make a program unit
  std::uint32_t threshold_;               ///< entries that may wait before anything is sent out
  std::uint64_t force_ = 0;  ///< entries up to this sequence number are to go out even if it takes padding
  bool pumping_ = false;
  bool write_through_;
  bool direct_next_ = false;  ///< whose turn it is to send out a program
  bool shared_out_ = false;   ///< each line has a part of the buffer to itself
  Line lines_[2];
  Flushed* first_flush_ = nullptr;
  Flushed* last_flush_ = nullptr;
  ProgramJob* first_job_ = nullptr;  ///< in the order of dispatch
  ProgramJob* last_job_ = nullptr;
  std::uint64_t dispatched_ = 0;
  std::uint64_t jobs_ = 0;
  std::unordered_set<std::uint32_t> blocks_;  ///< management blocks that are being rewritten
};

}  // namespace tlmssd::firmware
