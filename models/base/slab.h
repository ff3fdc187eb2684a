// Small objects that come and go all the time, kept for good and handed out from a free list: one
// at a time, or in slabs.
#pragma once

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <vector>

namespace tlmssd {

/// Items that are kept for good and handed out again, the one given back last first. `Item` has a
/// pointer `next` as IntrusiveQueue wants it, which is the user's while the item is out; one that
/// is in a queue, or has been given back already, is refused.
template <class Item>
class Pool {
 public:
  /// A free item as it was given back; when there is none, what `make()` returns (a unique_ptr).
  template <class Make>
  Item& take(Make make) {
    if (free_ == nullptr) {
      all_.push_back(make());
      return *all_.back();
    }
    Item& item = *free_;
    free_ = item.next == &item ? nullptr : static_cast<Item*>(item.next);
    item.next = nullptr;
    return item;
  }
  Item& take() {
    return take([] { return std::make_unique<Item>(); });
  }
  void give(Item& item) {
    if (item.next != nullptr) refuse();
    item.next = free_ == nullptr ? &item : free_;
    free_ = &item;
  }
  /// Every item that was ever made, in that order, free or not.
  [[nodiscard]] const std::vector<std::unique_ptr<Item>>& all() const { return all_; }

 private:
  [[noreturn, gnu::noinline, gnu::cold]] static void refuse() {
    throw std::logic_error("an item was given back to its pool twice, or while it was in a queue");
  }
  std::vector<std::unique_ptr<Item>> all_;
  Item* free_ = nullptr;  // the last points at itself, as in IntrusiveQueue
};

/// A free item; when there is none, `slab` more are made. `next` is the item's own pointer by which
/// the free ones hang together; its owner puts an item back by std::exchange(free, &item).
template <std::size_t slab, class Item>
Item& take_from_slabs(Item*& free, std::vector<std::unique_ptr<Item[]>>& slabs, Item* Item::*next) {
  if (free == nullptr) {
    slabs.push_back(std::make_unique<Item[]>(slab));
    for (std::size_t i = 0; i < slab; ++i) {
      slabs.back()[i].*next = free;
      free = &slabs.back()[i];
    }
  }
  Item& item = *free;
  free = item.*next;
  return item;
}

}  // namespace tlmssd
