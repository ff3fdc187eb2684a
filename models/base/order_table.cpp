#include "models/base/order_table.h"

#include <algorithm>
#include <utility>

#include "models/base/slab.h"

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

void OrderTable::enter(Ticket& ticket, std::uint64_t first, std::uint64_t last, bool writes) {
  Range& range = take_from_slabs<k_slab>(free_ranges_, range_slabs_, &Range::next_of_ticket);
  range.first = first;
  range.last = last;
  range.ticket = &ticket;
  range.writes = writes;
  range.number = number_++;
  range.next_of_ticket = ticket.ranges;
  range.nodes = nullptr;
  range.hangs = nullptr;
  ticket.ranges = &range;
  const auto count = [&](const Range& other) { block(ticket, *other.ticket); };
  each_wide(range, count);
  if (last / k_chunk - first / k_chunk < k_most_chunks) {
    range.width = Width::narrow;
    enter_buckets(range);
    push(narrow_[list_of(first / k_region)], range);
    return;
  }
  range.width = last / k_region - first / k_region < k_most_regions ? Width::wide : Width::huge;
  each_narrow(range, count);
  enter_regions(range);
}

// The oldest range first: a range that waits for a later one of the same command is then released
// by that one alone.
void OrderTable::leave(Ticket& ticket) {
  Range* oldest = nullptr;
  while (ticket.ranges != nullptr) {
    Range* const range = std::exchange(ticket.ranges, ticket.ranges->next_of_ticket);
    range->next_of_ticket = std::exchange(oldest, range);
  }
  while (oldest != nullptr) {
    Range& range = *std::exchange(oldest, oldest->next_of_ticket);
    // A later range that conflicts has counted this range: wide ones once, narrow ones once for
    // each chunk shared.
    const auto keep_later = [&](const Range& other) {
      if (other.number > range.number) later_.push_back(&other);
    };
    each_wide(range, keep_later);
    release_later(ticket);
    if (range.width == Width::narrow) {
      leave_buckets(range);
      unlink(narrow_[list_of(range.first / k_region)], range);
    } else {
      each_narrow(range, keep_later);
      release_later(ticket);
      leave_regions(range);
    }
    range.next_of_ticket = std::exchange(free_ranges_, &range);
  }
}

void OrderTable::block(Ticket& waiting, Ticket& earlier) {
  ++waiting.blockers;
  if (earlier.ledger != nullptr && earlier.when_awaited == nullptr)
    earlier.when_awaited = std::make_unique<Ledger>(*earlier.ledger);
}

// Whole picoseconds that add up to the wait: each cause ends where the sum so far says.
void OrderTable::charge_wait(const Ticket& waiting, const Ticket& left) const {
  if (waiting.ledger == nullptr || left.when_awaited == nullptr) return;
  const Picoseconds spent = left.ledger->total() - left.when_awaited->total();
  const Picoseconds begin = waiting.ledger->mark();
  const Picoseconds wait = event_queue_.now() - begin;
  if (spent <= 0) return;
  const auto share_of = [&](Picoseconds part) {
    return static_cast<Picoseconds>(static_cast<__int128>(wait) * part / spent);
  };
  const Ledger::Parts now = left.ledger->parts();
  const Ledger::Parts then = left.when_awaited->parts();
  Picoseconds sum = 0;
  for (std::size_t i = 0; i < k_causes; ++i) {
    if (now[i] == then[i]) continue;
    sum += now[i] - then[i];
    waiting.ledger->charge(static_cast<Cause>(i), begin + share_of(sum));
  }
  for (std::size_t i = 0; i < k_blockers; ++i)
    waiting.ledger->stood_behind(i, share_of(now[k_causes + i] - then[k_causes + i]));
}

// ----------------------------------------------------------------------------------------------------------- narrow ranges

void OrderTable::hang(Bucket& bucket, Node& node) {
  push(bucket.newest, node);
  if (node.range->writes) push(bucket.newest_write, node, &Node::older_write, &Node::newer_write);
}

// Reads wait for writes alone, so only those are looked at.
void OrderTable::enter_buckets(Range& range) {
  if (hanging_ > buckets_.size()) add_buckets();
  const auto next = range.writes ? &Node::older : &Node::older_write;
  for (std::uint64_t chunk = range.first / k_chunk; chunk <= range.last / k_chunk; ++chunk) {
    const std::uint64_t start = chunk * k_chunk;
    const std::uint64_t from = range.first > start ? range.first - start : 0;
    const std::uint64_t to = std::min(range.last - start, k_chunk - 1);
    Node& node = take_from_slabs<k_slab>(free_nodes_, node_slabs_, &Node::next_of_range);
    node.chunk = chunk;
    node.units = (std::uint64_t{2} << to) - (std::uint64_t{1} << from);
    node.range = &range;
    node.next_of_range = std::exchange(range.nodes, &node);
    Bucket& bucket = bucket_of(chunk);
    std::uint64_t open = node.units;  // whose last write has not been met
    for (const Node* other = range.writes ? bucket.newest : bucket.newest_write;
         other != nullptr && open != 0; other = other->*next) {
      if (other->chunk != chunk || (other->units & open) == 0) continue;
      if (other->range->ticket != range.ticket) block(*range.ticket, *other->range->ticket);
      if (other->range->writes) open &= ~other->units;
    }
    hang(bucket, node);
    ++hanging_;
  }
}

// What enter_buckets() has counted, from the other side. A range in between is still there: it
// waits for this range as well.
void OrderTable::leave_buckets(Range& range) {
  while (range.nodes != nullptr) {
    Node& node = *std::exchange(range.nodes, range.nodes->next_of_range);
    Bucket& bucket = bucket_of(node.chunk);
    const bool awaited =
        range.writes || (bucket.newest_write != nullptr && bucket.newest_write->range->number > range.number);
    std::uint64_t open = awaited ? node.units : 0;
    for (const Node* other = node.newer; other != nullptr && open != 0; other = other->newer) {
      if (other->chunk != node.chunk || (other->units & open) == 0) continue;
      const Range& waiting = *other->range;
      if ((range.writes || waiting.writes) && waiting.ticket != range.ticket)
        release(*waiting.ticket, *range.ticket);
      if (waiting.writes) open &= ~other->units;
    }
    unlink(bucket.newest, node);
    if (range.writes) unlink(bucket.newest_write, node, &Node::older_write, &Node::newer_write);
    node.next_of_range = std::exchange(free_nodes_, &node);
    --hanging_;
  }
}

void OrderTable::add_buckets() {
  const std::vector<Bucket> old = std::exchange(buckets_, std::vector<Bucket>(buckets_.size() * 2));
  --shift_;
  for (const Bucket& bucket : old) {
    Node* node = bucket.newest;
    while (node != nullptr && node->older != nullptr) node = node->older;
    while (node != nullptr) {
      Node& next = *std::exchange(node, node->newer);
      hang(bucket_of(next.chunk), next);
    }
  }
}

// ------------------------------------------------------------------------------------------------------------- wide ranges

void OrderTable::enter_regions(Range& range) {
  if (range.width == Width::huge) {
    push(huge_, range);
    return;
  }
  for (std::uint64_t region = range.first / k_region; region <= range.last / k_region; ++region) {
    Hang& hang = take_from_slabs<k_slab>(free_hangs_, hang_slabs_, &Hang::next_of_range);
    hang.region = region;
    hang.range = &range;
    hang.next_of_range = std::exchange(range.hangs, &hang);
    push(wide_[list_of(region)], hang);
    ++regions_used_;
  }
}

void OrderTable::leave_regions(Range& range) {
  if (range.width == Width::huge) {
    unlink(huge_, range);
    return;
  }
  while (range.hangs != nullptr) {
    Hang& hang = *std::exchange(range.hangs, range.hangs->next_of_range);
    unlink(wide_[list_of(hang.region)], hang);
    hang.next_of_range = std::exchange(free_hangs_, &hang);
    --regions_used_;
  }
}

template <class F>
void OrderTable::each_wide(const Range& range, F f) const {
  for (const Range* other = huge_; other != nullptr; other = other->older) {
    if (conflict(*other, range)) f(*other);
  }
  if (regions_used_ == 0) return;
  const std::uint64_t first = range.first / k_region;
  const std::uint64_t last = range.last / k_region;
  const std::size_t lists = std::min<std::uint64_t>(last - first, k_region_lists - 1) + 1;
  for (std::size_t i = 0; i < lists; ++i) {
    for (const Hang* hang = wide_[list_of(first + i)]; hang != nullptr; hang = hang->older) {
      // In the first region that both touch.
      const Range& other = *hang->range;
      const bool once = hang->region == std::max(first, other.first / k_region);
      if (once && conflict(other, range)) f(other);
    }
  }
}

template <class F>
void OrderTable::each_narrow(const Range& range, F f) const {
  const std::uint64_t first = range.first / k_region;
  const std::uint64_t from = first == 0 ? 0 : first - 1;  // one that begins there may reach across
  const std::uint64_t last = range.last / k_region;
  const std::size_t lists = std::min<std::uint64_t>(last - from, k_region_lists - 1) + 1;
  for (std::size_t i = 0; i < lists; ++i) {
    for (const Range* other = narrow_[list_of(from + i)]; other != nullptr; other = other->older) {
      if (conflict(*other, range)) f(*other);
    }
  }
}

void OrderTable::release_later(const Ticket& left) {
  std::sort(later_.begin(), later_.end(),
            [](const Range* a, const Range* b) { return a->number > b->number; });
  for (const Range* other : later_) release(*other->ticket, left);
  later_.clear();
}

}  // namespace tlmssd
