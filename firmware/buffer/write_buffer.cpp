#include "firmware/buffer/write_buffer.h"

#include <algorithm>
#include <bit>
#include <stdexcept>

namespace tlmssd::firmware {

WriteBuffer::WriteBuffer(std::uint32_t capacity, const Layout& layout, std::uint64_t address,
                         std::uint32_t lines)
    : capacity_(capacity),
      sectors_(layout.sectors),
      layout_(&layout),
      address_((address + 63) / 64 * 64),
      hash_(capacity),
      lines_(lines),
      free_count_(capacity) {}

void WriteBuffer::push(List& list, Index i) {
  entries_[i].previous = list.last;
  entries_[i].next = k_none;
  (list.last == k_none ? list.first : entries_[list.last].next) = i;
  list.last = i;
}

void WriteBuffer::unlink(List& list, Index i) {
  const Entry& entry = entries_[i];
  (entry.previous == k_none ? list.first : entries_[entry.previous].next) = entry.next;
  (entry.next == k_none ? list.last : entries_[entry.next].previous) = entry.previous;
}

WriteBuffer::Index WriteBuffer::take_fresh() {
  if (fresh_ == entries_.size()) {
    if (fresh_ == capacity_) throw std::logic_error("write buffer: more entries were released than taken");
    const std::size_t size = std::min<std::size_t>(capacity_, std::max<std::size_t>(64, 2 * entries_.size()));
    entries_.resize(size);
    stamps_.resize(size * sectors_);
  }
  return fresh_++;
}

WriteBuffer::Index WriteBuffer::take_free() {
  if (free_count_ == 0) throw std::logic_error("write buffer: no entry is free");
  --free_count_;
  if (free_first_ == k_none) return take_fresh();
  const Index i = free_first_;
  free_first_ = entries_[i].next;
  return i;
}

void WriteBuffer::free_entry(Index i) {
  Entry& entry = entries_[i];
  entry.state = State::free;
  entry.next = free_first_;
  if (entry.line > 0) {
    --lines_[entry.line].held;
    --held_behind_;
  }
  free_first_ = i;
  ++free_count_;
}

WriteBuffer::Index WriteBuffer::add(Lpn unit, Index found, std::uint64_t eviction, std::uint8_t line) {
  const Index i = take_free();
  Entry& entry = entries_[i];
  entry.unit = unit;
  entry.mask = 0;
  entry.sequence = ++accepted_;
  entry.eviction = eviction;
  entry.trimmed = 0;
  entry.waiters = 0;
  entry.state = State::dirty;
  entry.line = line;
  entry.relocated = false;
  entry.damaged = found != k_none && entries_[found].damaged;
  entry.from_host = false;
  if (found != k_none) {
    entry.mask = entries_[found].mask & ~entries_[found].trimmed;
    copy_stamps(stamps(found), sectors_, stamps(i));
    entries_[found].state = State::superseded;
    if (entries_[found].from_host) mark_from_host(i);
    hash_.replace(unit, i);
  } else {
    hash_.insert(unit, i);
  }
  Line& of = lines_[line];
  push(of.dirty, i);
  ++waiting_;
  ++of.waiting;
  if (line > 0) {
    ++of.held;
    ++held_behind_;
  }
  return i;
}

void WriteBuffer::merge(Index i, std::uint32_t from, std::uint32_t count, const Stamp* data) {
  const std::uint64_t ones = count == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
  entries_[i].mask |= ones << from;
  entries_[i].relocated = false;
  if (count == sectors_) entries_[i].damaged = false;
  copy_stamps(data, count, stamps(i) + from);
}

void WriteBuffer::merge(Index i, std::uint64_t sectors, const Stamp* data) {
  Stamp* const own = stamps(i);
  for (std::uint64_t rest = sectors; rest != 0; rest &= rest - 1) {
    const auto s = static_cast<std::uint32_t>(std::countr_zero(rest));
    own[s] = data[s];
  }
  Entry& entry = entries_[i];
  entry.mask |= sectors;
  entry.relocated = false;
  if (std::popcount(sectors) == static_cast<int>(sectors_)) entry.damaged = false;
}

bool WriteBuffer::trim(Index i, std::uint64_t sectors) {
  Entry& entry = entries_[i];
  if (merges(i)) {
    entry.mask &= ~sectors;
  } else {
    mark_trimmed(i, sectors);
  }
  return (entry.mask & ~entry.trimmed) == 0;
}

void WriteBuffer::mark_trimmed(Index i, std::uint64_t sectors) {
  Stamp* const own = stamps(i);
  for (std::uint64_t rest = sectors; rest != 0; rest &= rest - 1) own[std::countr_zero(rest)] = k_zeros;
  entries_[i].mask |= sectors;
  entries_[i].trimmed |= sectors;
}

void WriteBuffer::make_urgent(Index i) {
  if (entries_[i].state != State::dirty) return;
  unlink(list_of(entries_[i]), i);
  entries_[i].state = State::urgent;
  push(list_of(entries_[i]), i);
}

void WriteBuffer::wait_for(Index i, Durable& durable) {
  if (free_waiter_ == 0) {
    waiters_.push_back({nullptr, 0});
    free_waiter_ = static_cast<std::uint32_t>(waiters_.size());
  }
  const std::uint32_t at = free_waiter_;
  free_waiter_ = waiters_[at - 1].next;
  waiters_[at - 1] = {&durable, entries_[i].waiters};
  entries_[i].waiters = at;
  ++durable.pending;
}

WriteBuffer::Index WriteBuffer::take() {
  for (std::uint8_t line = 0; line < lines(); ++line) {
    const Index i = front(line);
    if (i == k_none) continue;
    take(i);
    return i;
  }
  return k_none;
}

void WriteBuffer::take(Index i) {
  unlink(list_of(entries_[i]), i);
  entries_[i].state = State::flying;
  leave(entries_[i]);
}

void WriteBuffer::release(Index i) {
  if (entries_[i].state != State::superseded) hash_.erase(entries_[i].unit);
  free_entry(i);
}

void WriteBuffer::strand(Index i) {
  Entry& entry = entries_[i];
  if (entry.state == State::dirty || entry.state == State::urgent) {
    unlink(list_of(entry), i);
    leave(entry);
  }
  entry.state = State::stranded;
}

WriteBuffer::Index WriteBuffer::drop(Lpn unit, bool& had_any) {
  const Index i = find(unit);
  had_any = i != k_none;
  if (!had_any) return k_none;
  Entry& entry = entries_[i];
  hash_.erase(unit);
  if (entry.state == State::flying) {
    entry.state = State::superseded;
    return k_none;
  }
  unlink(list_of(entry), i);
  leave(entry);
  return i;
}

void WriteBuffer::archive(Archive& a) {
  // A drained buffer holds nothing but, on a read-only drive, entries that could not be written
  // out.
  if (!a.saving()) *this = WriteBuffer(capacity_, *layout_, address_, lines());
  a(accepted_);
  a(accepted_from_host_);
  std::uint32_t count = 0;
  if (a.saving()) {
    for (const Entry& entry : entries_) count += entry.state == State::stranded ? 1 : 0;
  }
  a(count);
  Index at = 0;
  for (std::uint32_t n = 0; n < count; ++n) {
    Entry entry;
    if (a.saving()) {
      while (entries_[at].state != State::stranded) ++at;
      entry = entries_[at];
    }
    a(entry.unit);
    a(entry.mask);
    const Index i = a.saving() ? at++ : take_free();
    a.bytes(stamps(i), sectors_ * sizeof(Stamp));
    if (a.saving()) continue;
    entries_[i] = {entry.mask, 0, 0, 0, entry.unit, k_none, k_none, 0, State::stranded};
    hash_.insert(entry.unit, i);
  }
}

}  // namespace tlmssd::firmware
