#include "models/base/event_queue.h"

#include <bit>
#include <stdexcept>
#include <string>
#include <utility>

#include "models/base/prefetch.h"

namespace tlmssd {

namespace {
constexpr std::size_t k_arity = 4;
constexpr std::uint32_t k_livelock = 10'000'000;
constexpr unsigned k_crowd = 16;  // steps along a list before the heap is the better place

/// What the next item works on was last touched thousands of items ago when many commands are under
/// way: its first lines come into the caches while the present item runs.
void fetch_ahead(const void* state) {
  prefetch_lines<192>(state);
}

}  // namespace

void EventQueue::call_waker(Picoseconds when) const {
  if (wake_ != nullptr) wake_(waker_, when);
}

// ------------------------------------------------------------------------------------------------------------------- wheel

void EventQueue::push_later(Picoseconds when, Callback callback, void* self) {
  const std::uint64_t turns = slot_of(when);
  if (turns - slot_of(now_) >= k_slots) return push_far(when, callback, self);
  Node* const node = free_nodes_;
  if (node == nullptr) return push_later_grown(when, callback, self);
  const std::uint64_t slot = turns % k_slots;
  Node* const last = slots_[slot];
  if (last == nullptr) {
    used_[slot / 64] |= std::uint64_t{1} << slot % 64;
    used_words_ |= std::uint64_t{1} << slot / 64;
    free_nodes_ = node->next;
    node->next = node;
    slots_[slot] = node;
  } else {
    Node* before = last;
    if (when >= last->item.when) {
      slots_[slot] = node;
    } else {
      unsigned steps = 0;
      while (before->next->item.when <= when) {
        if (++steps == k_crowd) return push_far(when, callback, self);
        before = before->next;
      }
    }
    free_nodes_ = node->next;
    node->next = before->next;
    before->next = node;
  }
  ++wheel_count_;
  if (when < wheel_next_) {
    wheel_next_ = when;
    wheel_slot_ = slot;
  }
  node->item.when = when;
  node->item.sequence = sequence_++;
  node->item.call.callback = callback;
  node->item.call.self = self;
  tell_waker(when);
}

void EventQueue::push_later_grown(Picoseconds when, Callback callback, void* self) {
  grow_nodes();
  push_later(when, callback, self);
}

EventQueue::Call EventQueue::pop_wheel() {
  Node* const last = slots_[wheel_slot_];
  Node* const node = last->next;
  const Call call = node->item.call;
  if (node != last) {
    last->next = node->next;
    wheel_next_ = node->next->item.when;
    fetch_ahead(node->next->item.call.self);
  } else {
    slots_[wheel_slot_] = nullptr;
    const std::uint64_t word = wheel_slot_ / 64;
    used_[word] &= ~(std::uint64_t{1} << wheel_slot_ % 64);
    if (used_[word] == 0) used_words_ &= ~(std::uint64_t{1} << word);
    if (wheel_count_ == 1) {
      wheel_next_ = k_never;
    } else {
      wheel_slot_ = slot_in_use(wheel_slot_);
      const Item& next = slots_[wheel_slot_]->next->item;
      wheel_next_ = next.when;
      fetch_ahead(next.call.self);
    }
  }
  --wheel_count_;
  node->next = free_nodes_;
  free_nodes_ = node;
  return call;
}

std::uint64_t EventQueue::slot_in_use(std::uint64_t slot) const {
  const std::uint64_t here = slot / 64;
  const std::uint64_t rest = used_[here] >> slot % 64;
  if (rest != 0) return slot + static_cast<unsigned>(std::countr_zero(rest));
  // Words behind this one, else round to the first; the bits of this word below `slot` are the last
  // of all.
  const std::uint64_t behind = used_words_ & (~std::uint64_t{1} << here);
  const auto word = static_cast<unsigned>(std::countr_zero(behind != 0 ? behind : used_words_));
  return word * 64U + static_cast<unsigned>(std::countr_zero(used_[word]));
}

void EventQueue::grow_nodes() {
  constexpr std::size_t k_more = 256;
  nodes_.push_back(std::make_unique<Node[]>(k_more));
  for (std::size_t i = 0; i < k_more; ++i) {
    nodes_.back()[i].next = free_nodes_;
    free_nodes_ = &nodes_.back()[i];
  }
}

// -------------------------------------------------------------------------------------------------------------------- heap

void EventQueue::push_far(Picoseconds when, Callback callback, void* self) {
  push_heap({when, sequence_++, {callback, self}});
  tell_waker(when);
}

void EventQueue::push_heap(const Item& item) {
  std::size_t hole = heap_.size();
  heap_.push_back(item);
  while (hole > 0) {
    const std::size_t parent = (hole - 1) / k_arity;
    if (!item.before(heap_[parent])) break;
    heap_[hole] = heap_[parent];
    hole = parent;
  }
  heap_[hole] = item;
  heap_next_ = heap_.front().when;
}

EventQueue::Call EventQueue::pop_heap() {
  const Call call = heap_.front().call;
  const Item last = heap_.back();
  heap_.pop_back();
  const std::size_t count = heap_.size();
  if (count == 0) {
    heap_next_ = k_never;
    return call;
  }
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
  heap_next_ = heap_.front().when;
  return call;
}

// --------------------------------------------------------------------------------------------------------------------- all

void EventQueue::push_due(Callback callback, void* self) {
  if (due_count_ == due_.size()) return push_due_grown(callback, self);
  Call& call = due_[(due_first_ + due_count_++) & (due_.size() - 1)];
  call.callback = callback;
  call.self = self;
  tell_waker(now_);
}

void EventQueue::push_due_grown(Callback callback, void* self) {
  std::vector<Call> longer(due_.empty() ? 64 : due_.size() * 2);
  for (std::size_t i = 0; i < due_count_; ++i) longer[i] = due_[(due_first_ + i) & (due_.size() - 1)];
  due_ = std::move(longer);
  due_first_ = 0;
  push_due(callback, self);
}

void EventQueue::cancel(Callback callback, void* self) {
  const auto meant = [&](const Item& item) {
    return item.call.callback == callback && item.call.self == self;
  };
  std::vector<Item> left;
  while (heap_next_ != k_never) {
    const Item item = heap_.front();
    pop_heap();
    if (!meant(item)) left.push_back(item);
  }
  while (wheel_count_ != 0) {
    const Item item = slots_[wheel_slot_]->next->item;
    pop_wheel();
    if (!meant(item)) left.push_back(item);
  }
  for (const Item& item : left) push_heap(item);
}

bool EventQueue::take(Picoseconds limit, Call& call) {
  const Picoseconds sorted = std::min(wheel_next_, heap_next_);
  // What was put on the event queue for this instant before it came goes before what was put on it
  // since.
  if (due_count_ != 0 && sorted > now_) {
    if (now_ > limit) return false;
    call = due_[due_first_];
    due_first_ = (due_first_ + 1) & (due_.size() - 1);
    --due_count_;
  } else {
    if (sorted > limit || sorted == k_never) return false;
    const bool wheel = wheel_next_ != heap_next_
                           ? wheel_next_ < heap_next_
                           : slots_[wheel_slot_]->next->item.sequence < heap_.front().sequence;
    call = wheel ? pop_wheel() : pop_heap();
    if (sorted > now_) {
      now_ = sorted;
      at_this_instant_ = 0;
    }
  }
  return true;
}

void EventQueue::run_events(Picoseconds limit, const bool& stop) {
  Call call;
  while (!stop && take(limit, call)) {
    if (++at_this_instant_ > k_livelock) {
      throw Livelock("livelock: simulated time stands still at " + std::to_string(now_) + " ps");
    }
    ++executed_;
    call.callback(call.self);
    if (executed_ == check_at_) {
      check_at_ = executed_ + k_batch;
      checkpoint();
    }
  }
}

void EventQueue::run_until(Picoseconds limit) {
  const bool never_stop = false;
  run_events(limit, never_stop);
  if (limit != k_never) advance(limit);
}

}  // namespace tlmssd
