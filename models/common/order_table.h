// Commands on the same logical units take effect in the order in which they came.
//
// A command enters with its ranges of units before it first waits for anything, and leaves when it has taken effect (a read:
// buffer and map have been looked at; a write: the data are in the buffer). In between, later commands that overlap and of
// which at least one writes wait. Ranges hang in lanes by address, so that only near neighbours are compared; very long ranges
// hang in a list of their own.
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
  /// A command's place in the order. Stays where it is until leave().
  struct Ticket {
    Range* ranges = nullptr;
    std::uint32_t blockers = 0;  ///< earlier overlapping ranges, one count for each lane shared
    std::coroutine_handle<> waiter{};
    [[nodiscard]] bool blocked() const { return blockers > 0; }
    // `co_await ticket` sleeps until every blocker has left.
    [[nodiscard]] bool await_ready() const noexcept { return blockers == 0; }
    void await_suspend(std::coroutine_handle<> handle) noexcept { waiter = handle; }
    void await_resume() const noexcept {}
  };

  explicit OrderTable(Agenda& agenda) : agenda_(agenda), lanes_(k_lanes, nullptr) {}

  /// Adds the units `first` to `last` to what the command touches.
  void enter(Ticket& ticket, std::uint64_t first, std::uint64_t last, bool writes);
  /// The command has taken effect: lets those that waited for it go on.
  void leave(Ticket& ticket);

 private:
  static constexpr std::uint32_t k_lanes = 4096;
  static constexpr std::uint64_t k_chunk = 64;      ///< units that share a lane
  static constexpr std::uint64_t k_most_lanes = 9;  ///< ranges that would need more hang in the wide list
  struct Node {
    Range* range;
    Node* older;
    Node* newer;
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
    Node nodes[k_most_lanes];
  };
  static bool conflict(const Range& a, const Range& b) {
    return a.first <= b.last && b.first <= a.last && (a.writes || b.writes) && a.ticket != b.ticket;
  }
  static std::uint32_t lane_of(std::uint64_t chunk) {
    return static_cast<std::uint32_t>((chunk * 0x9E3779B97F4A7C15U) >> 52U);
  }
  void enter_lanes(Range& range);
  void leave_lanes(Range& range);
  void release(Ticket& waiting) {
    if (--waiting.blockers == 0 && waiting.waiter) agenda_.soon(waiting.waiter);
  }
  Range& take();

  Agenda& agenda_;
  std::vector<Node*> lanes_;  ///< newest node of each lane
  Range* narrow_ = nullptr;   ///< newest narrow range
  Range* wide_ = nullptr;     ///< newest wide range
  std::vector<std::unique_ptr<Range>> all_;
  Range* free_ = nullptr;
  std::uint64_t number_ = 0;
};

}  // namespace tlmssd
