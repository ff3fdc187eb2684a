#include "models/common/order_table.h"

#include <algorithm>
#include <utility>

namespace tlmssd {

namespace {

template <class Item>
void push(Item*& newest, Item& item, Item* Item::*older = &Item::older, Item* Item::*newer = &Item::newer) {
  item.*older = newest;
  item.*newer = nullptr;
  if (newest != nullptr) newest->*newer = &item;
  newest = &item;
}

template <class Item>
void unlink(Item*& newest, Item& item, Item* Item::*older = &Item::older, Item* Item::*newer = &Item::newer) {
  (item.*newer == nullptr ? newest : (item.*newer)->*older) = item.*older;
  if (item.*older != nullptr) (item.*older)->*newer = item.*newer;
}

}  // namespace

template <class Item>
Item& OrderTable::take(Item*& free, std::vector<std::unique_ptr<Item[]>>& slabs, Item* Item::*next) {
  constexpr std::size_t k_slab = 64;
  if (free == nullptr) {
    slabs.push_back(std::make_unique<Item[]>(k_slab));
    for (std::size_t i = 0; i < k_slab; ++i) {
      slabs.back()[i].*next = free;
      free = &slabs.back()[i];
    }
  }
  Item& item = *free;
  free = item.*next;
  return item;
}

void OrderTable::enter(Ticket& ticket, std::uint64_t first, std::uint64_t last, bool writes) {
  Range& range = take(free_ranges_, range_slabs_, &Range::next_of_ticket);
  range.first = first;
  range.last = last;
  range.ticket = &ticket;
  range.writes = writes;
  range.number = number_++;
  range.next_of_ticket = ticket.ranges;
  range.nodes = nullptr;
  ticket.ranges = &range;
  for (const Range* other = wide_; other != nullptr; other = other->older)
    ticket.blockers += conflict(*other, range) ? 1 : 0;
  range.wide = last / k_chunk - first / k_chunk >= k_most_chunks;
  range.wide ? enter_wide(range) : enter_lanes(range);
}

// The oldest range first: what a later one of the same command stands before is then let go by that one alone.
void OrderTable::leave(Ticket& ticket) {
  Range* oldest = nullptr;
  while (ticket.ranges != nullptr) {
    Range* const range = std::exchange(ticket.ranges, ticket.ranges->next_of_ticket);
    range->next_of_ticket = std::exchange(oldest, range);
  }
  while (oldest != nullptr) {
    Range& range = *std::exchange(oldest, oldest->next_of_ticket);
    // Whoever came later and conflicts has counted this range: wide ones once, narrow ones once for each chunk shared.
    for (const Range* other = wide_; other != nullptr && other->number > range.number; other = other->older) {
      if (conflict(range, *other)) release(*other->ticket);
    }
    range.wide ? leave_wide(range) : leave_lanes(range);
    range.next_of_ticket = std::exchange(free_ranges_, &range);
  }
}

// ----------------------------------------------------------------------------------------------------------- narrow ranges

void OrderTable::hang(Lane& lane, Node& node) {
  push(lane.newest, node);
  if (node.range->writes) push(lane.newest_write, node, &Node::older_write, &Node::newer_write);
}

// Reads wait for writes alone, so only those are looked at.
void OrderTable::enter_lanes(Range& range) {
  if (hanging_ > lanes_.size()) add_lanes();
  const auto next = range.writes ? &Node::older : &Node::older_write;
  for (std::uint64_t chunk = range.first / k_chunk; chunk <= range.last / k_chunk; ++chunk) {
    const std::uint64_t start = chunk * k_chunk;
    const std::uint64_t from = range.first > start ? range.first - start : 0;
    const std::uint64_t to = std::min(range.last - start, k_chunk - 1);
    Node& node = take(free_nodes_, node_slabs_, &Node::next_of_range);
    node.chunk = chunk;
    node.units = (std::uint64_t{2} << to) - (std::uint64_t{1} << from);
    node.range = &range;
    node.next_of_range = std::exchange(range.nodes, &node);
    Lane& lane = lane_of(chunk);
    std::uint64_t open = node.units;  // whose last write has not been met
    for (const Node* other = range.writes ? lane.newest : lane.newest_write; other != nullptr && open != 0;
         other = other->*next) {
      if (other->chunk != chunk || (other->units & open) == 0) continue;
      if (other->range->ticket != range.ticket) ++range.ticket->blockers;
      if (other->range->writes) open &= ~other->units;
    }
    hang(lane, node);
    ++hanging_;
  }
  push(narrow_, range);
}

// What enter_lanes() has counted, from the other side. Whoever stood in between is still there: it waits for this range as well.
void OrderTable::leave_lanes(Range& range) {
  while (range.nodes != nullptr) {
    Node& node = *std::exchange(range.nodes, range.nodes->next_of_range);
    Lane& lane = lane_of(node.chunk);
    const bool awaited =
        range.writes || (lane.newest_write != nullptr && lane.newest_write->range->number > range.number);
    std::uint64_t open = awaited ? node.units : 0;
    for (const Node* other = node.newer; other != nullptr && open != 0; other = other->newer) {
      if (other->chunk != node.chunk || (other->units & open) == 0) continue;
      const Range& waiting = *other->range;
      if ((range.writes || waiting.writes) && waiting.ticket != range.ticket) release(*waiting.ticket);
      if (waiting.writes) open &= ~other->units;
    }
    unlink(lane.newest, node);
    if (range.writes) unlink(lane.newest_write, node, &Node::older_write, &Node::newer_write);
    node.next_of_range = std::exchange(free_nodes_, &node);
    --hanging_;
  }
  unlink(narrow_, range);
}

void OrderTable::add_lanes() {
  const std::vector<Lane> old = std::exchange(lanes_, std::vector<Lane>(lanes_.size() * 2));
  --shift_;
  for (const Lane& lane : old) {
    Node* node = lane.newest;
    while (node != nullptr && node->older != nullptr) node = node->older;
    while (node != nullptr) {
      Node& next = *std::exchange(node, node->newer);
      hang(lane_of(next.chunk), next);
    }
  }
}

// ------------------------------------------------------------------------------------------------------------- wide ranges

void OrderTable::enter_wide(Range& range) {
  for (const Range* other = narrow_; other != nullptr; other = other->older)
    range.ticket->blockers += conflict(*other, range) ? 1 : 0;
  push(wide_, range);
}

void OrderTable::leave_wide(Range& range) {
  for (const Range* other = narrow_; other != nullptr && other->number > range.number; other = other->older) {
    if (conflict(range, *other)) release(*other->ticket);
  }
  unlink(wide_, range);
}

}  // namespace tlmssd
