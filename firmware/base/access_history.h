// How often units were accessed lately: a list in LRU order, with the number of accesses of each
// unit since it came in. What is accessed again goes to the front; the list being full, the unit
// that was accessed longest ago is forgotten with its count.
//
// O(1) for everything; 16 bytes per unit that was ever on the list at the same time, and its place
// in a hash table.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "firmware/base/unit_hash.h"
#include "firmware/base/use_order.h"
#include "models/base/archive.h"

namespace tlmssd::firmware {

class AccessHistory {
 public:
  /// @param most  units on the list at a time, at least 1
  explicit AccessHistory(std::uint64_t most) : most_(std::max<std::uint64_t>(most, 1)) {}

  /// `unit` has been accessed. Returns how often since it came in, this access included: 1 when it
  /// has just come.
  std::uint32_t access(Lpn unit) {
    std::uint32_t i = index_.find(unit);
    if (i == UnitHash::k_none) {
      i = take(unit);
    } else {
      order_.unlink(entries_, i);
    }
    order_.append(entries_, i);
    return entries_[i].count += entries_[i].count < k_most_count ? 1 : 0;
  }
  /// How often `unit` was accessed since it came in; 0 when it is not on the list.
  [[nodiscard]] std::uint32_t count(Lpn unit) const {
    const std::uint32_t i = index_.find(unit);
    return i == UnitHash::k_none ? 0 : entries_[i].count;
  }
  /// The accesses of `unit` no longer count.
  void forget(Lpn unit) {
    const std::uint32_t i = index_.find(unit);
    if (i == UnitHash::k_none) return;
    order_.unlink(entries_, i);
    index_.erase(unit);
    free_.push_back(i);
  }
  [[nodiscard]] std::uint64_t size() const { return entries_.size() - free_.size(); }

  void archive(Archive& a) {
    std::vector<Lpn> units;
    std::vector<std::uint32_t> counts;
    for (std::uint32_t i = order_.oldest(); i != UnitHash::k_none; i = entries_[i].newer) {
      units.push_back(entries_[i].unit);
      counts.push_back(entries_[i].count);
    }
    a(units);
    a(counts);
    if (a.saving()) return;
    *this = AccessHistory(most_);
    for (std::size_t n = 0; n < units.size(); ++n) {
      const std::uint32_t i = take(units[n]);
      entries_[i].count = counts[n];
      order_.append(entries_, i);
    }
  }

 private:
  static constexpr std::uint32_t k_most_count = 0xFFFFFFFFU;
  struct Entry {
    Lpn unit;
    std::uint32_t count;
    std::uint32_t older;
    std::uint32_t newer;
  };
  /// A place for a unit that is not on the list, not yet linked.
  std::uint32_t take(Lpn unit) {
    std::uint32_t i = order_.oldest();
    if (!free_.empty()) {
      i = free_.back();
      free_.pop_back();
    } else if (entries_.size() < most_) {
      i = static_cast<std::uint32_t>(entries_.size());
      entries_.emplace_back();
    } else {
      order_.unlink(entries_, i);
      index_.erase(entries_[i].unit);
    }
    entries_[i] = {unit, 0, UnitHash::k_none, UnitHash::k_none};
    index_.insert(unit, i);
    return i;
  }

  std::uint64_t most_;
  UnitHash index_;
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> free_;
  UseOrder<Entry> order_;
};

}  // namespace tlmssd::firmware
