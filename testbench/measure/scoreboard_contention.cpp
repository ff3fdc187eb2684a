// The scoreboard's knowledge of who is in flight where, its side table of uneven units, and contended units.
#include <algorithm>
#include <bit>
#include <stdexcept>

#include "testbench/measure/scoreboard.h"

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
  ticket.kind_ = kind;
  ticket.wide_ = false;
  ++in_flight_;
  if (blocks == 0) return;
  contend(ticket);
  claim(ticket);
}

void Scoreboard::leave(Ticket& ticket, Kind kind) {
  if (ticket.kind_ != kind) throw std::logic_error("scoreboard: a command ends that has not begun");
  ++tick_;
  --in_flight_;
  ticket.kind_ = Kind::idle;
  if (ticket.blocks_ == 0) return;
  if (ticket.wide_) {
    wide_.erase(std::find(wide_.begin(), wide_.end(), &ticket));
    return;
  }
  for (Claim* claim = &ticket.claim_; claim != nullptr;) {
    *claim->link = claim->next;
    if (claim->next != nullptr) claim->next->link = claim->link;
    --claims_;
    Claim* following = claim->of_ticket;
    if (claim != &ticket.claim_) {
      claim->next = free_claims_;
      free_claims_ = claim;
    }
    claim = following;
  }
}

/// Finds the commands in flight that share units with a new one and tracks those units, unless both only
/// read.
void Scoreboard::contend(const Ticket& ticket) {
  const std::uint64_t first = unit_of(ticket.lba_);
  const std::uint64_t last = unit_of(ticket.lba_ + ticket.blocks_ - 1);
  for (const Ticket* other : wide_) contend_with(ticket, *other, first, last);
  const std::uint64_t first_region = first / k_region_units;
  const std::uint64_t last_region = last / k_region_units;
  if (last_region - first_region >= k_wide_regions) {
    for (const Claim* claim : buckets_) {
      for (; claim != nullptr; claim = claim->next) {
        const std::uint64_t start = claim->region * k_region_units;
        contend_with(ticket, *claim->ticket, std::max(first, start),
                     std::min(last, start + k_region_units - 1));
      }
    }
    return;
  }
  const bool reads = ticket.kind_ == Kind::read;
  for (std::uint64_t region = first_region; region <= last_region; ++region) {
    const std::uint8_t units = units_in(ticket, region);
    std::uint8_t shared = 0;
    for (const Claim* claim = buckets_[bucket_of(region)]; claim != nullptr && shared != units;
         claim = claim->next) {
      if (claim->region == region && !(reads && claim->reads)) shared |= units & claim->units;
    }
    for (; shared != 0; shared &= shared - 1)
      track(region * k_region_units + static_cast<unsigned>(std::countr_zero(shared)));
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
  if (ticket.kind_ == Kind::read && other.kind_ == Kind::read) return;
  const std::uint64_t from = std::max(first_unit, unit_of(other.lba_));
  const std::uint64_t until = std::min(last_unit, unit_of(other.lba_ + other.blocks_ - 1));
  for (std::uint64_t unit = from; unit <= until && from <= until; ++unit) track(unit);
}

void Scoreboard::claim(Ticket& ticket) {
  const std::uint64_t first = unit_of(ticket.lba_) / k_region_units;
  const std::uint64_t last = unit_of(ticket.lba_ + ticket.blocks_ - 1) / k_region_units;
  if (last - first >= k_wide_regions) {
    ticket.wide_ = true;
    wide_.push_back(&ticket);
    return;
  }
  Claim* claim = &ticket.claim_;
  for (std::uint64_t region = first;; ++region) {
    claim->ticket = &ticket;
    claim->region = region;
    claim->units = units_in(ticket, region);
    claim->reads = ticket.kind_ == Kind::read;
    claim->of_ticket = region == last ? nullptr : &take_claim();
    link(*claim);
    if (region == last) break;
    claim = claim->of_ticket;
  }
  if (claims_ > buckets_.size()) grow_buckets();
}

void Scoreboard::link(Claim& claim) {
  Claim*& head = buckets_[bucket_of(claim.region)];
  claim.next = head;
  claim.link = &head;
  if (head != nullptr) head->link = &claim.next;
  head = &claim;
  ++claims_;
}

void Scoreboard::grow_buckets() {
  std::vector<Claim*> old(buckets_.size() * 4, nullptr);
  old.swap(buckets_);
  bucket_shift_ -= 2;
  claims_ = 0;
  for (Claim* claim : old) {
    while (claim != nullptr) {
      Claim* following = claim->next;
      link(*claim);
      claim = following;
    }
  }
}

Scoreboard::Claim& Scoreboard::take_claim() {
  static constexpr std::size_t k_slab = 256;
  if (free_claims_ == nullptr) {
    claim_slabs_.push_back(std::make_unique<Claim[]>(k_slab));
    for (std::size_t i = 0; i < k_slab; ++i) {
      claim_slabs_.back()[i].next = free_claims_;
      free_claims_ = &claim_slabs_.back()[i];
    }
  }
  Claim& claim = *free_claims_;
  free_claims_ = claim.next;
  return claim;
}

Scoreboard::Presence Scoreboard::presence(std::uint64_t unit) const {
  Presence result;
  const auto note = [&](const Ticket& ticket) {
    if (!touches(ticket, unit)) return;
    if (ticket.kind_ == Kind::read) {
      result.oldest_read = std::min(result.oldest_read, ticket.begin_);
    } else {
      result.writer = &ticket;
    }
  };
  for (const Ticket* ticket : wide_) note(*ticket);
  const std::uint64_t region = unit / k_region_units;
  const unsigned bit = 1U << unit % k_region_units;
  for (const Claim* claim = buckets_[bucket_of(region)]; claim != nullptr; claim = claim->next) {
    if (claim->region == region && (claim->units & bit) != 0) note(*claim->ticket);
  }
  return result;
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
  side_[side] =
      SideUnit{static_cast<LogicalUnit>(unit), k_none, static_cast<std::uint16_t>(state & k_sequence)};
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

/// Returns an even, uncontended unit to the compact array. A unit that settled on other than its last write
/// waits for the next one, lest a sequence number be given out twice.
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

/// Starts to keep candidates for a unit's blocks: the present content, and the write in flight (there is one
/// at most, because a second one would have called this).
void Scoreboard::track(std::uint64_t unit) {
  const std::uint32_t side = units_.read(unit) == k_in_side ? find(unit) : make_side(unit);
  SideUnit& entry = side_[side];
  if (entry.heads != k_none) return;
  if (heads_free_.empty()) {
    entry.heads = static_cast<std::uint32_t>(heads_.size());
    heads_.resize(heads_.size() + per_unit_);
  } else {
    entry.heads = heads_free_.back();
    heads_free_.pop_back();
  }
  for (std::uint32_t i = 0; i < per_unit_; ++i) {
    Candidate present;
    present.value = states(side)[i];
    heads_[entry.heads + i] = k_none;
    add_candidate(heads_[entry.heads + i], present);
  }
  const Presence here = presence(unit);
  if (here.writer == nullptr) return;
  std::uint16_t sequence = 0;
  begin_change_in_side(*here.writer, piece(*here.writer, unit), sequence);
}

void Scoreboard::add_candidate(std::uint32_t& head, const Candidate& candidate) {
  std::uint32_t place = 0;
  if (candidates_free_.empty()) {
    place = static_cast<std::uint32_t>(candidates_.size());
    candidates_.emplace_back();
  } else {
    place = candidates_free_.back();
    candidates_free_.pop_back();
  }
  candidates_[place] = candidate;
  candidates_[place].next = head;
  head = place;
}

void Scoreboard::end_change_in_side(const Ticket& ticket, const Piece& piece, bool ok) {
  const std::uint32_t side = find(piece.unit);
  for (std::uint32_t i = 0; i < piece.count; ++i) {
    std::uint32_t at = heads_[side_[side].heads + piece.first + i];
    while (at != k_none && candidates_[at].writer != &ticket) at = candidates_[at].next;
    if (at == k_none) continue;  // ruled out while it was in flight
    Candidate& candidate = candidates_[at];
    candidate.writer = nullptr;
    if (ok) {
      candidate.first_end = std::min(candidate.first_end, tick_);
    } else {
      candidate.deadline = tick_;
    }
  }
  settle(side, tick_);
}

void Scoreboard::cancel(Ticket& ticket) {
  leave(ticket, ticket.kind_);
  if (ticket.blocks_ == 0) return;
  const std::uint64_t last = unit_of(ticket.lba_ + ticket.blocks_ - 1);
  for (std::uint64_t unit = unit_of(ticket.lba_); unit <= last; ++unit) {
    if (!units_.touched(unit)) {
      unit |= decltype(units_)::k_leaf - 1;
      continue;
    }
    if (units_.read(unit) != k_in_side) continue;
    const std::uint32_t side = find(unit);
    if (side_[side].heads == k_none) continue;
    const Piece here = piece(ticket, unit);
    for (std::uint32_t i = 0; i < here.count; ++i) {
      for (std::uint32_t at = heads_[side_[side].heads + here.first + i]; at != k_none;
           at = candidates_[at].next) {
        if (candidates_[at].writer == &ticket) candidates_[at].dead = true;
      }
    }
    settle(side, tick_);
  }
}

/// May a read from `begin` to `now` have seen this candidate? Not if one of the others must come both before
/// and after it.
bool Scoreboard::admits(std::uint32_t head, const Candidate& candidate, std::uint64_t begin,
                        std::uint64_t now) const {
  const std::uint64_t last_use = std::max(candidate.last_use, begin);
  const std::uint64_t first_end = std::min({candidate.first_end, candidate.deadline, now});
  for (std::uint32_t at = head; at != k_none; at = candidates_[at].next) {
    const Candidate& other = candidates_[at];
    if (&other != &candidate && first_end < other.last_use && other.first_end < last_use) return false;
  }
  return true;
}

/// A read from `begin` to `now` returned `got`: is that possible? If one candidate alone explains it, it is
/// known to be it.
bool Scoreboard::see(std::uint32_t head, std::uint64_t lba, Stamp got, std::uint64_t begin,
                     std::uint64_t now) {
  Candidate* seen = nullptr;
  for (std::uint32_t at = head; at != k_none; at = candidates_[at].next) {
    Candidate& candidate = candidates_[at];
    if (stamp(lba, candidate.value) != got || !admits(head, candidate, begin, now)) continue;
    if (seen != nullptr) return true;  // zeros, from one trim or another
    seen = &candidate;
  }
  if (seen == nullptr) return false;
  seen->last_use = std::max(seen->last_use, begin);
  seen->first_end = std::min({seen->first_end, seen->deadline, now});
  return true;
}

/// Forgets what no read can return any more; back to one state per block when only one value is left in each.
void Scoreboard::settle(std::uint32_t side, std::uint64_t now) {
  const Presence here = presence(side_[side].unit);
  const std::uint32_t heads = side_[side].heads;
  bool settled = here.writer == nullptr;
  for (std::uint32_t i = 0; i < per_unit_; ++i) {
    std::uint32_t& head = heads_[heads + i];
    prune(head, std::min(here.oldest_read, now + 1));
    for (std::uint32_t at = head; at != k_none && settled; at = candidates_[at].next) {
      settled = candidates_[at].value == candidates_[head].value;
    }
  }
  if (!settled) return;
  for (std::uint32_t i = 0; i < per_unit_; ++i) {
    std::uint32_t& head = heads_[heads + i];
    states(side)[i] = candidates_[head].value;
    while (head != k_none) {
      candidates_free_.push_back(head);
      head = candidates_[head].next;
    }
  }
  heads_free_.push_back(heads);
  side_[side].heads = k_none;
  compact(side);
}

/// Removes the candidates that no read can return which is in flight (the oldest since `horizon`) or yet to
/// come: those that precede another one which was over before the horizon.
void Scoreboard::prune(std::uint32_t& head, std::uint64_t horizon) {
  for (std::uint32_t at = head; at != k_none; at = candidates_[at].next) {
    Candidate& old = candidates_[at];
    const std::uint64_t ended = std::min(old.first_end, old.deadline);
    if (ended >= horizon) continue;
    for (std::uint32_t by = head; by != k_none && !old.dead; by = candidates_[by].next) {
      old.dead = by != at && ended < candidates_[by].last_use && candidates_[by].first_end < horizon;
    }
  }
  for (std::uint32_t* link = &head; *link != k_none;) {
    const std::uint32_t at = *link;
    if (!candidates_[at].dead) {
      link = &candidates_[at].next;
      continue;
    }
    *link = candidates_[at].next;
    candidates_free_.push_back(at);
  }
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
    heads_.clear();
    heads_free_.clear();
    candidates_.clear();
    candidates_free_.clear();
  }
  for (std::uint64_t n = 0; n < count; ++n) {
    LogicalUnit unit = a.saving() ? side_[order[n]].unit : 0;
    a(unit);
    if (unit >= units_.size()) throw ArchiveError("snapshot is damaged: unit beyond the drive");
    const std::uint32_t side = a.saving() ? order[n] : make_side(unit);
    a(side_[side].last);
    a.bytes(states(side), per_unit_ * sizeof(std::uint16_t));
    std::uint8_t contended = side_[side].heads != k_none ? 1 : 0;
    a(contended);
    if (contended == 0) continue;
    if (!a.saving()) {
      side_[side].heads = static_cast<std::uint32_t>(heads_.size());
      heads_.resize(heads_.size() + per_unit_, k_none);
    }
    for (std::uint32_t i = 0; i < per_unit_; ++i) archive_candidates(a, heads_[side_[side].heads + i]);
  }
}

void Scoreboard::archive_candidates(Archive& a, std::uint32_t& head) {
  std::uint32_t length = 0;
  for (std::uint32_t at = head; a.saving() && at != k_none; at = candidates_[at].next) ++length;
  a(length);
  std::uint32_t at = head;
  std::vector<Candidate> list(length);
  for (Candidate& candidate : list) {
    if (a.saving()) {
      candidate = candidates_[at];
      at = candidate.next;
    }
    a(candidate.last_use);
    a(candidate.first_end);
    a(candidate.deadline);
    a(candidate.value);
  }
  if (a.saving()) return;
  head = k_none;
  for (auto candidate = list.rbegin(); candidate != list.rend(); ++candidate) add_candidate(head, *candidate);
}

}  // namespace tlmssd
