// The one agenda: everything that happens at a known future instant, in the order (time, sequence).
//
// Plain C++: a four-ary heap of call-backs, and a ring for those of this very instant, which need no sorting.
// Under SystemC a kernel process drives it (agenda_process.h); tests without a kernel drive it by run_until().
// There is no cancellation: a waiter that may be overtaken checks a token of its own.
#pragma once

#include <coroutine>
#include <cstdint>
#include <vector>

#include "models/common/types.h"

namespace tlmssd {

class Agenda {
 public:
  using Callback = void (*)(void* self);

  /// The present instant. While an item runs, this is the item's time.
  [[nodiscard]] Picoseconds now() const { return now_; }

  /// Calls `callback(self)` at `when`; an instant that has passed counts as now. Items of equal time run in
  /// the order given.
  void at(Picoseconds when, Callback callback, void* self) {
    if (when <= now_) {
      when = now_;
      push_due({when, sequence_++, callback, self});
    } else {
      push({when, sequence_++, callback, self});
    }
    if (when < armed_ && wake_ != nullptr) wake_(waker_, when);
  }
  /// Resumes a coroutine at `when`.
  void at(Picoseconds when, std::coroutine_handle<> waiter) { at(when, &resume, waiter.address()); }
  /// Calls at this very instant, after everything already due now: breaks call chains between modules.
  void soon(Callback callback, void* self) { at(now_, callback, self); }
  void soon(std::coroutine_handle<> waiter) { at(now_, waiter); }

  [[nodiscard]] bool empty() const { return heap_.empty() && due_count_ == 0; }
  [[nodiscard]] std::size_t size() const { return heap_.size() + due_count_; }
  /// Instant of the next item; k_never when there is none.
  [[nodiscard]] Picoseconds next() const {
    const Picoseconds sorted = heap_.empty() ? k_never : heap_.front().when;
    return due_count_ != 0 && due_[due_first_].when < sorted ? due_[due_first_].when : sorted;
  }
  /// Items run since the start (a measure of simulation work).
  [[nodiscard]] std::uint64_t executed() const { return executed_; }

  /// Runs every item due at or before `limit`, then moves the clock to `limit` (unless it is k_never).
  void run_until(Picoseconds limit);
  /// Runs every item due at or before `limit` and leaves the clock at the last item run; stops early when
  /// `stop` is set. Throws std::runtime_error when some ten million items in a row run at one instant: time
  /// has stopped (livelock).
  void run_items(Picoseconds limit, const bool& stop);
  /// Moves an idle clock forward; no item may be due before `instant`.
  void advance(Picoseconds instant) {
    if (instant > now_) now_ = instant;
  }

  /// The kernel process that wants to be told when an item earlier than `armed` appears.
  void set_waker(void (*wake)(void*, Picoseconds), void* waker) {
    wake_ = wake;
    waker_ = waker;
  }
  /// Earliest instant for which the driver is already going to wake by itself.
  void set_armed(Picoseconds armed) { armed_ = armed; }

 private:
  struct Item {
    Picoseconds when;
    std::uint64_t sequence;
    Callback callback;
    void* self;
    [[nodiscard]] bool before(const Item& other) const {
      return when != other.when ? when < other.when : sequence < other.sequence;
    }
  };
  static void resume(void* address) { std::coroutine_handle<>::from_address(address).resume(); }
  void push(const Item& item);
  Item pop();
  void push_due(const Item& item) {
    if (due_count_ == due_.size()) grow_due();
    due_[(due_first_ + due_count_++) & (due_.size() - 1)] = item;
  }
  void grow_due();
  /// Takes the next item, from the ring or the heap, when it is due at or before `limit`.
  bool take(Picoseconds limit, Item& item);

  std::vector<Item> heap_;
  std::vector<Item> due_;  // ring, a power of two long: in the order of (time, sequence) by itself
  std::size_t due_first_ = 0;
  std::size_t due_count_ = 0;
  Picoseconds now_ = 0;
  std::uint64_t sequence_ = 0;
  std::uint64_t executed_ = 0;
  std::uint32_t at_this_instant_ = 0;
  Picoseconds armed_ = k_never;
  void (*wake_)(void*, Picoseconds) = nullptr;
  void* waker_ = nullptr;
};

/// `co_await WaitUntil{agenda, instant}`: sleeps until the instant; ready at once when it has come.
struct WaitUntil {
  Agenda& agenda;
  Picoseconds instant;
  [[nodiscard]] bool await_ready() const noexcept { return instant <= agenda.now(); }
  void await_suspend(std::coroutine_handle<> waiter) const { agenda.at(instant, waiter); }
  void await_resume() const noexcept {}
};

}  // namespace tlmssd
