#include "models/common/agenda.h"

#include <stdexcept>
#include <string>
#include <utility>

namespace tlmssd {

namespace {
constexpr std::size_t k_arity = 4;
constexpr std::uint32_t k_livelock = 10'000'000;
}  // namespace

void Agenda::push(const Item& item) {
  std::size_t hole = heap_.size();
  heap_.push_back(item);
  while (hole > 0) {
    const std::size_t parent = (hole - 1) / k_arity;
    if (!item.before(heap_[parent])) break;
    heap_[hole] = heap_[parent];
    hole = parent;
  }
  heap_[hole] = item;
}

Agenda::Item Agenda::pop() {
  const Item top = heap_.front();
  const Item last = heap_.back();
  heap_.pop_back();
  const std::size_t count = heap_.size();
  if (count == 0) return top;
  std::size_t hole = 0;
  for (;;) {
    const std::size_t first = hole * k_arity + 1;
    if (first >= count) break;
    const std::size_t end = first + k_arity < count ? first + k_arity : count;
    std::size_t best = first;
    for (std::size_t child = first + 1; child < end; ++child) {
      if (heap_[child].before(heap_[best])) best = child;
    }
    if (!heap_[best].before(last)) break;
    heap_[hole] = heap_[best];
    hole = best;
  }
  heap_[hole] = last;
  return top;
}

void Agenda::grow_due() {
  std::vector<Item> longer(due_.empty() ? 64 : due_.size() * 2);
  for (std::size_t i = 0; i < due_count_; ++i) longer[i] = due_[(due_first_ + i) & (due_.size() - 1)];
  due_ = std::move(longer);
  due_first_ = 0;
}

bool Agenda::take(Picoseconds limit, Item& item) {
  const bool sorted = !heap_.empty();
  if (due_count_ != 0 && (!sorted || due_[due_first_].before(heap_.front()))) {
    if (due_[due_first_].when > limit) return false;
    item = due_[due_first_];
    due_first_ = (due_first_ + 1) & (due_.size() - 1);
    --due_count_;
    return true;
  }
  if (!sorted || heap_.front().when > limit) return false;
  item = pop();
  return true;
}

void Agenda::run_items(Picoseconds limit, const bool& stop) {
  Item item;
  while (!stop && take(limit, item)) {
    if (item.when != now_) {
      at_this_instant_ = 0;
    } else if (++at_this_instant_ > k_livelock) {
      throw std::runtime_error("livelock: simulated time stands still at " + std::to_string(now_) + " ps");
    }
    now_ = item.when;
    ++executed_;
    item.callback(item.self);
  }
}

void Agenda::run_until(Picoseconds limit) {
  const bool never_stop = false;
  run_items(limit, never_stop);
  if (limit != k_never) advance(limit);
}

}  // namespace tlmssd
