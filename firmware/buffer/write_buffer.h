// The write buffer: mapping pages in DRAM that have been accepted and are not yet on flash.
//
// An entry holds one unit: a mask of the sectors that were written and a stamp for each. Entries
// wait in the order in which they were first written (dirty), or ahead of all others when a command
// waits for them (urgent), then fly: they are being programmed. A write to a waiting unit merges
// into its entry. A write to a flying unit makes a new entry that takes over everything the old one
// holds; the old one is superseded and its program will leave no trace in the map. So an entry is
// complete in itself: its sectors, and for the others whatever the map points at. A trim takes
// sectors out of a waiting entry; a flying one goes on, and when it is on flash it is known which
// of its sectors hold nothing.
//
// Entries wait in a line for each kind of blocks that they may go to. Where blocks differ in mode,
// those that bypass SLC wait in the second, and the buffer may be shared
// out between the two; with placement handles there is one for each; otherwise all are in the
// first.
#pragma once

#include <algorithm>
#include <coroutine>
#include <cstdint>
#include <vector>

#include "firmware/base/layout.h"
#include "firmware/base/unit_hash.h"
#include "models/base/archive.h"
#include "models/base/content.h"
#include "models/base/event_queue.h"
#include "models/base/ledger.h"

namespace tlmssd::firmware {

/// A command that waits until units of it are on flash. `co_await durable` sleeps until none is
/// left.
struct Durable {
  EventQueue& event_queue;
  Ledger& ledger;  ///< the command's; charged when the last unit is on flash
  std::uint32_t pending = 0;
  bool failed = false;  ///< some unit could not be written
  std::coroutine_handle<> waiter{};
  [[nodiscard]] bool await_ready() const noexcept { return pending == 0; }
  void await_suspend(std::coroutine_handle<> handle) noexcept { waiter = handle; }
  void await_resume() const noexcept {}
};

class WriteBuffer {
 public:
  using Index = std::uint32_t;
  static constexpr Index k_none = UnitHash::k_none;
  enum class State : std::uint8_t { free, dirty, urgent, flying, superseded, stranded };
  struct Entry {
    std::uint64_t mask = 0;      ///< sectors that are here
    std::uint64_t sequence = 0;  ///< in the order of first writes
    std::uint64_t eviction = 0;  ///< of the cache line that it comes from; 0: from the host
    std::uint64_t trimmed = 0;   ///< flying: of its sectors those that hold nothing, and read as zeros
    Lpn unit = k_no_unit;
    Index previous = k_none;
    Index next = k_none;
    std::uint32_t waiters = 0;  ///< list of Durables, index plus one
    State state = State::free;
    bool damaged = false;    ///< some sectors come from a read that failed
    std::uint8_t line = 0;   ///< in which it waits
    bool relocated = false;  ///< holds what flash holds, to be written to a better place, and nothing else
    bool from_host = false;  ///< holds something that came from the host, not from a cache
  };

  /// `address`: in DRAM, from which on it may lie.
  WriteBuffer(std::uint32_t capacity, const Layout& layout, std::uint64_t address, std::uint32_t lines);

  // ---- what is in it
  /// Newest entry of a unit; k_none when it is not here.
  [[nodiscard]] Index find(Lpn unit) const { return hash_.find(unit); }
  /// Has the processor fetch what find() and release() of a unit look at.
  void prefetch(Lpn unit) const { hash_.prefetch(unit); }
  [[nodiscard]] Entry& entry(Index i) { return entries_[i]; }
  [[nodiscard]] Stamp* stamps(Index i) { return &stamps_[std::size_t{i} * sectors_]; }
  [[nodiscard]] std::uint32_t capacity() const { return capacity_; }
  /// In DRAM.
  [[nodiscard]] std::uint64_t address_of(Index i) const {
    return address_ + std::uint64_t{i} * layout_->unit_bytes;
  }
  /// Of the DRAM, up to its end.
  [[nodiscard]] Bytes dram_bytes() const { return address_of(capacity_); }
  /// Entries from here on were never used.
  [[nodiscard]] Index used() const { return fresh_; }
  [[nodiscard]] std::uint32_t free() const { return free_count_; }
  /// Entries that hold data of a line, waiting or on their way.
  [[nodiscard]] std::uint32_t held(std::uint8_t line) const {
    return line > 0 ? lines_[line].held : capacity_ - free_count_ - held_behind_;
  }
  [[nodiscard]] std::uint8_t lines() const { return static_cast<std::uint8_t>(lines_.size()); }
  /// Entries that wait to be written out.
  [[nodiscard]] std::uint32_t waiting() const { return waiting_; }
  [[nodiscard]] std::uint32_t waiting(std::uint8_t line) const { return lines_[line].waiting; }
  [[nodiscard]] bool any_urgent() const {
    return std::any_of(lines_.begin(), lines_.end(),
                       [](const Line& line) { return line.urgent.first != k_none; });
  }
  [[nodiscard]] bool any_urgent(std::uint8_t line) const { return lines_[line].urgent.first != k_none; }
  [[nodiscard]] std::uint64_t accepted() const { return accepted_; }
  /// The last of them that holds something from the host, not from a cache.
  [[nodiscard]] std::uint64_t accepted_from_host() const { return accepted_from_host_; }
  /// Sequence number of the dirty entry written first; all ones when there is none.
  [[nodiscard]] std::uint64_t oldest() const {
    std::uint64_t oldest = ~std::uint64_t{0};
    for (std::uint8_t line = 0; line < lines(); ++line) oldest = std::min(oldest, this->oldest(line));
    return oldest;
  }
  [[nodiscard]] std::uint64_t oldest(std::uint8_t line) const {
    const Index first = lines_[line].dirty.first;
    return first == k_none ? ~std::uint64_t{0} : entries_[first].sequence;
  }

  // ---- writing
  /// Whether a write to this unit merges into a waiting entry (`found` from find()).
  [[nodiscard]] bool merges(Index found) const {
    return found != k_none &&
           (entries_[found].state == State::dirty || entries_[found].state == State::urgent);
  }
  /// A new waiting entry for `unit`; takes over and supersedes `found`, the flying entry of the
  /// same unit, if there is one. `eviction`: of the cache line that it comes from; 0: of none.
  Index add(Lpn unit, Index found, std::uint64_t eviction = 0, std::uint8_t line = 0);
  /// Inserts sectors `from` to `from + count` into a waiting entry.
  void merge(Index i, std::uint32_t from, std::uint32_t count, const Stamp* data);
  /// Inserts the sectors of a mask; `data` by sector of the unit.
  void merge(Index i, std::uint64_t sectors, const Stamp* data);
  /// A waiting entry gets something from the host.
  void mark_from_host(Index i) {
    entries_[i].from_host = true;
    accepted_from_host_ = std::max(accepted_from_host_, entries_[i].sequence);
  }
  void make_urgent(Index i);
  void wait_for(Index i, Durable& durable);
  /// Sectors of a waiting or flying entry are void (trim). True: nothing else is left in it, and it
  /// is to be dropped.
  bool trim(Index i, std::uint64_t sectors);
  /// Sectors of a flying entry hold nothing, which it has not known so far.
  void mark_trimmed(Index i, std::uint64_t sectors);

  // ---- writing out
  /// Takes the next entry to be written out, those of earlier lines before the others. k_none when
  /// none waits.
  Index take();
  /// The next entry of a line: urgent ones first, then in the order of writing.
  [[nodiscard]] Index front(std::uint8_t line = 0) const {
    const Line& of = lines_[line];
    return of.urgent.first != k_none ? of.urgent.first : of.dirty.first;
  }
  /// Takes this entry, which must be waiting, out of turn.
  void take(Index i);
  /// An entry's program is over, or it was never started: its place is free again. `newest`: it
  /// still stood for its unit.
  void release(Index i);
  /// This entry will not be written out any more; it stays readable.
  void strand(Index i);
  /// The unit's data are void: whatever holds them is forgotten. Returns the waiting entry that was
  /// dropped, to be completed and then given to free_entry(); k_none when there was none.
  Index drop(Lpn unit, bool& had_any);
  void free_entry(Index i);
  /// So many entries of the host have come and gone.
  void pass(std::uint64_t entries) { accepted_from_host_ = accepted_ += entries; }

  /// Calls `f(Durable&)` for each that waits for this entry, and forgets them.
  template <class F>
  void take_waiters(Index i, F&& f) {
    std::uint32_t at = entries_[i].waiters;
    entries_[i].waiters = 0;
    while (at != 0) {
      const Waiter waiter = waiters_[at - 1];
      waiters_[at - 1].next = free_waiter_;
      free_waiter_ = at;
      at = waiter.next;
      f(*waiter.durable);
    }
  }

  void archive(Archive& archive);

 private:
  struct Waiter {
    Durable* durable;
    std::uint32_t next;
  };
  struct List {
    Index first = k_none;
    Index last = k_none;
  };
  void push(List& list, Index i);
  void unlink(List& list, Index i);
  Index take_free();
  Index take_fresh();  ///< one that was never used

  std::uint32_t capacity_;
  std::uint32_t sectors_;
  const Layout* layout_;
  std::uint64_t address_;
  std::vector<Entry> entries_;
  std::vector<Stamp> stamps_;
  UnitHash hash_;  ///< newest entry of each unit
  /// The list of a waiting entry.
  [[nodiscard]] List& list_of(const Entry& entry) {
    Line& line = lines_[entry.line];
    return entry.state == State::urgent ? line.urgent : line.dirty;
  }
  void leave(const Entry& entry) {
    --waiting_;
    --lines_[entry.line].waiting;
  }

  struct Line {
    List dirty;
    List urgent;
    std::uint32_t waiting = 0;  ///< entries in these
    std::uint32_t held = 0;     ///< entries in use; not counted in the first line
  };
  std::vector<Line> lines_;
  Index free_first_ = k_none;
  std::uint32_t free_count_ = 0;
  std::uint32_t fresh_ = 0;        ///< entries from here on were never used
  std::uint32_t waiting_ = 0;      ///< in all lines
  std::uint32_t held_behind_ = 0;  ///< entries in use, of all lines but the first
  std::uint64_t accepted_ = 0;
  std::uint64_t accepted_from_host_ = 0;
  std::vector<Waiter> waiters_;
  std::uint32_t free_waiter_ = 0;
};

}  // namespace tlmssd::firmware
