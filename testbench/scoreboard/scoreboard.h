// The check of every read: what each logical block may hold, by the rules of a linearizable
// register per logical block.
//
// A block that no other command touches holds the value of its last write (or zeros when trimmed or
// never written). While commands overlap in time, a read may return the value at its begin or that
// of any write in flight during it; overlapping writes may win in either order until a read has
// seen one (candidates.h). A failed write may have happened or not. Zeros are no unique value:
// there are no false alarms, but an impossible order among two trims and a write can pass.
//
// Where the host writes the same data to several units (contents.h), the same holds for them. What
// is told apart are data, not where they come from: a read answered from another unit or an older
// write is right if these are the same content, and wrong otherwise, as ever.
//
// State: 16 bits for each touched tracking unit (a 15-bit write sequence number that wraps, and
// "zeros now"), and a side table for units whose blocks differ or are contended. Data are stamps
// (content.h), made from the block's address, so that blocks of one unit that changed places are
// noticed too.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "models/base/archive.h"
#include "models/base/content.h"
#include "models/base/sparse_array.h"
#include "testbench/scoreboard/in_flight.h"
#include "testbench/scoreboard/side_table.h"
#include "testbench/scoreboard/tracking_units.h"

namespace tlmssd {

/// A read that returned what it must not.
struct Mismatch {
  enum class Kind : std::uint8_t {
    lost_write,     ///< the content before the last write
    stale,          ///< older content of this block
    not_trimmed,    ///< data where zeros are due
    zeros,          ///< zeros where data are due
    other_address,  ///< content of another block
    unknown,        ///< nothing that explains it
  };
  Kind kind = Kind::unknown;
  std::uint64_t lba = 0;
  Stamp got = k_zeros;
  std::vector<Stamp> expected;   ///< all that the read might have returned
  std::uint32_t writes_old = 0;  ///< lost_write, stale: how many writes behind
  std::uint64_t other_lba = 0;   ///< other_address: where the content belongs
  std::uint64_t first_lba = 0;   ///< the read command
  std::uint64_t blocks = 0;
  /// One line for people.
  [[nodiscard]] std::string text() const;
};

class Scoreboard {
 public:
  using Ticket = ScoreTicket;

  /// `blocks` logical blocks; `blocks_per_unit` of them are tracked together (at least 1; for
  /// 512-byte blocks usually 8). `contents`: of which units may hold the same; null: all data
  /// differ.
  Scoreboard(std::uint64_t blocks, std::uint32_t blocks_per_unit,
             std::shared_ptr<const Contents> contents = {});
  Scoreboard(const Scoreboard&) = delete;
  Scoreboard& operator=(const Scoreboard&) = delete;

  /// A write is submitted: fills `data` (one per block) with what it is to write.
  void begin_write(Ticket& ticket, std::uint64_t lba, std::uint64_t blocks, std::span<Stamp> data);
  /// The write has completed; not `ok`: it failed, and each block holds its old or the new content.
  void end_write(Ticket& ticket, bool ok);
  /// A trim or write zeroes of one range is submitted. A trim of many ranges takes a ticket for
  /// each.
  void begin_zeroes(Ticket& ticket, std::uint64_t lba, std::uint64_t blocks);
  void end_zeroes(Ticket& ticket, bool ok);
  /// The write, trim or write zeroes was refused: it has not happened, not even in part.
  void cancel(Ticket& ticket);
  /// prefetch() will be called for these blocks.
  void announce(std::uint64_t lba) const { states_.announce(units_.unit_of(lba)); }
  /// A command on these blocks will begin soon: a chance to fetch what it will touch into the
  /// caches.
  void prefetch(std::uint64_t lba) const {
    states_.prefetch(units_.unit_of(lba));
    side_.prefetch(units_.unit_of(lba));
    in_flight_.prefetch(units_.unit_of(lba));
  }
  /// The same of a command that will end soon.
  void prefetch(const Ticket& ticket) const { in_flight_.prefetch(ticket); }
  /// A read is submitted.
  void begin_read(Ticket& ticket, std::uint64_t lba, std::uint64_t blocks);
  /// The read has completed with `data` (one per block). Null when they are right or not `ok`;
  /// otherwise the first wrong block, valid until the next call.
  const Mismatch* end_read(Ticket& ticket, std::span<const Stamp> data, bool ok);

  /// Fills in what the `sequence`-th write of a whole unit leaves in it: one stamp per block, zeros
  /// behind the last block of the drive.
  void content(std::uint64_t unit, std::uint16_t sequence, std::span<Stamp> stamps) const;
  /// The drive holds what `times` writes of each whole unit leave; nothing has been written before.
  void all_written(std::uint16_t times);
  /// Nothing has ever been written or trimmed.
  [[nodiscard]] bool untouched() const { return states_.touched_bytes() == 0 && states_.rule().upto() == 0; }
  /// The first `units` units have been written once, whole; untouched() holds.
  void written_once(std::uint64_t units) { states_.rule() = WrittenOnce(units); }

  [[nodiscard]] std::uint64_t blocks() const { return units_.blocks(); }
  /// Blocks compared so far, and reads that were wrong.
  [[nodiscard]] std::uint64_t checked_blocks() const { return checked_blocks_; }
  [[nodiscard]] std::uint64_t mismatches() const { return mismatches_; }
  /// Commands in flight.
  [[nodiscard]] std::uint64_t in_flight() const { return in_flight_.commands(); }
  /// Units held in the side table.
  [[nodiscard]] std::size_t side_units() const { return side_.size(); }
  /// Bytes of memory in use for content.
  [[nodiscard]] std::size_t memory_bytes() const;

  /// Saves or restores the content; no command may be in flight.
  void archive(Archive& a);

 private:
  using Kind = ScoreTicket::Kind;
  using Piece = TrackingUnits::Piece;
  static constexpr std::uint16_t k_sequence = TrackingUnits::k_last_sequence;  ///< of a unit's state
  static constexpr std::uint16_t k_zeros_now =
      0x8000;  ///< the unit is zeros; the sequence is that of its last write
  static constexpr std::uint16_t k_in_side = 0x8000;  ///< as a whole: the state is in the side table

  /// What a unit that is not in the side table holds.
  [[nodiscard]] static std::uint16_t value_of(std::uint16_t state) {
    return (state & k_zeros_now) != 0 ? std::uint16_t{0} : state;
  }
  [[nodiscard]] Piece piece(const Ticket& ticket, std::uint64_t unit) const {
    return units_.piece(ticket.lba(), ticket.blocks(), unit);
  }

  void enter(Ticket& ticket, Kind kind, std::uint64_t lba, std::uint64_t blocks);
  void leave(Ticket& ticket, Kind kind);
  void end_change(Ticket& ticket, Kind kind, bool ok);
  void apply(const Piece& piece, bool zeroes);
  [[nodiscard]] static bool one_write(std::span<const Stamp> data);

  // Units in the side table.
  SideTable::Index make_side(std::uint64_t unit);
  void compact(SideTable::Index side);
  void track(std::uint64_t unit);
  void begin_change_in_side(const Ticket& ticket, const Piece& piece, std::uint16_t& sequence);
  void end_change_in_side(const Ticket& ticket, const Piece& piece, bool ok);
  bool check_side(const Ticket& ticket, const Piece& piece, std::span<const Stamp> all, std::uint64_t now);
  [[nodiscard]] bool see(Candidates& list, std::uint64_t lba, Stamp got, std::uint64_t begin,
                         std::uint64_t now) const;
  void settle(SideTable::Index side, std::uint64_t now);

  void explain(const Ticket& ticket, std::uint64_t lba, Stamp got, std::span<const Stamp> data,
               std::uint64_t now);
  [[nodiscard]] std::uint16_t latest(std::uint64_t lba) const;
  void collect_expected(std::uint64_t lba, std::uint64_t begin, std::uint64_t now);

  /// The first units hold their first write, the others none.
  class WrittenOnce {
   public:
    static constexpr bool k_fixed = false;
    WrittenOnce() = default;
    explicit WrittenOnce(std::uint64_t units) : units_(units) {}
    [[nodiscard]] std::uint64_t upto() const { return units_; }
    [[nodiscard]] std::uint16_t operator()(std::uint64_t unit) const { return unit < units_ ? 1 : 0; }
    void write(std::uint64_t unit, std::uint16_t* states, std::size_t count) const {
      std::fill_n(states, std::min<std::uint64_t>(count, units_ - std::min(units_, unit)), std::uint16_t{1});
    }
    void archive(Archive& a) { a(units_); }

   private:
    std::uint64_t units_ = 0;
  };

  TrackingUnits units_;
  SparseArray<std::uint16_t, WrittenOnce> states_;
  SideTable side_;
  InFlight in_flight_;
  std::uint64_t tick_ = 0;
  std::uint64_t checked_blocks_ = 0;
  std::uint64_t mismatches_ = 0;
  Mismatch mismatch_;
};

}  // namespace tlmssd
