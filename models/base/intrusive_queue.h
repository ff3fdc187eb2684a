// First in, first out, of items that carry their own link: nothing is allocated, and an item knows
// whether it is in a queue, so that to put it into a second one is refused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <stdexcept>
#include <utility>

namespace tlmssd {

/// `Item` has a pointer `next` to its own kind (or a base of it), null while it is in no queue.
/// With a pointer `previous` as well, items may leave from the middle. The queue owns nothing; what
/// is destroyed while it is in a queue must leave it first.
template <class Item>
class IntrusiveQueue {
  static constexpr bool k_both_ways = requires(Item & item) { item.previous; };

 public:
  IntrusiveQueue() = default;
  IntrusiveQueue(const IntrusiveQueue&) = delete;
  IntrusiveQueue& operator=(const IntrusiveQueue&) = delete;
  IntrusiveQueue(IntrusiveQueue&& other) noexcept
      : first_(std::exchange(other.first_, nullptr)),
        last_(std::exchange(other.last_, nullptr)),
        size_(std::exchange(other.size_, 0)) {}
  IntrusiveQueue& operator=(IntrusiveQueue&& other) noexcept {
    first_ = std::exchange(other.first_, nullptr);
    last_ = std::exchange(other.last_, nullptr);
    size_ = std::exchange(other.size_, 0);
    return *this;
  }
  ~IntrusiveQueue() = default;

  [[nodiscard]] bool empty() const { return first_ == nullptr; }
  [[nodiscard]] std::uint32_t size() const { return size_; }
  /// The oldest item; null: there is none.
  [[nodiscard]] Item* front() const { return first_; }
  /// The youngest item; null: there is none.
  [[nodiscard]] Item* back() const { return last_; }
  /// The item that follows `item`; null: it is the last.
  [[nodiscard]] static Item* after(const Item& item) {
    return item.next == &item ? nullptr : static_cast<Item*>(item.next);
  }

  /// Throws std::logic_error when the item is in a queue already; so does push_front().
  void push(Item& item) {
    if (item.next != nullptr) refuse("an item of a queue was put into another one");
    item.next = &item;
    if constexpr (k_both_ways) item.previous = last_;
    if (last_ == nullptr) {
      first_ = &item;
    } else {
      last_->next = &item;
    }
    last_ = &item;
    ++size_;
  }
  void push_front(Item& item) {
    if (item.next != nullptr) refuse("an item of a queue was put into another one");
    if (first_ == nullptr) {
      push(item);
      return;
    }
    item.next = first_;
    if constexpr (k_both_ways) first_->previous = &item;
    first_ = &item;
    ++size_;
  }
  /// Takes the oldest item out; there must be one.
  Item& pop() {
    Item& item = *first_;
    first_ = after(item);
    item.next = nullptr;
    --size_;
    if (first_ == nullptr) {
      last_ = nullptr;
    } else if constexpr (k_both_ways) {
      first_->previous = nullptr;
    }
    return item;
  }
  /// Takes `item` out, wherever in this queue it is. Throws std::logic_error when it is in none.
  void erase(Item& item)
    requires k_both_ways
  {
    if (item.next == nullptr) refuse("an item was taken out of a queue that it was not in");
    Item* const next = after(item);
    auto* const previous = static_cast<Item*>(std::exchange(item.previous, nullptr));
    item.next = nullptr;
    --size_;
    if (next == nullptr) {
      last_ = previous;
    } else {
      next->previous = previous;
    }
    if (previous == nullptr) {
      first_ = next;
    } else {
      previous->next = next == nullptr ? previous : next;
    }
  }

  /// From the oldest to the youngest; the queue must not change meanwhile.
  class Iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = Item;
    using difference_type = std::ptrdiff_t;
    using pointer = Item*;
    using reference = Item&;
    Iterator() = default;
    explicit Iterator(Item* at) : at_(at) {}
    Item& operator*() const { return *at_; }
    Item* operator->() const { return at_; }
    Iterator& operator++() {
      at_ = after(*at_);
      return *this;
    }
    Iterator operator++(int) {
      Iterator before = *this;
      ++*this;
      return before;
    }
    bool operator==(const Iterator&) const = default;

   private:
    Item* at_ = nullptr;
  };
  [[nodiscard]] Iterator begin() const { return Iterator(first_); }
  [[nodiscard]] Iterator end() const { return Iterator(); }

 private:
  [[noreturn, gnu::noinline, gnu::cold]] static void refuse(const char* why) { throw std::logic_error(why); }

  Item* first_ = nullptr;
  Item* last_ = nullptr;  // points at itself: so an item in a queue has a `next` that is not null
  std::uint32_t size_ = 0;
};

}  // namespace tlmssd
