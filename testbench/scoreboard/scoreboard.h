// The check of every read: what each logical block may hold, by the rules of a linearizable
// register per logical block.
//
// A block that no other command touches holds the value of its last write (or zeros when trimmed or
// never written). While commands overlap in time, a read may return the value at its begin or that
// of any write in flight during it; overlapping writes may win in either order until a read has
// seen one. The exact criterion is Gibbons and Korach's for registers with unique values (SIAM J.
// Comput. 26, 1997): of two values, not both may end before the other's last use starts. A failed
// write may have happened or not. Zeros are no unique value: where two trims and a write overlap, a
// read of zeros is attributed only when one trim alone explains it, so there are no false alarms
// but an impossible order among such commands can pass.
//
// State: 16 bits for each touched tracking unit (a 15-bit write sequence number that wraps, and
// "zeros now"), and a side table for units whose blocks differ (partial writes) or are contended. A
// contended unit has one list of possible values as long as commands touch all of it, one for each
// block after that. Data are stamps (content.h), made from the block's address, so that blocks of
// one unit that changed places are noticed too.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "models/base/archive.h"
#include "models/base/content.h"
#include "models/base/sparse_array.h"
#include "models/base/types.h"

namespace tlmssd {

class Scoreboard;

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

/// One command, or one range of a trim, from its begin to its end. Lives with its command; must not
/// move in between.
class ScoreTicket {
 public:
  ScoreTicket() = default;
  ScoreTicket(const ScoreTicket&) = delete;
  ScoreTicket& operator=(const ScoreTicket&) = delete;
  [[nodiscard]] bool active() const { return claim_.kind != Kind::idle; }

 private:
  friend class Scoreboard;
  enum class Kind : std::uint8_t { idle, read, write, zeroes };
  struct Region;
  /// Presence of a command in one region of the address space, or among the wide ones.
  struct Claim {
    ScoreTicket* ticket = nullptr;
    Region* region = nullptr;  ///< null: among the wide ones
    Claim* older = nullptr;    ///< neighbours in the region
    Claim* newer = nullptr;
    Claim* of_ticket = nullptr;  ///< the ticket's next claim
    std::uint32_t place = 0;     ///< of a wide one, among those
    std::uint8_t units = 0;      ///< of the region, a bit each
    Kind kind = Kind::idle;      ///< of the command
  };
  static constexpr std::uint64_t k_region_units = 2;  ///< at most as many as Claim::units has bits
  /// A region with commands in flight, in the chain of its bucket.
  struct Region {
    std::uint64_t number = 0;
    Region* next = nullptr;  ///< in the bucket, or free
    Claim* oldest = nullptr;
    Claim* newest = nullptr;
    std::uint32_t reads[k_region_units] = {};    ///< in flight on each unit
    std::uint32_t changes[k_region_units] = {};  ///< writes, trims and write zeroes
  };
  std::uint64_t lba_ = 0;
  std::uint64_t blocks_ = 0;
  std::uint64_t begin_ = 0;  ///< tick
  Claim claim_;              ///< the first, or only one
};

class Scoreboard {
 public:
  using Ticket = ScoreTicket;

  /// `blocks` logical blocks; `blocks_per_unit` of them are tracked together (at least 1; for
  /// 512-byte blocks usually 8).
  Scoreboard(std::uint64_t blocks, std::uint32_t blocks_per_unit);
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
  /// A command on these blocks will begin soon: a chance to fetch what it will touch into the
  /// caches.
  void prefetch(std::uint64_t lba) const { units_.prefetch(unit_of(lba)); }
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
  [[nodiscard]] bool untouched() const { return units_.touched_bytes() == 0 && units_.rule().upto() == 0; }
  /// The first `units` units have been written once, whole; untouched() holds.
  void written_once(std::uint64_t units) { units_.rule() = WrittenOnce(units); }

  [[nodiscard]] std::uint64_t blocks() const { return blocks_; }
  /// Blocks compared so far, and reads that were wrong.
  [[nodiscard]] std::uint64_t checked_blocks() const { return checked_blocks_; }
  [[nodiscard]] std::uint64_t mismatches() const { return mismatches_; }
  /// Commands in flight.
  [[nodiscard]] std::uint64_t in_flight() const { return in_flight_; }
  /// Units held in the side table.
  [[nodiscard]] std::size_t side_units() const { return side_count_; }
  /// Bytes of memory in use for content.
  [[nodiscard]] std::size_t memory_bytes() const;

  /// Saves or restores the content; no command may be in flight.
  void archive(Archive& a);

 private:
  using Claim = ScoreTicket::Claim;
  using Region = ScoreTicket::Region;
  using Kind = ScoreTicket::Kind;
  static constexpr std::uint16_t k_sequence = 0x7FFF;  ///< the sequence bits of a unit's state
  static constexpr std::uint16_t k_zeros_now =
      0x8000;  ///< the unit is zeros; the sequence is that of its last write
  static constexpr std::uint16_t k_in_side = 0x8000;  ///< as a whole: the state is in the side table
  static constexpr std::uint64_t k_open = ~std::uint64_t{0};
  static constexpr std::uint32_t k_none = ~std::uint32_t{0};
  static constexpr std::uint64_t k_region_units = ScoreTicket::k_region_units;
  static constexpr std::uint64_t k_wide_regions = 2048;

  /// A value that a contended block may hold; instants are ticks.
  struct Candidate {
    std::uint64_t begin = 0;          ///< of its write; 0: it was there before
    std::uint64_t last_use = 0;       ///< latest begin among its write and the reads that saw it
    std::uint64_t first_end = 0;      ///< earliest end among its write and the reads that saw it
    std::uint64_t deadline = k_open;  ///< a failed write has happened before this or never
    std::uint16_t value = 0;          ///< write sequence number, 0: zeros
    [[nodiscard]] std::uint64_t ended() const { return std::min(first_end, deadline); }
  };
  using Candidates = std::vector<Candidate>;  ///< in the order in which their writes began
  /// A unit whose blocks differ or are contended. Its blocks' states are in side_states_.
  struct SideUnit {
    Lpn unit = k_no_unit;
    std::uint32_t lists = k_none;  ///< contended: where its lists of candidates begin in lists_
    std::uint32_t begun = 0;       ///< changes that have begun since the lists were pruned
    std::uint32_t kept = 0;        ///< candidates in the longest list when they had been
    std::uint16_t last = 0;        ///< last sequence number given out
    bool even = false;             ///< the first list is for all blocks
  };
  /// The part of a command that lies in one unit.
  struct Piece {
    std::uint64_t unit;
    std::uint32_t first;  ///< block in unit
    std::uint32_t count;
    bool whole;
  };

  static std::uint16_t after(std::uint16_t sequence) {
    return sequence == k_sequence ? std::uint16_t{1} : static_cast<std::uint16_t>(sequence + 1);
  }
  [[nodiscard]] Stamp stamp(std::uint64_t lba, std::uint16_t value) const {
    if (value == 0) return k_zeros;
    const std::uint64_t unit = unit_of(lba);
    return make_stamp(static_cast<Lpn>(unit), value, static_cast<std::uint32_t>(lba - unit * per_unit_));
  }
  [[nodiscard]] std::uint64_t unit_of(std::uint64_t lba) const {
    return per_unit_ == 1 ? lba : lba / per_unit_;
  }
  [[nodiscard]] Piece piece(const Ticket& ticket, std::uint64_t unit) const;
  [[nodiscard]] std::uint32_t width(std::uint64_t unit) const;
  [[nodiscard]] bool touches(const Ticket& ticket, std::uint64_t unit) const {
    return ticket.blocks_ != 0 && unit >= unit_of(ticket.lba_) &&
           unit <= unit_of(ticket.lba_ + ticket.blocks_ - 1);
  }

  /// The write sequence number of what was read at `lba`; 0 when no write gives such a stamp.
  [[nodiscard]] std::uint16_t sequence_of(std::uint64_t lba, Stamp stamp) const;

  // Who is in flight where.
  void enter(Ticket& ticket, Kind kind, std::uint64_t lba, std::uint64_t blocks);
  void leave(Ticket& ticket, Kind kind);
  void contend(const Ticket& ticket);
  void contend_with(const Ticket& ticket, const Ticket& other, std::uint64_t first_unit,
                    std::uint64_t last_unit);
  [[nodiscard]] std::uint8_t units_in(const Ticket& ticket, std::uint64_t region) const;
  void claim(Ticket& ticket);
  [[nodiscard]] Region* find_region(std::uint64_t number) const;
  Region& make_region(std::uint64_t number);
  void drop_region(Region& region);
  void grow_buckets();
  static constexpr std::size_t k_slab = 256;
  [[nodiscard]] std::size_t bucket_of(std::uint64_t region) const {
    return static_cast<std::size_t>((region * 0x9E3779B97F4A7C15U) >> bucket_shift_);
  }
  [[nodiscard]] bool is_changing(std::uint64_t unit) const;
  /// Some change in flight on the unit; null: there is none.
  [[nodiscard]] const Ticket* change_of(std::uint64_t unit) const;
  /// Begin of the oldest read in flight on the unit; k_open: there is none.
  [[nodiscard]] std::uint64_t oldest_read(std::uint64_t unit) const;

  // Side table.
  [[nodiscard]] std::size_t find_slot(std::uint64_t unit) const;
  [[nodiscard]] std::uint32_t find(std::uint64_t unit) const { return side_index_[find_slot(unit)]; }
  std::uint32_t make_side(std::uint64_t unit);
  void drop_side(std::uint32_t side);
  void grow_side_index();
  void compact(std::uint32_t side);
  std::uint16_t* states(std::uint32_t side) { return &side_states_[std::size_t{side} * per_unit_]; }
  [[nodiscard]] std::size_t side_hash(std::uint64_t unit) const {
    return static_cast<std::size_t>((unit * 0x9E3779B97F4A7C15U) >> side_shift_);
  }

  // Contended units.
  void track(std::uint64_t unit);
  std::uint32_t take_lists();
  /// From now on each block of the unit has a list of its own.
  void split(std::uint32_t side);
  /// The lists of the part of a unit.
  [[nodiscard]] std::span<Candidates> lists_of(const SideUnit& side, const Piece& piece) {
    return {&lists_[side.lists + (side.even ? 0 : piece.first)], side.even ? 1 : piece.count};
  }
  [[nodiscard]] static Candidates::iterator find_candidate(Candidates& list, const Ticket& writer);
  void settle(std::uint32_t side, std::uint64_t now);
  static void prune(Candidates& list, std::uint64_t horizon);
  [[nodiscard]] static bool admits(const Candidates& list, const Candidate& candidate, std::uint64_t begin,
                                   std::uint64_t now);
  [[nodiscard]] bool see(Candidates& list, std::uint64_t lba, Stamp got, std::uint64_t begin,
                         std::uint64_t now) const;
  void end_change(Ticket& ticket, Kind kind, bool ok);
  void end_change_in_side(const Ticket& ticket, const Piece& piece, bool ok);
  void apply(const Piece& piece, bool zeroes);
  void begin_change_in_side(const Ticket& ticket, const Piece& piece, std::uint16_t& sequence);
  bool check_side(const Ticket& ticket, const Piece& piece, std::span<const Stamp> all, std::uint64_t now);
  [[nodiscard]] static bool one_write(std::span<const Stamp> data);

  void explain(const Ticket& ticket, std::uint64_t lba, Stamp got, std::span<const Stamp> data,
               std::uint64_t now);
  [[nodiscard]] std::uint16_t latest(std::uint64_t lba);
  void collect_expected(std::uint64_t lba, std::uint64_t begin, std::uint64_t now);
  void archive_side(Archive& a);
  static void archive_candidates(Archive& a, Candidates& list);

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

  std::uint64_t blocks_;
  std::uint32_t per_unit_;
  SparseArray<std::uint16_t, WrittenOnce> units_;

  std::vector<SideUnit> side_;
  std::vector<std::uint16_t> side_states_;
  std::vector<std::uint32_t> side_free_;
  std::vector<std::uint32_t> side_index_;  ///< open addressing by unit; k_none: empty
  unsigned side_shift_ = 58;
  std::size_t side_count_ = 0;
  std::vector<Candidates> lists_;  ///< per_unit_ for each contended unit
  std::vector<std::uint32_t> lists_free_;

  std::vector<Region*> buckets_;
  unsigned bucket_shift_ = 54;
  std::size_t regions_ = 0;
  std::vector<std::unique_ptr<Region[]>> region_slabs_;
  Region* free_regions_ = nullptr;
  std::vector<std::unique_ptr<Claim[]>> claim_slabs_;
  Claim* free_claims_ = nullptr;
  std::vector<Ticket*> wide_;

  std::uint64_t tick_ = 0;
  std::uint64_t in_flight_ = 0;
  std::uint64_t checked_blocks_ = 0;
  std::uint64_t mismatches_ = 0;
  Mismatch mismatch_;
};

}  // namespace tlmssd
