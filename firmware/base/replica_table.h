// Which units, or other data that go by a number, have a replica, and the numbers by which the map
// knows the copies: slot n is unit number `first + n`, behind the logical ones, so that garbage
// collection, wear levelling and refresh move copies as they move data.
//
// A slot is taken for a unit when its copy is gathered, lives once that has been programmed, and is
// free again when the unit gets other data or the copy is given up. A slot that loses its unit
// while its program is under way is void until that has ended. Live slots stand in LRU order. O(1)
// for everything; 20 bytes per slot that was ever used.
#pragma once

#include <cstdint>
#include <vector>

#include "firmware/base/unit_hash.h"
#include "firmware/base/use_order.h"
#include "models/base/archive.h"

namespace tlmssd::firmware {

class ReplicaTable {
 public:
  using Slot = std::uint32_t;
  static constexpr Slot k_none = UnitHash::k_none;

  ReplicaTable(std::uint64_t first, std::uint32_t slots) : first_(first), most_(slots) {}

  [[nodiscard]] Slot find(Lpn unit) const { return index_.find(unit); }
  [[nodiscard]] bool live(Slot slot) const { return slots_[slot].state == State::live; }
  /// Unit number of the copy.
  [[nodiscard]] Lpn number(Slot slot) const { return static_cast<Lpn>(first_ + slot); }
  [[nodiscard]] Slot slot_of(Lpn number) const { return static_cast<Slot>(number - first_); }
  [[nodiscard]] Lpn unit(Slot slot) const { return slots_[slot].unit; }
  [[nodiscard]] std::uint32_t capacity() const { return most_; }
  /// Live ones.
  [[nodiscard]] std::uint32_t size() const { return live_; }
  /// The live slot used longest ago; k_none when there is none.
  [[nodiscard]] Slot oldest() const { return order_.oldest(); }
  /// There is a slot to be taken.
  [[nodiscard]] bool has_free() const { return !free_.empty() || slots_.size() < most_; }

  /// Takes a slot for the copy of `unit`, which has none; has_free() must hold.
  Slot take(Lpn unit) {
    Slot slot = static_cast<Slot>(slots_.size());
    if (free_.empty()) {
      slots_.emplace_back();
    } else {
      slot = free_.back();
      free_.pop_back();
    }
    slots_[slot] = {unit, k_none, k_none, State::coming};
    index_.insert(unit, slot);
    return slot;
  }
  /// The copy has been programmed. False: the slot was void, and is free now.
  bool committed(Slot slot) {
    if (slots_[slot].state == State::lost) {
      release(slot);
      return false;
    }
    slots_[slot].state = State::live;
    order_.append(slots_, slot);
    ++live_;
    return true;
  }
  /// The copy was gathered but will not be programmed.
  void failed(Slot slot) {
    if (slots_[slot].state == State::coming) index_.erase(slots_[slot].unit);
    release(slot);
  }
  void used(Slot slot) {
    order_.unlink(slots_, slot);
    order_.append(slots_, slot);
  }
  /// The copy is worth nothing any more. True: it was a live one.
  bool drop(Slot slot) {
    index_.erase(slots_[slot].unit);
    if (slots_[slot].state == State::coming) {
      slots_[slot].state = State::lost;
      return false;
    }
    order_.unlink(slots_, slot);
    --live_;
    release(slot);
    return true;
  }

  /// No copy may be on its way.
  void archive(Archive& a) {
    std::vector<Slot> slots;
    std::vector<Lpn> units;
    for (Slot slot = oldest(); slot != k_none; slot = slots_[slot].newer) {
      slots.push_back(slot);
      units.push_back(slots_[slot].unit);
    }
    a(slots);
    a(units);
    a(free_);
    if (a.saving()) return;
    const std::vector<Slot> free = free_;
    *this = ReplicaTable(first_, most_);
    free_ = free;
    slots_.resize(slots.size() + free.size());
    for (std::size_t n = 0; n < slots.size(); ++n) {
      slots_[slots[n]] = {units[n], k_none, k_none, State::live};
      index_.insert(units[n], slots[n]);
      order_.append(slots_, slots[n]);
      ++live_;
    }
  }

 private:
  enum class State : std::uint8_t { free, coming, live, lost };
  struct Place {
    Lpn unit = k_no_unit;
    Slot older = k_none;
    Slot newer = k_none;
    State state = State::free;
  };
  void release(Slot slot) {
    slots_[slot].state = State::free;
    free_.push_back(slot);
  }

  std::uint64_t first_;
  std::uint32_t most_;
  UnitHash index_;
  std::vector<Place> slots_;
  std::vector<Slot> free_;
  UseOrder<Place> order_;
  std::uint32_t live_ = 0;
};

}  // namespace tlmssd::firmware
