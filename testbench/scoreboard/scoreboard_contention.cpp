// The scoreboard's knowledge of who is in flight where, its side table of uneven units, and
// contended units.
#include <algorithm>
#include <bit>
#include <stdexcept>
#include <utility>

#include "models/base/slab.h"
#include "testbench/scoreboard/scoreboard.h"

namespace tlmssd {

// ------------------------------------------------------------------------------------------------------------
// who is in flight

void Scoreboard::enter(Ticket& ticket, Kind kind, std::uint64_t lba, std::uint64_t blocks) {
  if (ticket.active()) throw std::logic_error("scoreboard: the ticket is in use");
  if (blocks > blocks_ || lba > blocks_ - blocks)
    throw std::out_of_range("scoreboard: blocks beyond the drive");
  ticket.lba_ = lba;
  ticket.blocks_ = blocks;
  ticket.begin_ = ++tick_;
  ticket.claim_.kind = kind;
  ++in_flight_;
  if (blocks == 0) return;
  contend(ticket);
  claim(ticket);
}

void Scoreboard::leave(Ticket& ticket, Kind kind) {
  if (ticket.claim_.kind != kind) throw std::logic_error("scoreboard: a command ends that has not begun");
  ++tick_;
  --in_flight_;
  ticket.claim_.kind = Kind::idle;
  if (ticket.blocks_ == 0) return;
  if (ticket.claim_.region == nullptr) {
    wide_.back()->claim_.place = ticket.claim_.place;
    wide_[ticket.claim_.place] = wide_.back();
    wide_.pop_back();
    return;
  }
  for (Claim* claim = &ticket.claim_; claim != nullptr;) {
    Region& region = *claim->region;
    (claim->older == nullptr ? region.oldest : claim->older->newer) = claim->newer;
    (claim->newer == nullptr ? region.newest : claim->newer->older) = claim->older;
    auto& counts = kind == Kind::read ? region.reads : region.changes;
    for (std::uint64_t n = 0; n < k_region_units; ++n) counts[n] -= claim->units >> n & 1U;
    if (region.oldest == nullptr) drop_region(region);
    Claim* following = claim->of_ticket;
    if (claim != &ticket.claim_) claim->of_ticket = std::exchange(free_claims_, claim);
    claim = following;
  }
}

/// Finds the commands in flight that share units with a new one and tracks those units, unless both
/// only read.
void Scoreboard::contend(const Ticket& ticket) {
  const std::uint64_t first = unit_of(ticket.lba_);
  const std::uint64_t last = unit_of(ticket.lba_ + ticket.blocks_ - 1);
  for (const Ticket* other : wide_) contend_with(ticket, *other, first, last);
  const std::uint64_t first_region = first / k_region_units;
  const std::uint64_t last_region = last / k_region_units;
  if (last_region - first_region >= k_wide_regions) {
    for (const Region* region : buckets_) {
      for (; region != nullptr; region = region->next) {
        const std::uint64_t start = region->number * k_region_units;
        for (const Claim* claim = region->oldest; claim != nullptr; claim = claim->newer) {
          contend_with(ticket, *claim->ticket, std::max(first, start),
                       std::min(last, start + k_region_units - 1));
        }
      }
    }
    return;
  }
  const bool reads = ticket.claim_.kind == Kind::read;
  for (std::uint64_t number = first_region; number <= last_region; ++number) {
    const Region* const region = find_region(number);
    if (region == nullptr) continue;
    const std::uint8_t units = units_in(ticket, number);
    for (std::uint64_t n = 0; n < k_region_units; ++n) {
      const bool shared = region->changes[n] > 0 || (!reads && region->reads[n] > 0);
      if (shared && (units >> n & 1U) != 0) track(number * k_region_units + n);
    }
  }
}

/// The units of a region that a command touches, a bit each.
std::uint8_t Scoreboard::units_in(const Ticket& ticket, std::uint64_t region) const {
  const std::uint64_t start = region * k_region_units;
  const std::uint64_t first = std::max(unit_of(ticket.lba_), start) - start;
  const std::uint64_t last = std::min(unit_of(ticket.lba_ + ticket.blocks_ - 1) - start, k_region_units - 1);
  return static_cast<std::uint8_t>((2U << last) - (1U << first));
}

void Scoreboard::contend_with(const Ticket& ticket, const Ticket& other, std::uint64_t first_unit,
                              std::uint64_t last_unit) {
  if (ticket.claim_.kind == Kind::read && other.claim_.kind == Kind::read) return;
  const std::uint64_t from = std::max(first_unit, unit_of(other.lba_));
  const std::uint64_t until = std::min(last_unit, unit_of(other.lba_ + other.blocks_ - 1));
  for (std::uint64_t unit = from; unit <= until && from <= until; ++unit) track(unit);
}

void Scoreboard::claim(Ticket& ticket) {
  const std::uint64_t first = unit_of(ticket.lba_) / k_region_units;
  const std::uint64_t last = unit_of(ticket.lba_ + ticket.blocks_ - 1) / k_region_units;
  if (last - first >= k_wide_regions) {
    ticket.claim_.region = nullptr;
    ticket.claim_.place = static_cast<std::uint32_t>(wide_.size());
    wide_.push_back(&ticket);
    return;
  }
  Claim* claim = &ticket.claim_;
  const Kind kind = claim->kind;
  for (std::uint64_t number = first;; ++number) {
    Region* const known = find_region(number);
    Region& region = known != nullptr ? *known : make_region(number);
    claim->ticket = &ticket;
    claim->region = &region;
    claim->units = units_in(ticket, number);
    claim->kind = kind;
    claim->older = std::exchange(region.newest, claim);
    claim->newer = nullptr;
    (claim->older == nullptr ? region.oldest : claim->older->newer) = claim;
    auto& counts = kind == Kind::read ? region.reads : region.changes;
    for (std::uint64_t n = 0; n < k_region_units; ++n) counts[n] += claim->units >> n & 1U;
    claim->of_ticket =
        number == last ? nullptr : &take_from_slabs<k_slab>(free_claims_, claim_slabs_, &Claim::of_ticket);
    if (number == last) return;
    claim = claim->of_ticket;
  }
}

Scoreboard::Region* Scoreboard::find_region(std::uint64_t number) const {
  Region* region = buckets_[bucket_of(number)];
  while (region != nullptr && region->number != number) region = region->next;
  return region;
}

Scoreboard::Region& Scoreboard::make_region(std::uint64_t number) {
  if (regions_++ == buckets_.size()) grow_buckets();
  Region& region = take_from_slabs<k_slab>(free_regions_, region_slabs_, &Region::next);
  Region*& bucket = buckets_[bucket_of(number)];
  region.number = number;
  region.next = std::exchange(bucket, &region);
  return region;
}

void Scoreboard::drop_region(Region& region) {
  Region** link = &buckets_[bucket_of(region.number)];
  while (*link != &region) link = &(*link)->next;
  *link = region.next;
  region.next = std::exchange(free_regions_, &region);
  --regions_;
}

void Scoreboard::grow_buckets() {
  const std::vector<Region*> old = std::exchange(buckets_, std::vector<Region*>(buckets_.size() * 4));
  bucket_shift_ -= 2;
  for (Region* region : old) {
    while (region != nullptr) {
      Region* const next = region->next;
      region->next = std::exchange(buckets_[bucket_of(region->number)], region);
      region = next;
    }
  }
}

bool Scoreboard::is_changing(std::uint64_t unit) const {
  const auto here = [&](const Ticket* ticket) {
    return ticket->claim_.kind != Kind::read && touches(*ticket, unit);
  };
  if (std::any_of(wide_.begin(), wide_.end(), here)) return true;
  const Region* const region = find_region(unit / k_region_units);
  return region != nullptr && region->changes[unit % k_region_units] > 0;
}

const Scoreboard::Ticket* Scoreboard::change_of(std::uint64_t unit) const {
  for (const Ticket* ticket : wide_) {
    if (ticket->claim_.kind != Kind::read && touches(*ticket, unit)) return ticket;
  }
  const Region* const region = find_region(unit / k_region_units);
  const std::uint64_t n = unit % k_region_units;
  if (region == nullptr || region->changes[n] == 0) return nullptr;
  const Claim* claim = region->oldest;
  while (claim->kind == Kind::read || (claim->units >> n & 1U) == 0) claim = claim->newer;
  return claim->ticket;
}

std::uint64_t Scoreboard::oldest_read(std::uint64_t unit) const {
  std::uint64_t begin = k_open;
  for (const Ticket* ticket : wide_) {
    if (ticket->claim_.kind == Kind::read && touches(*ticket, unit)) begin = std::min(begin, ticket->begin_);
  }
  const Region* const region = find_region(unit / k_region_units);
  const std::uint64_t n = unit % k_region_units;
  if (region == nullptr || region->reads[n] == 0) return begin;
  const Claim* claim = region->oldest;
  while (claim->kind != Kind::read || (claim->units >> n & 1U) == 0) claim = claim->newer;
  return std::min(begin, claim->ticket->begin_);
}

// -----------------------------------------------------------------------------------------------------------------
// side table

/// Where the unit's index is, or the empty slot where it belongs.
std::size_t Scoreboard::find_slot(std::uint64_t unit) const {
  const std::size_t mask = side_index_.size() - 1;
  std::size_t slot = side_hash(unit);
  while (side_index_[slot] != k_none && side_[side_index_[slot]].unit != unit) slot = (slot + 1) & mask;
  return slot;
}

std::uint32_t Scoreboard::make_side(std::uint64_t unit) {
  if ((side_count_ + 1) * 3 > side_index_.size() * 2) grow_side_index();
  std::uint32_t side = 0;
  if (side_free_.empty()) {
    side = static_cast<std::uint32_t>(side_.size());
    side_.emplace_back();
    side_states_.resize(side_states_.size() + per_unit_);
  } else {
    side = side_free_.back();
    side_free_.pop_back();
  }
  std::uint16_t& state = units_.write(unit);
  const std::uint16_t value = (state & k_zeros_now) != 0 ? std::uint16_t{0} : state;
  side_[side] = SideUnit{};
  side_[side].unit = static_cast<Lpn>(unit);
  side_[side].last = state & k_sequence;
  std::fill_n(states(side), per_unit_, value);
  state = k_in_side;
  side_index_[find_slot(unit)] = side;
  ++side_count_;
  return side;
}

/// Frees the entry and closes the gap in the index (backward shift).
void Scoreboard::drop_side(std::uint32_t side) {
  const std::size_t mask = side_index_.size() - 1;
  std::size_t gap = find_slot(side_[side].unit);
  for (std::size_t slot = (gap + 1) & mask; side_index_[slot] != k_none; slot = (slot + 1) & mask) {
    const std::size_t home = side_hash(side_[side_index_[slot]].unit);
    if (((slot - home) & mask) < ((slot - gap) & mask)) continue;
    side_index_[gap] = side_index_[slot];
    gap = slot;
  }
  side_index_[gap] = k_none;
  side_free_.push_back(side);
  --side_count_;
}

void Scoreboard::grow_side_index() {
  std::vector<std::uint32_t> old(side_index_.size() * 2, k_none);
  old.swap(side_index_);
  --side_shift_;
  for (const std::uint32_t side : old) {
    if (side != k_none) side_index_[find_slot(side_[side].unit)] = side;
  }
}

/// Returns an even, uncontended unit to the compact array. A unit that settled on other than its
/// last write waits for the next one, lest a sequence number be given out twice.
void Scoreboard::compact(std::uint32_t side) {
  const SideUnit& entry = side_[side];
  const std::uint64_t unit = entry.unit;
  const std::uint16_t* state = states(side);
  const std::uint16_t value = state[0];
  if (value != 0 && value != entry.last) return;
  if (!std::all_of(state, state + width(unit), [&](std::uint16_t s) { return s == value; })) return;
  units_.write(unit) =
      value != 0 || entry.last == 0 ? value : static_cast<std::uint16_t>(entry.last | k_zeros_now);
  drop_side(side);
}

// ------------------------------------------------------------------------------------------------------------
// contended units

/// Starts to keep candidates for a unit's blocks: the present content, and the change in flight
/// (there is one at most, because a second one would have called this).
void Scoreboard::track(std::uint64_t unit) {
  const std::uint32_t side = units_.read(unit) == k_in_side ? find(unit) : make_side(unit);
  SideUnit& entry = side_[side];
  if (entry.lists != k_none) return;
  entry.lists = take_lists();
  const std::uint16_t* const state = states(side);
  entry.even = std::all_of(state, state + width(unit), [&](std::uint16_t s) { return s == state[0]; });
  entry.begun = entry.kept = 0;
  for (std::uint32_t i = 0; i < (entry.even ? 1 : per_unit_); ++i) {
    Candidate present;
    present.value = state[i];
    lists_[entry.lists + i].assign(1, present);
  }
  const Ticket* const change = change_of(unit);
  if (change == nullptr) return;
  std::uint16_t sequence = 0;
  begin_change_in_side(*change, piece(*change, unit), sequence);
}

std::uint32_t Scoreboard::take_lists() {
  if (lists_free_.empty()) {
    lists_.resize(lists_.size() + per_unit_);
    return static_cast<std::uint32_t>(lists_.size()) - per_unit_;
  }
  const std::uint32_t lists = lists_free_.back();
  lists_free_.pop_back();
  return lists;
}

void Scoreboard::split(std::uint32_t side) {
  SideUnit& entry = side_[side];
  if (!std::exchange(entry.even, false)) return;
  for (std::uint32_t i = 1; i < per_unit_; ++i) lists_[entry.lists + i] = lists_[entry.lists];
}

Scoreboard::Candidates::iterator Scoreboard::find_candidate(Candidates& list, const Ticket& writer) {
  const auto at =
      std::lower_bound(list.begin(), list.end(), writer.begin_,
                       [](const Candidate& one, std::uint64_t begin) { return one.begin < begin; });
  return at != list.end() && at->begin == writer.begin_ ? at : list.end();
}

void Scoreboard::end_change_in_side(const Ticket& ticket, const Piece& piece, bool ok) {
  const std::uint32_t side = find(piece.unit);
  for (Candidates& list : lists_of(side_[side], piece)) {
    const auto candidate = find_candidate(list, ticket);
    if (candidate == list.end()) continue;  // ruled out while it was in flight
    if (ok) {
      candidate->first_end = std::min(candidate->first_end, tick_);
    } else {
      candidate->deadline = tick_;
    }
  }
  settle(side, tick_);
}

void Scoreboard::cancel(Ticket& ticket) {
  leave(ticket, ticket.claim_.kind);
  if (ticket.blocks_ == 0) return;
  const std::uint64_t last = unit_of(ticket.lba_ + ticket.blocks_ - 1);
  for (std::uint64_t unit = unit_of(ticket.lba_); unit <= last; ++unit) {
    if (!units_.touched(unit)) {
      unit |= decltype(units_)::k_leaf - 1;
      continue;
    }
    if (units_.read(unit) != k_in_side) continue;
    const std::uint32_t side = find(unit);
    if (side_[side].lists == k_none) continue;
    for (Candidates& list : lists_of(side_[side], piece(ticket, unit))) {
      const auto candidate = find_candidate(list, ticket);
      if (candidate != list.end()) list.erase(candidate);
    }
    settle(side, tick_);
  }
}

/// May a read from `begin` to `now` have seen this candidate? Not if one of the others must come
/// both before and after it.
bool Scoreboard::admits(const Candidates& list, const Candidate& candidate, std::uint64_t begin,
                        std::uint64_t now) {
  const std::uint64_t last_use = std::max(candidate.last_use, begin);
  const std::uint64_t first_end = std::min(candidate.ended(), now);
  return std::none_of(list.begin(), list.end(), [&](const Candidate& other) {
    return first_end < other.last_use && other.first_end < last_use && &other != &candidate;
  });
}

/// A read from `begin` to `now` returned `got`: is that possible? If one candidate alone explains
/// it, it is known to be it.
bool Scoreboard::see(Candidates& list, std::uint64_t lba, Stamp got, std::uint64_t begin,
                     std::uint64_t now) const {
  const std::uint16_t value = sequence_of(lba, got);
  if (value == 0 && got != k_zeros) return false;
  Candidate* seen = nullptr;
  for (Candidate& candidate : list) {
    if (candidate.value != value || !admits(list, candidate, begin, now)) continue;
    if (seen != nullptr) return true;  // zeros, from one trim or another
    seen = &candidate;
  }
  if (seen == nullptr) return false;
  seen->last_use = std::max(seen->last_use, begin);
  seen->first_end = std::min(seen->ended(), now);
  return true;
}

/// Forgets what no read can return any more; back to one state per block when only one value is
/// left in each. While changes are in flight that is only done when the lists may have doubled, so
/// that it costs little for each.
void Scoreboard::settle(std::uint32_t side, std::uint64_t now) {
  static constexpr std::uint32_t k_least = 4;
  SideUnit& entry = side_[side];
  const bool changing = is_changing(entry.unit);
  if (changing && entry.begun < std::max(k_least, entry.kept)) return;
  const std::uint64_t horizon = std::min(oldest_read(entry.unit), now + 1);
  const std::uint32_t blocks = width(entry.unit);
  const std::span<Candidates> lists(&lists_[entry.lists], entry.even ? 1 : blocks);
  bool settled = !changing;
  entry.begun = entry.kept = 0;
  for (Candidates& list : lists) {
    prune(list, horizon);
    entry.kept = std::max(entry.kept, static_cast<std::uint32_t>(list.size()));
    settled = settled && std::all_of(list.begin(), list.end(),
                                     [&](const Candidate& one) { return one.value == list.front().value; });
  }
  if (!settled) return;
  for (std::uint32_t i = 0; i < blocks; ++i) states(side)[i] = lists[entry.even ? 0 : i].front().value;
  lists_free_.push_back(std::exchange(entry.lists, k_none));
  compact(side);
}

/// Removes the candidates that no read can return which is in flight (the oldest since `horizon`)
/// or yet to come: those that precede another one which was over before the horizon.
void Scoreboard::prune(Candidates& list, std::uint64_t horizon) {
  // Of those that were over, the one used last, and the next to it, which counts for that one.
  const Candidate* last = nullptr;
  std::uint64_t used = 0;
  std::uint64_t used_before = 0;
  for (const Candidate& one : list) {
    if (one.first_end >= horizon) continue;
    if (last == nullptr || one.last_use > used) {
      used_before = std::exchange(used, one.last_use);
      last = &one;
    } else {
      used_before = std::max(used_before, one.last_use);
    }
  }
  auto kept = list.begin();
  for (const Candidate& one : list) {
    const std::uint64_t ended = one.ended();
    if (ended < horizon && ended < (&one == last ? used_before : used)) continue;
    *kept++ = one;
  }
  list.erase(kept, list.end());
}

// ------------------------------------------------------------------------------------------------------------------
// snapshots

void Scoreboard::archive_side(Archive& a) {
  std::uint64_t count = side_count_;
  a(count);
  std::vector<std::uint32_t> order;
  if (a.saving()) {
    for (const std::uint32_t side : side_index_) {
      if (side != k_none) order.push_back(side);
    }
    std::sort(order.begin(), order.end(),
              [&](std::uint32_t x, std::uint32_t y) { return side_[x].unit < side_[y].unit; });
  } else {
    side_.clear();
    side_states_.clear();
    side_free_.clear();
    side_index_.assign(64, k_none);
    side_shift_ = 58;
    side_count_ = 0;
    lists_.clear();
    lists_free_.clear();
  }
  for (std::uint64_t n = 0; n < count; ++n) {
    Lpn unit = a.saving() ? side_[order[n]].unit : 0;
    a(unit);
    if (unit >= units_.size()) throw ArchiveError("snapshot is damaged: unit beyond the drive");
    const std::uint32_t side = a.saving() ? order[n] : make_side(unit);
    a(side_[side].last);
    a.bytes(states(side), per_unit_ * sizeof(std::uint16_t));
    std::uint8_t contended = side_[side].lists != k_none ? 1 : 0;
    a(contended);
    if (contended == 0) continue;
    if (a.saving()) {
      split(side);
    } else {
      side_[side].lists = take_lists();
    }
    for (std::uint32_t i = 0; i < per_unit_; ++i) archive_candidates(a, lists_[side_[side].lists + i]);
  }
}

/// The youngest first.
void Scoreboard::archive_candidates(Archive& a, Candidates& list) {
  auto length = static_cast<std::uint32_t>(list.size());
  a(length);
  if (!a.saving()) list.assign(length, {});
  for (auto candidate = list.rbegin(); candidate != list.rend(); ++candidate) {
    a(candidate->last_use);
    a(candidate->first_end);
    a(candidate->deadline);
    a(candidate->value);
  }
}

}  // namespace tlmssd
