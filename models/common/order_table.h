// Commands on the same logical units take effect in the order in which they came.
//
// A command enters with its ranges of units before it first waits for anything, and leaves when it has taken effect (a read:
// buffer and map have been looked at; a write: the data are in the buffer). In between, later commands that overlap and of
// which at least one writes wait. Ranges hang in lanes by address, so that only near neighbours are compared; very long ranges
// hang in a list of their own.
//
// However many commands are under way on few units, a command looks at few: one that has found the last write of each of its
// units needs to look no further, since that write waits for everything before it.
#pragma once

#include <coroutine>
#include <cstdint>
#include <memory>
#include <vector>

#include "models/common/agenda.h"

namespace tlmssd {

class OrderTable {
 private:
  struct Range;

 public:
  /// A command's place in the order. Stays where it is until leave(), which must not come before blocked() is false.
  struct Ticket {
    Range* ranges = nullptr;     ///< newest first
    std::uint32_t blockers = 0;  ///< earlier overlapping ranges, one count for each chunk shared
    std::coroutine_handle<> waiter{};
    [[nodiscard]] bool blocked() const { return blockers > 0; }
    // `co_await ticket` sleeps until every blocker has left.
    [[nodiscard]] bool await_ready() const noexcept { return blockers == 0; }
    void await_suspend(std::coroutine_handle<> handle) noexcept { waiter = handle; }
    void await_resume() const noexcept {}
  };

  explicit OrderTable(Agenda& agenda) : agenda_(agenda), lanes_(std::size_t{1} << k_least_bits) {}

  /// Adds the units `first` to `last` to what the command touches.
  void enter(Ticket& ticket, std::uint64_t first, std::uint64_t last, bool writes);
  /// The command has taken effect: lets those that waited for it go on.
  void leave(Ticket& ticket);

 private:
  static constexpr unsigned k_least_bits = 12;        ///< of the number of lanes
  static constexpr std::uint64_t k_chunk = 16;        ///< units that share a lane
  static constexpr std::uint64_t k_most_chunks = 33;  ///< ranges that touch more hang in the wide list
  /// A range in one of its chunks, in the lists of the chunk's lane.
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
  struct Lane {
    Node* newest = nullptr;
    Node* newest_write = nullptr;
  };
  struct Range {
    std::uint64_t first;
    std::uint64_t last;
    Ticket* ticket;
    bool writes;
    bool wide;
    Range* next_of_ticket;
    Range* older;  ///< neighbours in the list of all narrow ranges, or of all wide ones
    Range* newer;
    std::uint64_t number;
    Node* nodes;
  };
  static bool conflict(const Range& a, const Range& b) {
    return a.first <= b.last && b.first <= a.last && (a.writes || b.writes) && a.ticket != b.ticket;
  }
  Lane& lane_of(std::uint64_t chunk) { return lanes_[(chunk * 0x9E3779B97F4A7C15U) >> shift_]; }
  void enter_lanes(Range& range);
  void leave_lanes(Range& range);
  static void hang(Lane& lane, Node& node);
  /// Doubles the lanes, so that a lane holds one node on average however many commands are under way.
  void add_lanes();
  void enter_wide(Range& range);
  void leave_wide(Range& range);
  void release(Ticket& waiting) {
    if (--waiting.blockers == 0 && waiting.waiter) agenda_.soon(waiting.waiter);
  }
  template <class Item>
  static Item& take(Item*& free, std::vector<std::unique_ptr<Item[]>>& slabs, Item* Item::*next);

  Agenda& agenda_;
  std::vector<Lane> lanes_;
  unsigned shift_ = 64 - k_least_bits;
  std::size_t hanging_ = 0;  ///< nodes in all lanes
  Range* narrow_ = nullptr;  ///< newest narrow range
  Range* wide_ = nullptr;    ///< newest wide range
  std::vector<std::unique_ptr<Range[]>> range_slabs_;
  std::vector<std::unique_ptr<Node[]>> node_slabs_;
  Range* free_ranges_ = nullptr;
  Node* free_nodes_ = nullptr;
  std::uint64_t number_ = 0;
};

}  // namespace tlmssd
