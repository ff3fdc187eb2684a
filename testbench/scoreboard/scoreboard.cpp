// The scoreboard's commands: begin, end and the check of reads. Who is in flight and the contended
// units are in scoreboard_contention.cpp, the words for a mismatch in scoreboard_mismatch.cpp.
#include "testbench/scoreboard/scoreboard.h"

#include <algorithm>
#include <stdexcept>

namespace tlmssd {

Scoreboard::Scoreboard(std::uint64_t blocks, std::uint32_t blocks_per_unit)
    : blocks_(blocks),
      per_unit_(blocks_per_unit),
      units_(blocks_per_unit == 0 ? 0 : (blocks + blocks_per_unit - 1) / blocks_per_unit),
      side_index_(64, k_none),
      buckets_(1024, nullptr) {
  if (blocks_per_unit == 0) throw std::invalid_argument("scoreboard: a unit has at least one block");
  if (units_.size() >= k_no_unit)
    throw std::invalid_argument("scoreboard: more units than a logical unit number counts");
}

std::uint32_t Scoreboard::width(std::uint64_t unit) const {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(per_unit_, blocks_ - unit * per_unit_));
}

Scoreboard::Piece Scoreboard::piece(const Ticket& ticket, std::uint64_t unit) const {
  if (per_unit_ == 1) return {unit, 0, 1, true};
  const std::uint64_t start = unit * per_unit_;
  const std::uint64_t from = std::max(start, ticket.lba_);
  const std::uint64_t until = std::min(start + per_unit_, ticket.lba_ + ticket.blocks_);
  const auto count = static_cast<std::uint32_t>(until - from);
  return {unit, static_cast<std::uint32_t>(from - start), count, count == width(unit)};
}

// -------------------------------------------------------------------------------------------------------------------
// changes

void Scoreboard::begin_write(Ticket& ticket, std::uint64_t lba, std::uint64_t blocks, std::span<Stamp> data) {
  if (data.size() != blocks) throw std::logic_error("scoreboard: a write has one stamp per block");
  enter(ticket, Kind::write, lba, blocks);
  if (blocks == 0) return;
  const std::uint64_t last = unit_of(lba + blocks - 1);
  std::uint64_t at = lba;
  for (std::uint64_t unit = unit_of(lba); unit <= last; ++unit) {
    const Piece here = piece(ticket, unit);
    const std::uint16_t state = units_.read(unit);
    std::uint16_t sequence = after(state & k_sequence);
    if (state == k_in_side) begin_change_in_side(ticket, here, sequence);
    Stamp next = stamp(at, sequence);
    for (std::uint32_t i = 0; i < here.count; ++i, ++at, next = following_stamp(next)) data[at - lba] = next;
  }
}

void Scoreboard::begin_zeroes(Ticket& ticket, std::uint64_t lba, std::uint64_t blocks) {
  enter(ticket, Kind::zeroes, lba, blocks);
  if (blocks == 0 || side_count_ == 0) return;
  const std::uint64_t last = unit_of(lba + blocks - 1);
  for (std::uint64_t unit = unit_of(lba); unit <= last; ++unit) {
    if (!units_.touched(unit)) {
      unit |= decltype(units_)::k_leaf - 1;  // the rest of this leaf is untouched too
      continue;
    }
    if (units_.read(unit) != k_in_side) continue;
    std::uint16_t sequence = 0;
    begin_change_in_side(ticket, piece(ticket, unit), sequence);
  }
}

void Scoreboard::begin_read(Ticket& ticket, std::uint64_t lba, std::uint64_t blocks) {
  enter(ticket, Kind::read, lba, blocks);
  if (blocks != 0) units_.prefetch(unit_of(lba));
}

/// A change of a unit that is in the side table begins: the sequence number of a write, and
/// candidates when contended.
void Scoreboard::begin_change_in_side(const Ticket& ticket, const Piece& piece, std::uint16_t& sequence) {
  const std::uint32_t at = find(piece.unit);
  SideUnit& side = side_[at];
  const bool write = ticket.claim_.kind == Kind::write;
  if (write) sequence = after(side.last);
  if (side.lists == k_none) return;  // uncontended: takes effect at its end
  if (write) side.last = sequence;
  if (!piece.whole) split(at);
  Candidate candidate;
  candidate.begin = candidate.last_use = ticket.begin_;
  candidate.first_end = k_open;
  candidate.value = write ? sequence : std::uint16_t{0};
  for (Candidates& list : lists_of(side, piece)) list.push_back(candidate);
  ++side.begun;
}

void Scoreboard::content(std::uint64_t unit, std::uint16_t sequence, std::span<Stamp> stamps) const {
  const std::uint32_t blocks = width(unit);
  Stamp next = make_stamp(static_cast<Lpn>(unit), sequence);
  for (std::uint32_t i = 0; i < stamps.size(); ++i, next = following_stamp(next))
    stamps[i] = i < blocks ? next : k_zeros;
}

void Scoreboard::all_written(std::uint16_t times) {
  for (std::uint64_t unit = 0; unit < units_.size(); ++unit) units_.write(unit) = times;
}

void Scoreboard::end_write(Ticket& ticket, bool ok) {
  end_change(ticket, Kind::write, ok);
}
void Scoreboard::end_zeroes(Ticket& ticket, bool ok) {
  end_change(ticket, Kind::zeroes, ok);
}

void Scoreboard::end_change(Ticket& ticket, Kind kind, bool ok) {
  if (ticket.claim_.kind == kind && !ok && ticket.blocks_ != 0) {
    // A failed change leaves two possible contents, as a contended one does.
    for (std::uint64_t unit = unit_of(ticket.lba_); unit <= unit_of(ticket.lba_ + ticket.blocks_ - 1); ++unit)
      track(unit);
  }
  leave(ticket, kind);
  if (ticket.blocks_ == 0) return;
  const bool zeroes = kind == Kind::zeroes;
  const std::uint64_t last = unit_of(ticket.lba_ + ticket.blocks_ - 1);
  for (std::uint64_t unit = unit_of(ticket.lba_); unit <= last; ++unit) {
    if (zeroes && !units_.touched(unit)) {
      unit |= decltype(units_)::k_leaf - 1;
      continue;
    }
    const Piece here = piece(ticket, unit);
    if (here.whole && !zeroes) {
      std::uint16_t& state = units_.write(unit);
      if (state != k_in_side) {
        state = after(state & k_sequence);
        continue;
      }
    }
    if (units_.read(unit) == k_in_side && side_[find(unit)].lists != k_none) {
      end_change_in_side(ticket, here, ok);
    } else {
      apply(here, zeroes);
    }
  }
}

/// An uncontended change takes effect.
void Scoreboard::apply(const Piece& piece, bool zeroes) {
  const std::uint16_t state = units_.read(piece.unit);
  if (state != k_in_side) {
    if (zeroes && (state == 0 || (state & k_zeros_now) != 0)) return;
    if (zeroes && piece.whole) {
      units_.write(piece.unit) = state | k_zeros_now;
      return;
    }
  }
  const std::uint32_t side = state == k_in_side ? find(piece.unit) : make_side(piece.unit);
  if (!zeroes) side_[side].last = after(side_[side].last);
  const std::uint16_t value = zeroes ? std::uint16_t{0} : side_[side].last;
  std::fill_n(states(side) + piece.first, piece.count, value);
  compact(side);
}

// ---------------------------------------------------------------------------------------------------------------------
// reads

const Mismatch* Scoreboard::end_read(Ticket& ticket, std::span<const Stamp> data, bool ok) {
  if (ok && data.size() != ticket.blocks_)
    throw std::logic_error("scoreboard: a read has one stamp per block");
  leave(ticket, Kind::read);
  if (ticket.blocks_ == 0) return nullptr;
  const std::uint64_t now = tick_;
  const Mismatch* result = nullptr;
  const std::uint64_t last = unit_of(ticket.lba_ + ticket.blocks_ - 1);
  if (ok) checked_blocks_ += ticket.blocks_;
  for (std::uint64_t unit = unit_of(ticket.lba_); unit <= last; ++unit) {
    const Piece here = piece(ticket, unit);
    const std::uint16_t state = units_.read(unit);
    bool right = true;
    if (state == k_in_side) {
      right = check_side(ticket, here, ok && result == nullptr ? data : std::span<const Stamp>{}, now);
    } else if (ok && result == nullptr) {
      const std::uint16_t value = (state & k_zeros_now) != 0 ? std::uint16_t{0} : state;
      const std::uint64_t first = unit * per_unit_ + here.first;
      Stamp expected = stamp(first, value);
      for (std::uint32_t i = 0; i < here.count && right; ++i, expected = following_stamp(expected)) {
        const Stamp got = data[first + i - ticket.lba_];
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

/// Checks a unit of the side table (unless `data` is empty: the read failed) and forgets candidates
/// that it has ruled out.
bool Scoreboard::check_side(const Ticket& ticket, const Piece& piece, std::span<const Stamp> all,
                            std::uint64_t now) {
  const std::uint32_t side = find(piece.unit);
  const bool contended = side_[side].lists != k_none;
  const std::uint64_t first = piece.unit * per_unit_ + piece.first;
  const std::span<const Stamp> read = all.empty() ? all : all.subspan(first - ticket.lba_, piece.count);
  if (contended && !read.empty() && !(piece.whole && one_write(read))) split(side);
  const std::uint32_t checks = read.empty() ? 0 : contended && side_[side].even ? 1 : piece.count;
  bool right = true;
  for (std::uint32_t i = 0; i < checks && right; ++i) {
    right = contended ? see(lists_of(side_[side], piece)[i], first + i, read[i], ticket.begin_, now)
                      : read[i] == stamp(first + i, states(side)[piece.first + i]);
    if (!right) explain(ticket, first + i, read[i], all, now);
  }
  if (contended) settle(side, now);
  return right;
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
  if (in_flight_ != 0) throw std::logic_error("scoreboard: a snapshot needs an idle drive");
  std::uint64_t blocks = blocks_;
  std::uint32_t per_unit = per_unit_;
  a(blocks);
  a(per_unit);
  if (blocks != blocks_ || per_unit != per_unit_)
    throw ArchiveError("snapshot is of a drive of another size");
  a(tick_);
  units_.archive(a);
  archive_side(a);
}

std::size_t Scoreboard::memory_bytes() const {
  return units_.touched_bytes() + units_.size() / decltype(units_)::k_leaf * sizeof(std::uint32_t) +
         side_.capacity() * sizeof(SideUnit) + side_states_.capacity() * sizeof(std::uint16_t) +
         side_index_.capacity() * sizeof(std::uint32_t) + lists_.capacity() * sizeof(Candidates);
}

}  // namespace tlmssd
