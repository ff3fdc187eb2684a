// Who waits for whom: against a plain list of all commands under way, and at a cost that does not
// grow with their number.
#include "models/base/order_table.h"

#include <catch2/catch.hpp>
#include <ctime>
#include <deque>
#include <vector>

#include "models/base/random.h"
#include "models/base/task.h"

namespace tlmssd {
namespace {

struct LbaSpan {
  std::uint64_t first;
  std::uint64_t last;
};

struct Command {
  OrderTable::Ticket ticket;
  std::vector<LbaSpan> ranges;
  bool writes = false;
  bool gone = false;
  std::size_t before = 0;  ///< earlier ones under way that it must wait for
};

bool overlap(const Command& a, const Command& b) {
  for (const LbaSpan& x : a.ranges) {
    for (const LbaSpan& y : b.ranges) {
      if (x.first <= y.last && y.first <= x.last) return true;
    }
  }
  return false;
}

/// By the definition: the later one must wait for an earlier one that it overlaps, if one of the
/// two writes.
bool conflict(const Command& earlier, const Command& later) {
  return (earlier.writes || later.writes) && overlap(earlier, later);
}

/// Of processor time: other work of the machine does not count.
double seconds(std::clock_t since) {
  return static_cast<double>(std::clock() - since) / CLOCKS_PER_SEC;
}

}  // namespace

TEST_CASE("commands wait for exactly those before them that they overlap and of which one writes") {
  const auto seed = GENERATE(1U, 2U, 3U, 4U, 5U, 6U, 7U);
  RandomStream random(seed, "order table");
  const std::uint64_t space = seed == 7 ? 10'000'000 : seed % 3 == 0 ? 40 : seed % 3 == 1 ? 2'000 : 100'000;
  const std::uint64_t most = seed % 2 == 0 ? 60 : 400;
  const std::uint64_t widest = seed == 7 ? 100'000 : 2'000;
  EventQueue event_queue;
  OrderTable table(event_queue);
  std::deque<Command> commands;
  std::size_t under_way = 0;
  for (int step = 0; step < 3'000; ++step) {
    if (under_way < most && random.below(5) < 3) {
      Command& command = commands.emplace_back();
      command.writes = random.below(3) != 0;
      const std::uint64_t count = command.writes && random.below(4) == 0 ? 1 + random.below(4) : 1;
      for (std::uint64_t n = 0; n < count; ++n) {
        const std::uint64_t first = random.below(space);
        const std::uint64_t length = random.below(20) == 0 ? random.below(widest) : random.below(40);
        command.ranges.push_back({first, first + length});
        table.enter(command.ticket, first, first + length, command.writes);
      }
      for (const Command& earlier : commands) {
        if (&earlier != &command && !earlier.gone && conflict(earlier, command)) ++command.before;
      }
      ++under_way;
    } else if (under_way > 0) {
      std::size_t one = random.below(commands.size());
      while (commands[one].gone || commands[one].ticket.blocked()) one = (one + 1) % commands.size();
      table.leave(commands[one].ticket);
      commands[one].gone = true;
      for (std::size_t later = one + 1; later < commands.size(); ++later) {
        if (conflict(commands[one], commands[later])) --commands[later].before;
      }
      --under_way;
    }
    for (const Command& command : commands) {
      if (!command.gone) REQUIRE(command.ticket.blocked() == (command.before > 0));
    }
    while (!commands.empty() && commands.front().gone) commands.pop_front();
  }
}

TEST_CASE("a command looks at few others, however many are under way on its units") {
  constexpr std::size_t k_commands = 65'536;
  for (const bool writes : {false, true}) {
    EventQueue event_queue;
    OrderTable table(event_queue);
    std::vector<OrderTable::Ticket> tickets(k_commands);
    const std::clock_t start = std::clock();
    for (auto& ticket : tickets) table.enter(ticket, 5, 5, writes);
    for (auto& ticket : tickets) {
      REQUIRE_FALSE(ticket.blocked());
      table.leave(ticket);
    }
    INFO((writes ? "writes" : "reads"));
    CHECK(seconds(start) < 1);  // with each pair compared: several seconds
  }
}

namespace {

/// A command that waits for its turn and then takes up its work.
struct Waiting {
  explicit Waiting(EventQueue& event_queue) : ledger(event_queue.now()) { ticket.ledger = &ledger; }
  Ledger ledger;
  OrderTable::Ticket ticket;
};

Task<> wait(Waiting& command) {
  co_await command.ticket;
}

}  // namespace

TEST_CASE("a wait is charged as what the command waited for spent its time on meanwhile") {
  EventQueue event_queue;
  OrderTable table(event_queue);
  TaskSet tasks;
  Waiting first(event_queue);
  table.enter(first.ticket, 5, 5, true);
  const auto at = [&](Picoseconds instant) { event_queue.run_until(instant); };
  at(1000);
  first.ledger.charge(Cause::map_fetch, 1000);  // before anyone waits
  Waiting second(event_queue);
  table.enter(second.ticket, 5, 5, true);
  tasks.start(wait(second));
  at(1100);
  Waiting third(event_queue);
  table.enter(third.ticket, 5, 5, false);
  tasks.start(wait(third));
  at(1600);
  first.ledger.charge(Cause::space_wait, 1200);
  first.ledger.charge(Cause::die_gc, 1500);
  first.ledger.stood_behind(k_behind_gc_erase, 300);
  first.ledger.charge(Cause::buffer_wait, 1600);
  table.leave(first.ticket);
  CHECK(second.ledger.mark() == 1600);
  CHECK(second.ledger.spent(Cause::space_wait) == 200);
  CHECK(second.ledger.spent(Cause::die_gc) == 300);
  CHECK(second.ledger.spent(Cause::buffer_wait) == 100);
  CHECK(second.ledger.spent(Cause::map_fetch) == 0);
  CHECK(second.ledger.behind(k_behind_gc_erase) == 300);
  CHECK(third.ledger.total() == 0);  // still behind the second
  at(1607);
  second.ledger.charge(Cause::buffer_wait, 1607);
  table.leave(second.ticket);
  CHECK(third.ledger.total() == 507);  // in the proportions of all that the second spent since 1100
  CHECK(third.ledger.mark() == 1607);
  for (const Cause cause : {Cause::space_wait, Cause::die_gc, Cause::buffer_wait}) {
    const auto expected = static_cast<double>(second.ledger.spent(cause)) * 507 / 607;
    CHECK(static_cast<double>(third.ledger.spent(cause)) == Approx(expected).margin(1));
  }
  at(1608);
  table.leave(third.ticket);
}

TEST_CASE("wide ranges far from each other are not compared, however many are under way") {
  constexpr std::size_t k_commands = 65'536;
  RandomStream random(1, "wide ranges");
  EventQueue event_queue;
  OrderTable table(event_queue);
  std::vector<OrderTable::Ticket> tickets(k_commands);
  const std::clock_t start = std::clock();
  for (std::size_t n = 0; n < k_commands; ++n) {
    const std::uint64_t first = random.below(1U << 24U);
    table.enter(tickets[n], first, first + (n % 2 == 0 ? 1023 : 7), false);
  }
  for (auto& ticket : tickets) table.leave(ticket);
  CHECK(seconds(start) < 3);  // with each pair compared: two thousand million comparisons
}

}  // namespace tlmssd
