#include "testbench/scoreboard/side_table.h"

#include <algorithm>
#include <utility>

namespace tlmssd {

SideTable::Index SideTable::make(std::uint64_t unit, std::uint16_t value, std::uint16_t last) {
  if ((count_ + 1) * 3 > index_.size() * 2) grow_index();
  Index entry = 0;
  if (free_.empty()) {
    entry = static_cast<Index>(entries_.size());
    entries_.emplace_back();
    states_.resize(states_.size() + units_.per_unit());
  } else {
    entry = free_.back();
    free_.pop_back();
  }
  entries_[entry] = Entry{};
  entries_[entry].unit = static_cast<Lpn>(unit);
  entries_[entry].last = last;
  std::fill_n(&states_[std::size_t{entry} * units_.per_unit()], units_.per_unit(), value);
  index_[find_slot(unit)] = {static_cast<Lpn>(unit), entry};
  ++count_;
  return entry;
}

/// Frees the entry and closes the gap in the index (backward shift).
void SideTable::drop(Index entry) {
  const std::size_t mask = index_.size() - 1;
  std::size_t gap = find_slot(entries_[entry].unit);
  for (std::size_t slot = (gap + 1) & mask; !index_[slot].empty(); slot = (slot + 1) & mask) {
    const std::size_t home = hash(index_[slot].unit);
    if (((slot - home) & mask) < ((slot - gap) & mask)) continue;
    index_[gap] = index_[slot];
    gap = slot;
  }
  index_[gap] = {};
  free_.push_back(entry);
  --count_;
}

void SideTable::grow_index() {
  std::vector<Slot> old(index_.size() * 2);
  old.swap(index_);
  --shift_;
  for (const Slot& slot : old) {
    if (!slot.empty()) index_[find_slot(slot.unit)] = slot;
  }
}

void SideTable::contend(Index entry) {
  Entry& of = entries_[entry];
  of.lists = take_lists();
  const std::span<const std::uint16_t> held = states(entry);
  of.even = std::all_of(held.begin(), held.end(), [&](std::uint16_t value) { return value == held[0]; });
  of.begun = of.kept = 0;
  const std::uint16_t* const all = held.data();  // of blocks beyond the drive, too
  for (std::uint32_t i = 0; i < (of.even ? 1 : units_.per_unit()); ++i) lists_[of.lists + i].start(all[i]);
}

void SideTable::settle(Index entry) {
  Entry& of = entries_[entry];
  const std::span<std::uint16_t> held = states(entry);
  for (std::uint32_t i = 0; i < held.size(); ++i) held[i] = lists_[of.lists + (of.even ? 0 : i)].first();
  free_lists_.push_back(std::exchange(of.lists, k_none));
}

std::uint32_t SideTable::take_lists() {
  if (free_lists_.empty()) {
    lists_.resize(lists_.size() + units_.per_unit());
    return static_cast<std::uint32_t>(lists_.size()) - units_.per_unit();
  }
  const std::uint32_t lists = free_lists_.back();
  free_lists_.pop_back();
  return lists;
}

void SideTable::split(Index entry) {
  Entry& of = entries_[entry];
  if (!std::exchange(of.even, false)) return;
  for (std::uint32_t i = 1; i < units_.per_unit(); ++i) lists_[of.lists + i] = lists_[of.lists];
}

std::size_t SideTable::memory_bytes() const {
  return entries_.capacity() * sizeof(Entry) + states_.capacity() * sizeof(std::uint16_t) +
         index_.capacity() * sizeof(Slot) + lists_.capacity() * sizeof(Candidates);
}

/// By ascending units, so that the same content gives the same bytes.
void SideTable::archive(Archive& a) {
  std::uint64_t count = count_;
  a(count);
  std::vector<Index> order;
  if (a.saving()) {
    for (const Slot& slot : index_) {
      if (!slot.empty()) order.push_back(slot.entry);
    }
    std::sort(order.begin(), order.end(),
              [&](Index x, Index y) { return entries_[x].unit < entries_[y].unit; });
  } else {
    *this = SideTable(units_);
  }
  for (std::uint64_t n = 0; n < count; ++n) {
    Lpn unit = a.saving() ? entries_[order[n]].unit : 0;
    a(unit);
    if (unit >= units_.count()) throw ArchiveError("snapshot is damaged: unit beyond the drive");
    const Index entry = a.saving() ? order[n] : make(unit, 0, 0);
    a(entries_[entry].last);
    a.bytes(&states_[std::size_t{entry} * units_.per_unit()], units_.per_unit() * sizeof(std::uint16_t));
    std::uint8_t contended = entries_[entry].contended() ? 1 : 0;
    a(contended);
    if (contended == 0) continue;
    if (a.saving()) {
      split(entry);
    } else {
      entries_[entry].lists = take_lists();
    }
    for (std::uint32_t i = 0; i < units_.per_unit(); ++i) lists_[entries_[entry].lists + i].archive(a);
  }
}

}  // namespace tlmssd
