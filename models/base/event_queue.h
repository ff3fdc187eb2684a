// The one event queue: everything that happens at a known future instant, in the order (time,
// sequence).
//
// Plain C++. Call-backs of this very instant wait in a ring, which needs no sorting. Those of the
// next millisecond wait in a timing wheel: a sorted list for each quarter of a microsecond, so that
// most are put in and taken out in constant time. Those further away, and those that find
// their list crowded, wait in a four-ary heap, which keeps the worst case logarithmic. Under
// SystemC a kernel process drives it (models/tlm/kernel_time.h); tests without a kernel drive it by
// run_until(). Cancelling searches all of it: a waiter that is often overtaken checks a token of
// its own.
#pragma once

#include <algorithm>
#include <array>
#include <coroutine>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <vector>

#include "models/base/types.h"

namespace tlmssd {

/// Items without end at one instant: time has stopped.
struct Livelock : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class EventQueue {
 public:
  using Callback = void (*)(void* self);

  /// The present instant. While an item runs, this is the item's time.
  [[nodiscard]] Picoseconds now() const { return now_; }

  /// Calls `callback(self)` at `when`; an instant that has passed counts as now. Items of
  /// equal time run in the order given.
  void at(Picoseconds when, Callback callback, void* self) {
    if (when > now_) {
      push_later(when, callback, self);
    } else {
      push_due(callback, self);
    }
  }
  /// Resumes a coroutine at `when`.
  void at(Picoseconds when, std::coroutine_handle<> waiter) { at(when, &resume, waiter.address()); }
  /// Calls at this very instant, after everything already due now: breaks call chains between
  /// modules.
  void soon(Callback callback, void* self) { at(now_, callback, self); }
  void soon(std::coroutine_handle<> waiter) { at(now_, waiter); }

  /// Takes back all such calls that are due after the present instant.
  void cancel(Callback callback, void* self);

  [[nodiscard]] bool empty() const { return size() == 0; }
  [[nodiscard]] std::size_t size() const { return heap_.size() + wheel_count_ + due_count_; }
  /// Instant of the next item; k_never when there is none.
  [[nodiscard]] Picoseconds next() const {
    return due_count_ != 0 ? now_ : std::min(heap_next_, wheel_next_);
  }
  /// Items run since the start (a measure of simulation work).
  [[nodiscard]] std::uint64_t executed() const { return executed_; }

  /// Runs every item due at or before `limit`, then moves the clock to `limit` (unless it is
  /// k_never).
  void run_until(Picoseconds limit);
  /// Runs every item due at or before `limit` and leaves the clock at the last item run; stops
  /// early when `stop` is set. Throws Livelock when some ten million items in a row run at one
  /// instant.
  void run_events(Picoseconds limit, const bool& stop);
  /// Something has come to its end at this instant: it is no livelock, however many items it has
  /// seen.
  void progress() { at_this_instant_ = 0; }
  /// Moves an idle clock forward; no item may be due before `instant`.
  void advance(Picoseconds instant) {
    if (instant > now_) now_ = instant;
  }

  /// `call` is made now and then while items run, and between pieces of untimed work: it may throw,
  /// to end a run that is not wanted any more.
  void set_checkpoint(void (*call)()) { checkpoint_ = call; }
  /// The next one comes after so many items at the latest; then as before.
  void check_after(std::uint64_t items) { check_at_ = std::min(executed_ + items, check_at_); }
  void checkpoint() const {
    if (checkpoint_ != nullptr) checkpoint_();
  }

  /// The kernel process that wants to be told when an item earlier than `armed` appears.
  void set_waker(void (*wake)(void*, Picoseconds), void* waker) {
    wake_ = wake;
    waker_ = waker;
  }
  /// Earliest instant for which the driver is already going to wake by itself.
  void set_armed(Picoseconds armed) { armed_ = armed; }
  /// The clock of what drives the event queue, while it runs items; k_never otherwise.
  void set_driver_time(Picoseconds time) { driver_time_ = time; }
  [[nodiscard]] Picoseconds driver_time() const { return driver_time_; }

 private:
  struct Call {
    Callback callback;
    void* self;
  };
  struct Item {
    Picoseconds when;
    std::uint64_t sequence;  ///< among items of equal time the order in which they were given
    Call call;
    [[nodiscard]] bool before(const Item& other) const {
      return when != other.when ? when < other.when : sequence < other.sequence;
    }
  };
  struct Node {
    Item item;
    Node* next;
  };
  static constexpr unsigned k_slot_bits = 18;  // a slot is 262 ns
  static constexpr std::uint64_t k_slots = 4096;
  static constexpr std::size_t k_words = k_slots / 64;
  static constexpr std::uint64_t k_batch = 4096;  // items between two checkpoints: less than a millisecond

  static void resume(void* address) { std::coroutine_handle<>::from_address(address).resume(); }
  static std::uint64_t slot_of(Picoseconds when) { return static_cast<std::uint64_t>(when) >> k_slot_bits; }
  // Callback and object apart: written one by one and read as a pair soon after, they would stall
  // the processor. What is rare is a call at the end, so that what is not needs no stack.
  void push_due(Callback callback, void* self);
  [[gnu::noinline]] void push_due_grown(Callback callback, void* self);
  void push_later(Picoseconds when, Callback callback, void* self);
  [[gnu::noinline]] void push_later_grown(Picoseconds when, Callback callback, void* self);
  [[gnu::noinline]] void push_far(Picoseconds when, Callback callback, void* self);
  /// Of an item at `when` that has come.
  void tell_waker(Picoseconds when) const {
    if (when < armed_) call_waker(when);
  }
  [[gnu::noinline]] void call_waker(Picoseconds when) const;
  Call pop_wheel();
  /// The first slot in use from `slot` on, round the wheel.
  [[nodiscard]] std::uint64_t slot_in_use(std::uint64_t slot) const;
  void push_heap(const Item& item);
  Call pop_heap();
  void grow_nodes();
  /// Takes the next item, when it is due at or before `limit`, and moves the clock to it.
  bool take(Picoseconds limit, Call& call);

  std::vector<Item> heap_;
  Picoseconds heap_next_ = k_never;
  // The wheel holds instants from now on for a little less than one turn, so that each slot stands
  // for one stretch of time.
  std::array<Node*, k_slots> slots_{};  // the last of a ring of nodes in the order of (time, sequence)
  std::array<std::uint64_t, k_words> used_{};
  std::uint64_t used_words_ = 0;
  std::size_t wheel_count_ = 0;
  std::uint64_t wheel_slot_ = 0;  // where the wheel's first item is, if there is one
  Picoseconds wheel_next_ = k_never;
  Node* free_nodes_ = nullptr;
  std::vector<std::unique_ptr<Node[]>> nodes_;
  std::vector<Call> due_;  // ring, a power of two long
  std::size_t due_first_ = 0;
  std::size_t due_count_ = 0;
  Picoseconds now_ = 0;
  std::uint64_t sequence_ = 0;
  std::uint64_t executed_ = 0;
  std::uint32_t at_this_instant_ = 0;
  std::uint64_t check_at_ = k_batch;  // of executed_
  Picoseconds armed_ = k_never;
  Picoseconds driver_time_ = k_never;
  void (*wake_)(void*, Picoseconds) = nullptr;
  void* waker_ = nullptr;
  void (*checkpoint_)() = nullptr;
};

/// `co_await WaitUntil{event_queue, instant}`: sleeps until the instant; ready at once when it has
/// come.
struct WaitUntil {
  EventQueue& event_queue;
  Picoseconds instant;
  [[nodiscard]] bool await_ready() const noexcept { return instant <= event_queue.now(); }
  void await_suspend(std::coroutine_handle<> waiter) const { event_queue.at(instant, waiter); }
  void await_resume() const noexcept {}
};

}  // namespace tlmssd
