// Units in the scoreboard's side table: how they come there, what changes and reads do to them, and
// when they go back to the compact array.
#include <algorithm>

#include "testbench/scoreboard/scoreboard.h"

namespace tlmssd {

SideTable::Index Scoreboard::make_side(std::uint64_t unit) {
  std::uint16_t& state = states_.write(unit);
  const SideTable::Index side = side_.make(unit, value_of(state), state & k_sequence);
  state = k_in_side;
  return side;
}

/// Returns an even, uncontended unit to the compact array. A unit that settled on other than its
/// last write waits for the next one, lest a sequence number be given out twice.
void Scoreboard::compact(SideTable::Index side) {
  const SideTable::Entry& entry = side_[side];
  const std::span<const std::uint16_t> held = side_.states(side);
  const std::uint16_t value = held[0];
  if (value != 0 && value != entry.last) return;
  if (!std::all_of(held.begin(), held.end(), [&](std::uint16_t one) { return one == value; })) return;
  states_.write(entry.unit) =
      value != 0 || entry.last == 0 ? value : static_cast<std::uint16_t>(entry.last | k_zeros_now);
  side_.drop(side);
}

/// Starts to keep candidates for a unit's blocks: the present content, and the change in flight
/// (there is one at most, because a second one would have called this).
void Scoreboard::track(std::uint64_t unit) {
  const SideTable::Index side = states_.read(unit) == k_in_side ? side_.find(unit) : make_side(unit);
  if (side_[side].contended()) return;
  side_.contend(side);
  const Ticket* const change = in_flight_.change_of(unit);
  if (change == nullptr) return;
  std::uint16_t sequence = 0;
  begin_change_in_side(*change, piece(*change, unit), sequence);
}

/// A change of a unit that is in the side table begins: the sequence number of a write, and
/// candidates when contended.
void Scoreboard::begin_change_in_side(const Ticket& ticket, const Piece& piece, std::uint16_t& sequence) {
  const SideTable::Index at = side_.find(piece.unit);
  SideTable::Entry& side = side_[at];
  const bool write = ticket.kind() == Kind::write;
  if (write) sequence = TrackingUnits::after(side.last);
  if (!side.contended()) return;  // takes effect at its end
  if (write) side.last = sequence;
  if (!piece.whole) side_.split(at);
  for (Candidates& list : side_.lists(at, piece.first, piece.count))
    list.begin(ticket.begin(), write ? sequence : std::uint16_t{0});
  ++side.begun;
}

void Scoreboard::end_change_in_side(const Ticket& ticket, const Piece& piece, bool ok) {
  const SideTable::Index side = side_.find(piece.unit);
  for (Candidates& list : side_.lists(side, piece.first, piece.count)) list.end(ticket.begin(), tick_, ok);
  settle(side, tick_);
}

void Scoreboard::cancel(Ticket& ticket) {
  leave(ticket, ticket.kind());
  if (ticket.blocks() == 0) return;
  const std::uint64_t last = in_flight_.last_unit(ticket);
  for (std::uint64_t unit = in_flight_.first_unit(ticket); unit <= last; ++unit) {
    if (!states_.touched(unit)) {
      unit |= decltype(states_)::k_leaf - 1;
      continue;
    }
    if (states_.read(unit) != k_in_side) continue;
    const SideTable::Index side = side_.find(unit);
    if (!side_[side].contended()) continue;
    const Piece here = piece(ticket, unit);
    for (Candidates& list : side_.lists(side, here.first, here.count)) list.cancel(ticket.begin());
    settle(side, tick_);
  }
}

/// Checks a unit of the side table (unless `data` is empty: the read failed) and forgets candidates
/// that it has ruled out.
bool Scoreboard::check_side(const Ticket& ticket, const Piece& piece, std::span<const Stamp> all,
                            std::uint64_t now) {
  const SideTable::Index side = side_.find(piece.unit);
  const bool contended = side_[side].contended();
  const std::uint64_t first = units_.first_block(piece.unit) + piece.first;
  const std::span<const Stamp> read = all.empty() ? all : all.subspan(first - ticket.lba(), piece.count);
  if (contended && !read.empty() && !(piece.whole && one_write(read))) side_.split(side);
  const std::uint32_t checks = read.empty() ? 0 : contended && side_[side].even ? 1 : piece.count;
  bool right = true;
  for (std::uint32_t i = 0; i < checks && right; ++i) {
    right = contended
                ? see(side_.lists(side, piece.first, piece.count)[i], first + i, read[i], ticket.begin(), now)
                : read[i] == units_.stamp(first + i, side_.states(side)[piece.first + i]);
    if (!right) explain(ticket, first + i, read[i], all, now);
  }
  if (contended) settle(side, now);
  return right;
}

/// A read from `begin` to `now` returned `got`: is that possible?
bool Scoreboard::see(Candidates& list, std::uint64_t lba, Stamp got, std::uint64_t begin,
                     std::uint64_t now) const {
  return list.see([&](std::uint16_t value) { return units_.stamp(lba, value) == got; }, begin, now);
}

/// Forgets what no read can return any more; back to one state per block when only one value is
/// left in each. While changes are in flight that is only done when the lists may have doubled, so
/// that it costs little for each.
void Scoreboard::settle(SideTable::Index side, std::uint64_t now) {
  static constexpr std::uint32_t k_least = 4;
  SideTable::Entry& entry = side_[side];
  const bool changing = in_flight_.is_changing(entry.unit);
  if (changing && entry.begun < std::max(k_least, entry.kept)) return;
  const std::uint64_t horizon = std::min(in_flight_.oldest_read(entry.unit), now + 1);
  bool settled = !changing;
  entry.begun = entry.kept = 0;
  for (Candidates& list : side_.lists(side, 0, units_.width(entry.unit))) {
    list.prune(horizon);
    entry.kept = std::max(entry.kept, static_cast<std::uint32_t>(list.size()));
    settled = settled && list.agree();
  }
  if (!settled) return;
  side_.settle(side);
  compact(side);
}

}  // namespace tlmssd
