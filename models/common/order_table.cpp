#include "models/common/order_table.h"

namespace tlmssd {

namespace {
template <class Item>
void push(Item*& newest, Item& item) {
  item.older = newest;
  item.newer = nullptr;
  if (newest != nullptr) newest->newer = &item;
  newest = &item;
}
template <class Item>
void unlink(Item*& newest, Item& item) {
  (item.newer == nullptr ? newest : item.newer->older) = item.older;
  if (item.older != nullptr) item.older->newer = item.newer;
}
}  // namespace

OrderTable::Range& OrderTable::take() {
  if (free_ == nullptr) {
    all_.push_back(std::make_unique<Range>());
    all_.back()->next_of_ticket = nullptr;
    free_ = all_.back().get();
  }
  Range& range = *free_;
  free_ = range.next_of_ticket;
  return range;
}

void OrderTable::enter(Ticket& ticket, std::uint64_t first, std::uint64_t last, bool writes) {
  Range& range = take();
  range.first = first;
  range.last = last;
  range.ticket = &ticket;
  range.writes = writes;
  range.number = number_++;
  range.next_of_ticket = ticket.ranges;
  ticket.ranges = &range;
  for (const Range* other = wide_; other != nullptr; other = other->older)
    ticket.blockers += conflict(*other, range) ? 1 : 0;
  range.wide = last / k_chunk - first / k_chunk >= k_most_lanes;
  if (range.wide) {
    for (const Range* other = narrow_; other != nullptr; other = other->older) {
      ticket.blockers += conflict(*other, range) ? 1 : 0;
    }
    push(wide_, range);
  } else {
    enter_lanes(range);
    push(narrow_, range);
  }
}

void OrderTable::enter_lanes(Range& range) {
  Node* node = range.nodes;
  for (std::uint64_t chunk = range.first / k_chunk; chunk <= range.last / k_chunk; ++chunk, ++node) {
    Node*& newest = lanes_[lane_of(chunk)];
    for (const Node* other = newest; other != nullptr; other = other->older) {
      range.ticket->blockers += conflict(*other->range, range) ? 1 : 0;
    }
    node->range = &range;
    push(newest, *node);
  }
}

void OrderTable::leave_lanes(Range& range) {
  Node* node = range.nodes;
  for (std::uint64_t chunk = range.first / k_chunk; chunk <= range.last / k_chunk; ++chunk, ++node) {
    for (const Node* other = node->newer; other != nullptr; other = other->newer) {
      if (conflict(range, *other->range)) release(*other->range->ticket);
    }
    unlink(lanes_[lane_of(chunk)], *node);
  }
}

void OrderTable::leave(Ticket& ticket) {
  while (ticket.ranges != nullptr) {
    Range& range = *ticket.ranges;
    ticket.ranges = range.next_of_ticket;
    // Whoever came later and conflicts has counted this range: wide ones once, narrow ones once for each lane shared.
    for (const Range* other = wide_; other != nullptr && other->number > range.number; other = other->older) {
      if (conflict(range, *other)) release(*other->ticket);
    }
    if (range.wide) {
      for (const Range* other = narrow_; other != nullptr && other->number > range.number;
           other = other->older) {
        if (conflict(range, *other)) release(*other->ticket);
      }
      unlink(wide_, range);
    } else {
      leave_lanes(range);
      unlink(narrow_, range);
    }
    range.next_of_ticket = free_;
    free_ = &range;
  }
}

}  // namespace tlmssd
