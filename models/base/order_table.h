// Commands on the same logical units take effect in the order in which they came.
//
// A command enters with its ranges of units before it first waits for anything, and leaves when it
// has taken effect (a read: buffer and map have been looked at; a write: the data are in the
// buffer). In between, later commands that overlap and of which at least one writes wait. Ranges
// hang in buckets by address, so that only near neighbours are compared; wide ranges hang in
// regions, which are larger, and those of nearly the whole drive in a list of their own.
//
// What a command has waited here is charged to its ledger as what the command waited for spent its
// own time on meanwhile: behind a write that waited for room in the write buffer it is a wait for
// that room. "Meanwhile" begins when the first later command comes to wait for that write, and the
// wait is shared out in proportion.
//
// However many commands are under way on few units, a command looks at few: one that has found the
// last write of each of its units needs to look no further, since that write waits for everything
// before it.
#pragma once

#include <coroutine>
#include <cstdint>
#include <memory>
#include <vector>

#include "models/base/event_queue.h"
#include "models/base/ledger.h"
#include "models/base/mixing.h"

namespace tlmssd {

class OrderTable {
 private:
  struct Range;

 public:
  /// A command's place in the order. Stays where it is until leave(), which must not come before
  /// blocked() is false.
  struct Ticket {
    Range* ranges = nullptr;     ///< newest first
    std::uint32_t blockers = 0;  ///< earlier overlapping ranges, one count for each chunk shared
    std::coroutine_handle<> waiter{};
    Ledger* ledger = nullptr;                ///< of the command; null: nothing is charged
    std::unique_ptr<Ledger> when_awaited{};  ///< its state when the first later command came to wait
    [[nodiscard]] bool blocked() const { return blockers > 0; }
    // `co_await ticket` sleeps until every blocker has left.
    [[nodiscard]] bool await_ready() const noexcept { return blockers == 0; }
    void await_suspend(std::coroutine_handle<> handle) noexcept { waiter = handle; }
    void await_resume() const noexcept {}
  };

  explicit OrderTable(EventQueue& event_queue)
      : event_queue_(event_queue),
        buckets_(std::size_t{1} << k_least_bits),
        narrow_(k_region_lists),
        wide_(k_region_lists) {}

  /// Adds the units `first` to `last` to what the command touches.
  void enter(Ticket& ticket, std::uint64_t first, std::uint64_t last, bool writes);
  /// The command has taken effect: lets those that waited for it go on.
  void leave(Ticket& ticket);

 private:
  static constexpr unsigned k_least_bits = 8;          ///< of the number of buckets: they stay in the caches
  static constexpr std::uint64_t k_chunk = 16;         ///< units that share a bucket
  static constexpr std::uint64_t k_most_chunks = 33;   ///< that a narrow range touches
  static constexpr std::uint64_t k_region = 1024;      ///< units; more than a narrow range has
  static constexpr std::uint64_t k_most_regions = 64;  ///< of a wide range; larger ones are huge
  static constexpr std::size_t k_region_lists = 4096;
  /// A range in one of its chunks, in the lists of the chunk's bucket.
  struct Node {
    std::uint64_t chunk;
    std::uint64_t units;  ///< of the chunk, a bit each
    Range* range;
    Node* next_of_range;
    Node* older;
    Node* newer;
    Node* older_write;  ///< the same among writes alone
    Node* newer_write;
  };
  struct Bucket {
    Node* newest = nullptr;
    Node* newest_write = nullptr;
  };
  /// A wide range in one of its regions.
  struct Hang {
    std::uint64_t region;
    Range* range;
    Hang* next_of_range;
    Hang* older;
    Hang* newer;
  };
  enum class Width : std::uint8_t { narrow, wide, huge };
  struct Range {
    std::uint64_t first;
    std::uint64_t last;
    Ticket* ticket;
    bool writes;
    Width width;
    Range* next_of_ticket;
    Range* older;  ///< neighbours: narrow ranges that begin in its region, or huge ones
    Range* newer;
    std::uint64_t number;
    Node* nodes;  ///< narrow
    Hang* hangs;  ///< wide
  };
  static bool conflict(const Range& a, const Range& b) {
    return a.first <= b.last && b.first <= a.last && (a.writes || b.writes) && a.ticket != b.ticket;
  }
  Bucket& bucket_of(std::uint64_t chunk) { return buckets_[(chunk * k_golden) >> shift_]; }
  void enter_buckets(Range& range);
  void leave_buckets(Range& range);
  static void hang(Bucket& bucket, Node& node);
  /// Doubles the buckets, so that a bucket holds one node on average however many commands are
  /// under way.
  void add_buckets();
  static std::size_t list_of(std::uint64_t region) { return region % k_region_lists; }
  void enter_regions(Range& range);
  void leave_regions(Range& range);
  /// Calls `f` with each range in conflict: wide and huge ones, or narrow ones (of a range that is
  /// not narrow).
  template <class F>
  void each_wide(const Range& range, F f) const;
  template <class F>
  void each_narrow(const Range& range, F f) const;
  /// Releases `later_`, the newest first, and forgets them.
  void release_later(const Ticket& left);
  /// One of its blockers leaves: `left`.
  void release(Ticket& waiting, const Ticket& left) {
    if (--waiting.blockers != 0 || !waiting.waiter) return;
    charge_wait(waiting, left);
    event_queue_.soon(waiting.waiter);
  }
  static void block(Ticket& waiting, Ticket& earlier);
  void charge_wait(const Ticket& waiting, const Ticket& left) const;
  static constexpr std::size_t k_slab = 64;

  EventQueue& event_queue_;
  std::vector<Bucket> buckets_;
  unsigned shift_ = 64 - k_least_bits;
  std::size_t hanging_ = 0;       ///< nodes in all buckets
  std::vector<Range*> narrow_;    ///< by region in which they begin: the newest
  std::vector<Hang*> wide_;       ///< by region: the newest
  Range* huge_ = nullptr;         ///< the newest
  std::size_t regions_used_ = 0;  ///< hangs in all regions
  std::vector<const Range*> later_;
  std::vector<std::unique_ptr<Hang[]>> hang_slabs_;
  Hang* free_hangs_ = nullptr;
  std::vector<std::unique_ptr<Range[]>> range_slabs_;
  std::vector<std::unique_ptr<Node[]>> node_slabs_;
  Range* free_ranges_ = nullptr;
  Node* free_nodes_ = nullptr;
  std::uint64_t number_ = 0;
};

}  // namespace tlmssd
