// Units whose blocks differ (after partial writes) or are contended, found by their number.
//
// An entry has a state for each block. A contended unit has lists of candidates besides: one as
// long as commands touch all of it, one for each block after that.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/base/archive.h"
#include "models/base/mixing.h"
#include "models/base/prefetch.h"
#include "testbench/scoreboard/candidates.h"
#include "testbench/scoreboard/tracking_units.h"

namespace tlmssd {

class SideTable {
 public:
  using Index = std::uint32_t;
  struct Entry {
    Lpn unit = k_no_unit;
    std::uint32_t lists = k_none;  ///< contended: where its lists of candidates begin
    std::uint32_t begun = 0;       ///< changes that have begun since the lists were pruned
    std::uint32_t kept = 0;        ///< candidates in the longest list when they had been
    std::uint16_t last = 0;        ///< last sequence number given out
    bool even = false;             ///< the first list is for all blocks
    [[nodiscard]] bool contended() const { return lists != k_none; }
  };

  explicit SideTable(const TrackingUnits& units) : units_(units), index_(64) {}

  /// The entry of a unit that has one. Numbers of entries stay until they are dropped.
  [[nodiscard]] Index find(std::uint64_t unit) const { return index_[find_slot(unit)].entry; }
  [[nodiscard]] bool has(std::uint64_t unit) const { return find(unit) != k_none; }
  /// The unit, which may have none, will be asked for soon.
  void prefetch(std::uint64_t unit) const {
    if (count_ == 0) return;
    const Index entry = find(unit);
    if (entry == k_none) return;
    prefetch_line(&entries_[entry]);
    prefetch_lines(&states_[std::size_t{entry} * units_.per_unit()],
                   units_.per_unit() * sizeof(std::uint16_t));
  }
  /// Makes one for a unit that has none: all blocks hold the write `value` (0: zeros).
  Index make(std::uint64_t unit, std::uint16_t value, std::uint16_t last);
  void drop(Index entry);
  /// Until the next make().
  [[nodiscard]] Entry& operator[](Index entry) { return entries_[entry]; }
  [[nodiscard]] const Entry& operator[](Index entry) const { return entries_[entry]; }
  /// What each block of the unit holds, unless it is contended: the sequence number of a write, 0:
  /// zeros. Until the next make().
  [[nodiscard]] std::span<std::uint16_t> states(Index entry) {
    return {&states_[std::size_t{entry} * units_.per_unit()], units_.width(entries_[entry].unit)};
  }

  /// Keeps lists from now on, which begin with the states.
  void contend(Index entry);
  /// Takes the states from the lists, which agree, and keeps none any more.
  void settle(Index entry);
  /// From now on each block of the unit has a list of its own.
  void split(Index entry);
  /// The lists of `count` blocks from `first` on. Until the next contend().
  [[nodiscard]] std::span<Candidates> lists(Index entry, std::uint32_t first, std::uint32_t count) {
    const Entry& of = entries_[entry];
    return {&lists_[of.lists + (of.even ? 0 : first)], of.even ? 1 : count};
  }

  [[nodiscard]] std::size_t size() const { return count_; }
  [[nodiscard]] std::size_t memory_bytes() const;
  void archive(Archive& a);

 private:
  static constexpr std::uint32_t k_none = ~std::uint32_t{0};
  struct Slot {
    Lpn unit = k_no_unit;
    Index entry = k_none;  ///< k_none: the slot is empty
    [[nodiscard]] bool empty() const { return entry == k_none; }
  };
  /// Where the unit's index is, or the empty slot where it belongs.
  [[nodiscard]] std::size_t find_slot(std::uint64_t unit) const {
    const std::size_t mask = index_.size() - 1;
    std::size_t slot = hash(unit);
    while (!index_[slot].empty() && index_[slot].unit != unit) slot = (slot + 1) & mask;
    return slot;
  }
  void grow_index();
  std::uint32_t take_lists();
  [[nodiscard]] std::size_t hash(std::uint64_t unit) const {
    return static_cast<std::size_t>((unit * k_golden) >> shift_);
  }

  TrackingUnits units_;
  std::vector<Entry> entries_;
  std::vector<std::uint16_t> states_;  ///< per_unit() for each entry
  std::vector<Index> free_;
  std::vector<Slot> index_;  ///< open addressing by unit
  unsigned shift_ = 58;
  std::size_t count_ = 0;
  std::vector<Candidates> lists_;  ///< per_unit() for each contended unit
  std::vector<std::uint32_t> free_lists_;
};

}  // namespace tlmssd
