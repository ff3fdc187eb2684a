// Evictions: which lines go, how they come into the write buffer, and what becomes of them there.
#include <bit>
#include <fmt/format.h>

#include "firmware/base/decisions.h"
#include "firmware/cache/cache.h"
#include "models/base/input_error.h"

namespace tlmssd::firmware {

/// More lines have to go: to keep the free share, for those who wait, or to fill the last program:
/// the smallest that the write buffer sends, or a whole program unit if a command waits for what is
/// staged and no smaller program has taken it. A region or a log block takes of what is staged only
/// what belongs to it, so that no number of lines fills its programs: then lines go only for those
/// who wait, until there is enough for one.
Cache::More Cache::wants_more() const {
  const std::uint64_t coming = store_.free() + leaving_grains_;
  if (keep_free_ > 0 && coming <= keep_free_) return More::room;
  if (wanted_ > 0 && coming < reserved_ + wanted_) return More::room;
  if (leaving_grains_ == 0) return More::none;
  const std::uint64_t staged = unstaged_ + flusher_.buffer().waiting();
  const bool left_there = awaited() && unstaged_ == 0 && flusher_.jobs_in_flight() == 0;
  if (programs_take_part_) return left_there && staged < flusher_.least() ? More::filling : More::none;
  const std::uint32_t program = left_there ? core_.layout.program_units : flusher_.least();
  return staged % program != 0 ? More::filling : More::none;
}

/// The line that the policy gives up.
Cache::Index Cache::next_victim() {
  const Index i = policy_->victim();
  if (i == LineStore::k_none) {
    // Those who wait would do so for ever.
    const bool nothing_leaves = leaving_grains_ == 0 && store_.free() < store_.capacity();
    if (awaited() && nothing_leaves) {
      throw objection(
          "firmware.cache.policy",
          fmt::format("{} names no victim, but {} lines may be chosen, and commands wait for room",
                      core_.config.cache.policy, store_.lines()));
    }
    return i;
  }
  if (i < store_.used() && store_.line(i).state == State::resident) return i;
  throw objection("firmware.cache.policy",
                  fmt::format("{} chose line {} as a victim, which is none of those that may be "
                              "chosen",
                              core_.config.cache.policy, i));
}

void Cache::pump() {
  if (pumping_ || core_.read_only) return;
  pumping_ = true;
  bool stuck = false;
  for (More more = wants_more(); more != More::none && !stuck && !core_.read_only; more = wants_more()) {
    const Index i = next_victim();
    if (i == LineStore::k_none) {
      stuck = true;
    } else if (store_.line(i).dirty != 0 || write_all_) {
      tell(store_.line(i).unit, "evicted", "the policy's victim, to be written to flash");
      write_out(i, nullptr);
    } else if (more == More::filling && !awaited()) {
      break;  // a clean line fills nothing
    } else {
      drop(i, "the policy's victim, clean");
    }
  }
  pumping_ = false;
  if (!awaited()) return;
  if (stuck) {
    flusher_.force();  // nothing else can go: what is staged must, even if it takes padding
  } else {
    flusher_.pump();
  }
}

/// A clean line goes.
void Cache::drop(Index i, std::string_view why) {
  ++stats_.dropped;
  tell(store_.line(i).unit, "evicted", why);
  remove(i);
}

void Cache::tell(Lpn unit, std::string_view what, std::string_view why) const {
  if (!wanted(core_.hw, DecisionKind::cache)) return;
  note(core_.hw, {.kind = DecisionKind::cache, .what = what, .why = why, .lpns = {&unit, 1}});
}

void Cache::write_out(Index i, Durable* also) {
  if (store_.line(i).state == State::resident) leave(i);
  LineStore::Line& line = store_.line(i);
  line.eviction = ++started_;
  order_.push_back(false);
  ++unstaged_;
  if (also != nullptr) ++also->pending;
  store_.prefetch(line.unit);
  store_.prefetch_line_of(i);
  tasks_.start(evict(line.unit, line.eviction, also));
}

void Cache::write_out(Lpn unit, Durable& durable) {
  const Index i = store_.find(unit);
  if (i == LineStore::k_none) return;
  if (store_.line(i).dirty != 0) {
    write_out(i, &durable);
  } else {
    await_staged(unit, durable);  // untimed, room for it was made at its own expense
  }
}

void Cache::leave(Index i) {
  policy_->removed(i);
  store_.line(i).state = State::leaving;
  leaving_grains_ += grains(i);
}

/// A line on its way out is needed after all.
void Cache::stay(Index i) {
  leaving_grains_ -= grains(i);
  store_.line(i).state = State::resident;
  policy_->restored(i);
}

Task<> Cache::evict(Lpn unit, std::uint64_t eviction, Durable* also) {
  core_.hw.cpu.describe(Stage::buffer, {.cached = StageWork::Cached::hit});
  co_await RunStage(core_.hw, Stage::buffer, nullptr);
  const std::uint8_t below = line_below(unit);
  BufferSpace::Reservation entry(flusher_.space(), 1, below);
  co_await entry;
  Index i = entry.granted() > 0 ? still_due(unit, eviction, also) : LineStore::k_none;
  if (i != LineStore::k_none) {
    MemorySpans where;
    store_.locate(i, store_.line(i).present, where);
    MemoryAccess fetch(core_.hw, nullptr, Cause::memory);
    fetch.add(medium_, where, false);
    co_await fetch;
    i = still_due(unit, eviction, also);
  }
  if (i != LineStore::k_none) {
    stage(i, below, eviction, also);
  } else {
    flusher_.space().give_back(entry.granted(), below);
    call_off(unit, eviction, also);
  }
  if (also != nullptr && --also->pending == 0 && also->waiter) core_.hw.event_queue.soon(also->waiter);
  eviction_ended(eviction);
}

/// The line of `unit` if its eviction still has to take place, else k_none: it is gone, or the host
/// has written it again. A command who waits for flash waits for what has been written again, too,
/// unless another eviction has already staged it.
Cache::Index Cache::still_due(Lpn unit, std::uint64_t eviction, const Durable* also) {
  const Index i = store_.find(unit);
  if (core_.read_only || i == LineStore::k_none) return LineStore::k_none;
  if (leaving(i, eviction)) return i;
  LineStore::Line& line = store_.line(i);
  if ((also == nullptr && flushes_ == 0) || line.dirty == 0) return LineStore::k_none;
  if (line.state == State::resident) leave(i);
  line.eviction = eviction;
  return i;
}

std::uint8_t Cache::line_below(Lpn unit) const {
  if (!core_.pslc) return 0;
  const Index i = store_.find(unit);
  if (i == LineStore::k_none) return 0;  // nothing will be staged
  const std::uint32_t command = store_.line(i).command;
  const Bytes bytes = command > 0 ? Bytes{command} * lba_bytes_ : core_.layout.unit_bytes;
  return core_.pslc->path().bypasses(unit, bytes) ? 1 : 0;
}

/// Lays the line into the write buffer, where one entry has been set aside for it in line `below`.
void Cache::stage(Index i, std::uint8_t below, std::uint64_t eviction, Durable* also) {
  LineStore::Line& line = store_.line(i);
  WriteBuffer& buffer = flusher_.buffer();
  WriteBuffer::Index entry = buffer.find(line.unit);
  if (buffer.merges(entry)) {
    flusher_.space().give_back(1, below);
  } else {
    flusher_.space().unreserve(1, below);
    entry = buffer.add(line.unit, entry, eviction, below);
  }
  buffer.merge(entry, line.present, store_.stamps(i));
  buffer.entry(entry).eviction = eviction;
  core_.hw.memory.access(MemoryKind::dram, flusher_.buffer().address_of(entry),
                         static_cast<Bytes>(std::popcount(line.present)) * lba_bytes_, true, posted_);
  ++stats_.evictions;
  if (line.present != store_.all_sectors()) ++stats_.incomplete;
  stats_.sectors_out += static_cast<std::uint64_t>(std::popcount(line.dirty));
  store_.set_dirty(i, 0);
  if (also != nullptr) {
    buffer.wait_for(entry, *also);
    buffer.make_urgent(entry);
  }
  --unstaged_;
  if (flushes_ > 0) {
    flusher_.force();
  } else {
    flusher_.pump_if_due();
  }
}

/// An eviction ends without having staged anything.
void Cache::call_off(Lpn unit, std::uint64_t eviction, Durable* also) {
  --unstaged_;
  ++stats_.called_off;
  const Index i = store_.find(unit);
  if (leaving(i, eviction)) stay(i);  // the drive has become read-only
  if (also == nullptr || i == LineStore::k_none) return;
  if (store_.line(i).dirty != 0) {
    also->failed = true;
  } else {
    await_staged(unit, *also);
  }
}

/// `durable` waits for the entry of `unit` in the write buffer, if there is one; if not, flash has
/// what it waits for.
void Cache::await_staged(Lpn unit, Durable& durable) {
  WriteBuffer& buffer = flusher_.buffer();
  const WriteBuffer::Index entry = buffer.find(unit);
  if (entry == WriteBuffer::k_none) return;
  if (buffer.entry(entry).state == WriteBuffer::State::stranded) {
    durable.failed = true;
    return;
  }
  buffer.wait_for(entry, durable);
  buffer.make_urgent(entry);
  flusher_.pump_if_due();
}

void Cache::eviction_ended(std::uint64_t eviction) {
  order_[eviction - ended_ - 1] = true;
  while (!order_.empty() && order_.front()) {
    order_.pop_front();
    ++ended_;
  }
  while (const auto waiter = flush_queue_.pop()) core_.hw.event_queue.soon(waiter);
  pump();
  core_.events.work_ended();
}

void Cache::committed(Lpn unit, std::uint64_t eviction, bool failed) {
  const Index i = store_.find(unit);
  if (!leaving(i, eviction)) return;
  if (failed) {
    const std::uint64_t present = store_.line(i).present;
    stats_.sectors_back += static_cast<std::uint64_t>(std::popcount(present & ~store_.line(i).dirty));
    store_.set_dirty(i, present);
    stay(i);
    return;
  }
  leaving_grains_ -= grains(i);
  store_.remove(i);
  grant();
}

}  // namespace tlmssd::firmware
