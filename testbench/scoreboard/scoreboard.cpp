// The scoreboard's commands: begin, end and the check of reads. What becomes of units in the side
// table is in scoreboard_contention.cpp, the words for a mismatch in scoreboard_mismatch.cpp.
#include "testbench/scoreboard/scoreboard.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace tlmssd {

Scoreboard::Scoreboard(std::uint64_t blocks, std::uint32_t blocks_per_unit,
                       std::shared_ptr<const Contents> contents)
    : units_(blocks, blocks_per_unit, std::move(contents)),
      states_(units_.count()),
      side_(units_),
      in_flight_(units_) {}

void Scoreboard::enter(Ticket& ticket, Kind kind, std::uint64_t lba, std::uint64_t blocks) {
  in_flight_.enter(ticket, kind, lba, blocks, ++tick_, [this](std::uint64_t unit) { track(unit); });
}

void Scoreboard::leave(Ticket& ticket, Kind kind) {
  in_flight_.leave(ticket, kind);
  ++tick_;
}

// -------------------------------------------------------------------------------------------------------------------
// changes

void Scoreboard::begin_write(Ticket& ticket, std::uint64_t lba, std::uint64_t blocks, std::span<Stamp> data) {
  if (data.size() != blocks) throw std::logic_error("scoreboard: a write has one stamp per block");
  enter(ticket, Kind::write, lba, blocks);
  if (blocks == 0) return;
  const std::uint64_t last = in_flight_.last_unit(ticket);
  std::uint64_t at = lba;
  for (std::uint64_t unit = in_flight_.first_unit(ticket); unit <= last; ++unit) {
    const Piece here = piece(ticket, unit);
    const std::uint16_t state = states_.read(unit);
    std::uint16_t sequence = TrackingUnits::after(state & k_sequence);
    if (state == k_in_side) begin_change_in_side(ticket, here, sequence);
    Stamp next = units_.stamp(at, sequence);
    for (std::uint32_t i = 0; i < here.count; ++i, ++at, next = following_stamp(next)) data[at - lba] = next;
  }
}

void Scoreboard::begin_zeroes(Ticket& ticket, std::uint64_t lba, std::uint64_t blocks) {
  enter(ticket, Kind::zeroes, lba, blocks);
  if (blocks == 0 || side_.size() == 0) return;
  const std::uint64_t last = in_flight_.last_unit(ticket);
  for (std::uint64_t unit = in_flight_.first_unit(ticket); unit <= last; ++unit) {
    if (!states_.touched(unit)) {
      unit |= decltype(states_)::k_leaf - 1;  // the rest of this leaf is untouched too
      continue;
    }
    if (states_.read(unit) != k_in_side) continue;
    std::uint16_t sequence = 0;
    begin_change_in_side(ticket, piece(ticket, unit), sequence);
  }
}

void Scoreboard::begin_read(Ticket& ticket, std::uint64_t lba, std::uint64_t blocks) {
  enter(ticket, Kind::read, lba, blocks);
  if (blocks != 0) states_.prefetch(units_.unit_of(lba));
}

void Scoreboard::content(std::uint64_t unit, std::uint16_t sequence, std::span<Stamp> stamps) const {
  const std::uint32_t blocks = units_.width(unit);
  Stamp next = units_.stamp(units_.first_block(unit), sequence);
  for (std::uint32_t i = 0; i < stamps.size(); ++i, next = following_stamp(next))
    stamps[i] = i < blocks ? next : k_zeros;
}

void Scoreboard::all_written(std::uint16_t times) {
  for (std::uint64_t unit = 0; unit < units_.count(); ++unit) states_.write(unit) = times;
}

void Scoreboard::end_write(Ticket& ticket, bool ok) {
  end_change(ticket, Kind::write, ok);
}
void Scoreboard::end_zeroes(Ticket& ticket, bool ok) {
  end_change(ticket, Kind::zeroes, ok);
}

void Scoreboard::end_change(Ticket& ticket, Kind kind, bool ok) {
  if (ticket.kind() == kind && !ok && ticket.blocks() != 0) {
    // A failed change leaves two possible contents, as a contended one does.
    for (std::uint64_t unit = in_flight_.first_unit(ticket); unit <= in_flight_.last_unit(ticket); ++unit)
      track(unit);
  }
  leave(ticket, kind);
  if (ticket.blocks() == 0) return;
  const bool zeroes = kind == Kind::zeroes;
  const std::uint64_t last = in_flight_.last_unit(ticket);
  for (std::uint64_t unit = in_flight_.first_unit(ticket); unit <= last; ++unit) {
    if (zeroes && !states_.touched(unit)) {
      unit |= decltype(states_)::k_leaf - 1;
      continue;
    }
    const Piece here = piece(ticket, unit);
    if (here.whole && !zeroes) {
      std::uint16_t& state = states_.write(unit);
      if (state != k_in_side) {
        state = TrackingUnits::after(state & k_sequence);
        continue;
      }
    }
    if (states_.read(unit) == k_in_side && side_[side_.find(unit)].contended()) {
      end_change_in_side(ticket, here, ok);
    } else {
      apply(here, zeroes);
    }
  }
}

/// An uncontended change takes effect.
void Scoreboard::apply(const Piece& piece, bool zeroes) {
  const std::uint16_t state = states_.read(piece.unit);
  if (state != k_in_side) {
    if (zeroes && (state == 0 || (state & k_zeros_now) != 0)) return;
    if (zeroes && piece.whole) {
      states_.write(piece.unit) = state | k_zeros_now;
      return;
    }
  }
  const SideTable::Index side = state == k_in_side ? side_.find(piece.unit) : make_side(piece.unit);
  if (!zeroes) side_[side].last = TrackingUnits::after(side_[side].last);
  const std::span<std::uint16_t> changed = side_.states(side).subspan(piece.first, piece.count);
  std::fill(changed.begin(), changed.end(), zeroes ? std::uint16_t{0} : side_[side].last);
  compact(side);
}

// ---------------------------------------------------------------------------------------------------------------------
// reads

const Mismatch* Scoreboard::end_read(Ticket& ticket, std::span<const Stamp> data, bool ok) {
  if (ok && data.size() != ticket.blocks())
    throw std::logic_error("scoreboard: a read has one stamp per block");
  leave(ticket, Kind::read);
  if (ticket.blocks() == 0) return nullptr;
  const std::uint64_t now = tick_;
  const Mismatch* result = nullptr;
  const std::uint64_t last = in_flight_.last_unit(ticket);
  if (ok) checked_blocks_ += ticket.blocks();
  for (std::uint64_t unit = in_flight_.first_unit(ticket); unit <= last; ++unit) {
    const Piece here = piece(ticket, unit);
    const std::uint16_t state = states_.read(unit);
    bool right = true;
    if (state == k_in_side) {
      right = check_side(ticket, here, ok && result == nullptr ? data : std::span<const Stamp>{}, now);
    } else if (ok && result == nullptr) {
      const std::uint64_t first = units_.first_block(unit) + here.first;
      Stamp expected = units_.stamp(first, value_of(state));
      for (std::uint32_t i = 0; i < here.count && right; ++i, expected = following_stamp(expected)) {
        const Stamp got = data[first + i - ticket.lba()];
        if (got == expected) continue;
        right = false;
        explain(ticket, first + i, got, data, now);
      }
    }
    if (!right && result == nullptr) result = &mismatch_;
  }
  if (result != nullptr) ++mismatches_;
  return result;
}

/// What was read of a whole unit may come from one write, or is zeros.
bool Scoreboard::one_write(std::span<const Stamp> data) {
  for (std::size_t i = 1; i < data.size(); ++i) {
    if (data[i] != following_stamp(data[i - 1])) return false;
  }
  return true;
}

// ------------------------------------------------------------------------------------------------------------------
// snapshots

void Scoreboard::archive(Archive& a) {
  if (in_flight() != 0) throw std::logic_error("scoreboard: a snapshot needs an idle drive");
  std::uint64_t blocks = units_.blocks();
  std::uint32_t per_unit = units_.per_unit();
  a(blocks);
  a(per_unit);
  if (blocks != units_.blocks() || per_unit != units_.per_unit())
    throw ArchiveError("snapshot is of a drive of another size");
  a(tick_);
  states_.archive(a);
  side_.archive(a);
  if (a.saving()) return;
  // What a fill has left by its rule is in no entry.
  for (std::size_t unit = states_.next_touched(states_.rule().upto(), states_.size()); unit < states_.size();
       unit = states_.next_touched(unit + 1, states_.size())) {
    if (states_.read(unit) == k_in_side && !side_.has(unit))
      throw ArchiveError("snapshot is damaged: blocks of a unit that are nowhere");
  }
}

std::size_t Scoreboard::memory_bytes() const {
  return states_.touched_bytes() + states_.size() / decltype(states_)::k_leaf * sizeof(std::uint32_t) +
         side_.memory_bytes();
}

}  // namespace tlmssd
