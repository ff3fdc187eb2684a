#include "firmware/buffer/flusher.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <fmt/format.h>
#include <utility>

#include "firmware/flash/program.h"
#include "firmware/flash/read_batch.h"
#include "firmware/gc/worker.h"
#include "firmware/logblocks/log_blocks.h"
#include "firmware/mapping/block_map.h"
#include "models/base/input_error.h"

namespace tlmssd::firmware {

namespace {

std::uint32_t checked_capacity(const Core& core) {
  const Bytes least = Bytes{2} * core.layout.program_units * core.layout.unit_bytes;
  const Bytes capacity = core.config.buffer.capacity;
  if (capacity < least && core.places != nullptr) {
    throw refusal("firmware.buffer.capacity",
                  fmt::format("{} B cannot hold two block-mapped regions of {} B each", capacity, least / 2),
                  fmt::format("{} B", least));
  }
  if (capacity < least) {
    throw refusal("firmware.buffer.capacity",
                  fmt::format("{} B cannot hold two program units of {} B each ({} planes x {} pages)",
                              capacity, least / 2, core.layout.planes, core.layout.program_pages),
                  fmt::format("{} B", least));
  }
  const Bytes most = Bytes{0x7FFFFFFF} * core.layout.unit_bytes;
  if (capacity > most) {
    throw refusal("firmware.buffer.capacity",
                  fmt::format("{} B is more than {} mapping units", capacity, 0x7FFFFFFF),
                  fmt::format("{} B", most));
  }
  return static_cast<std::uint32_t>(capacity / core.layout.unit_bytes);
}

}  // namespace

Flusher::Flusher(Core& core)
    : core_(core),
      base_((core.map->dram_bytes() + 63) / 64 * 64),
      buffer_(checked_capacity(core), core.layout.sectors, core.pslc ? 2 : core.pool.handles()),
      sequence_(core.layout.sequence()),
      place_(sequence_.size()),
      under_way_(sequence_.size()),
      may_take_((sequence_.size() + 63) / 64, ~std::uint64_t{0}),
      least_(core.layout.units_of_program(core.pslc ? BlockMode::slc : BlockMode::native)),
      threshold_(
          static_cast<std::uint32_t>(std::clamp(core.config.buffer.flush_at, 0.0, 1.0) * buffer_.capacity())),
      write_through_(core.config.buffer.is_write_through()) {
  for (std::uint32_t i = 0; i < sequence_.size(); ++i) place_[sequence_[i]] = i;
  share_out();
}

// ---------------------------------------------------------------------------------------------------------------- sending out

bool Flusher::due() const {
  if (buffer_.waiting() == 0) return false;
  if (buffer_.any_urgent() || buffer_.oldest() <= force_) return true;
  return buffer_.waiting() >= core_.layout.program_units && (buffer_.waiting() > threshold_ || awaited());
}

void Flusher::pump() {
  if (pumping_) return;
  pumping_ = true;
  const bool one_line = buffer_.lines() == 1;
  if (!one_line) pump_lines();
  while (one_line && !core_.read_only && due() && !block_under_way()) {
    if (held()) break;
    steer();
    std::optional<std::uint32_t> pu = logs_ != nullptr ? home_pu() : pu_for_next();
    if (!pu && gives_way()) pu = pu_for_next();
    if (!pu) {
      // Every parallel unit is full of programs on their way; with none on its way the drive has
      // nothing left to give.
      if (jobs_.empty()) core_.go_read_only();
      break;
    }
    ProgramJob& job = core_.jobs.take();
    job.pu = *pu;
    fill(job);
    tasks_.start(logs_ != nullptr ? write_to_log(job) : flush(job));
  }
  pumping_ = false;
  check_flushes(nullptr);
}

/// The next parallel unit in allocation order that has room for a program and is not busy with as
/// many as it may have.
std::optional<std::uint32_t> Flusher::next_pu(Needs needs) {
  const auto count = static_cast<std::uint32_t>(sequence_.size());
  for (std::uint32_t tried = 0; tried < count;) {
    const std::uint64_t word = may_take_[position_ / 64] >> (position_ % 64);
    const std::uint32_t skip =
        word != 0 ? static_cast<std::uint32_t>(std::countr_zero(word)) : 64 - position_ % 64;
    if (skip > 0) {
      tried += skip;
      position_ += skip;
      if (position_ >= count) position_ = 0;
      continue;
    }
    const std::uint32_t pu = sequence_[position_];
    ++tried;
    if (++position_ == count) position_ = 0;
    if (kept_away(pu) || (needs != Needs::nothing && !has(pu, needs))) continue;
    if (core_.pool.accepts(pu) && !gc_worker_->exhausted(pu)) return pu;
    ++core_.stats.rerouted;
  }
  return {};
}

bool Flusher::held() {
  const Hooks::List& hooks = core_.hooks.holds_program;
  return std::any_of(hooks.begin(), hooks.end(),
                     [this](Feature* feature) { return feature->holds_program(core_.layout.program_units); });
}

void Flusher::steer() {
  steered_ = false;
  for (Feature* const feature : core_.hooks.steers) steered_ = feature->steers() || steered_;
}

bool Flusher::gives_way() {
  return jobs_.empty() && std::exchange(steered_, false);
}

void Flusher::occupy(std::uint32_t pu) {
  if (++under_way_[pu] != core_.config.allocation.programs_per_pu) return;
  ++busy_;
  may_take_[place_[pu] / 64] &= ~(std::uint64_t{1} << (place_[pu] % 64));
}

void Flusher::vacate(std::uint32_t pu) {
  if (under_way_[pu]-- != core_.config.allocation.programs_per_pu) return;
  --busy_;
  may_take_[place_[pu] / 64] |= std::uint64_t{1} << (place_[pu] % 64);
}

void Flusher::fill(ProgramJob& job, std::uint8_t line) {
  core_.pool.promise(job.pu);
  occupy(job.pu);
  job.ledger = Ledger(core_.hw.event_queue.now());
  if (core_.places != nullptr) {
    fill_block(job);
    link(job);
    return;
  }
  const std::uint64_t all = core_.layout.all_sectors();
  const std::uint32_t units = core_.layout.units_of_program(job.mode);
  while (job.live < units) {
    const WriteBuffer::Index i = buffer_.front(line);
    if (i == WriteBuffer::k_none) break;
    const WriteBuffer::Entry& entry = buffer_.entry(i);
    if (logs_ != nullptr && job.live > 0 && !logs_->together(job, entry.unit)) break;
    buffer_.take(i);
    if (entry.mask != all) ++job.partial;
    if (core_.layout.is_map(entry.unit)) ++job.map_units;
    job.put(entry.unit, i, buffer_.stamps(i));
  }
  job.pad();
  job.entry = job.source[0];
  link(job);
}

Task<> Flusher::flush(ProgramJob& job) {
  if (job.partial > 0) {
    if (core_.places != nullptr) {
      co_await complete_block(job);
    } else {
      co_await complete_units(job);
    }
  }
  for (;;) {
    co_await RunStage(core_.hw, Stage::flash, &job.ledger);
    bool placed = !core_.read_only;
    if (placed && (gc_worker_->lines(job.pu).must_queue(job) || !claimable(job)))
      placed = co_await wait_for_space(job);
    if (!placed) {
      fail(job);
      co_return;
    }
    if (job.on_die) {
      if (!same_dies(job)) {
        gc_worker_->claimed(job);  // another program's turn
        co_await complete_block(job);
        continue;
      }
      plan_copies(job);
    }
    const Purpose purpose = job.map_units < job.live ? Purpose::host : Purpose::map;
    release(job);
    Program program(core_, job, job.target, purpose, program_address(job.entry));
    gc_worker_->claimed(job);
    if (co_await program) break;
    forget_copies(job);
    reserve(job);
    gc_worker_->kick(job.pu);
  }
  commit(job);
}

// Partly written units get their other sectors from flash (read-modify-write), or zeros where
// nothing was ever written.
Task<> Flusher::complete_units(ProgramJob& job) {
  const std::uint64_t all = core_.layout.all_sectors();
  ReadBatch reads(core_, Purpose::host, 0, &job.ledger);
  for (std::uint32_t n = 0; n < job.live; ++n) {
    WriteBuffer::Entry& entry = buffer_.entry(job.source[n]);
    if (entry.mask == all) continue;
    if (!core_.poisoned.empty() && core_.poisoned.contains(entry.unit)) entry.damaged = true;
    const Ppn where = core_.map->lookup(entry.unit);
    if (where == k_nowhere) {
      complete(job, n, [](std::uint32_t) { return k_zeros; });
      continue;
    }
    reads.add_apart(where, entry.unit, n).op.buffer_address = address_of(job.source[n]);
  }
  job.partial = 0;
  core_.stats.rmw_reads += reads.size();
  co_await reads;
  reads.drain([&](const ReadOp& read, std::uint32_t at) {
    complete(job, static_cast<std::uint32_t>(read.need[at]), read, at);
  });
}

void Flusher::complete(ProgramJob& job, std::uint32_t n, const ReadOp& read, std::uint32_t at) {
  if (!check_read(core_, read, at)) buffer_.entry(job.source[n]).damaged = true;
  const Stamp* const old = read.content(at);
  complete(job, n, [old](std::uint32_t sector) { return old[sector]; });
}

// False: the drive has become read-only.
Task<bool> Flusher::wait_for_space(ProgramJob& job) {
  ++(job.mode == BlockMode::slc ? core_.stats.slc_waits : core_.stats.space_waits);
  bool my_turn = !gc_worker_->lines(job.pu).must_queue(job);
  gc_worker_->lines(job.pu).begin(job);
  for (;;) {
    gc_worker_->kick(job.pu);
    if (core_.read_only) {
      gc_worker_->lines(job.pu).end(job);
      gc_worker_->claimed(job);
      co_return false;
    }
    if (my_turn && claimable(job)) break;
    if (job.mode == BlockMode::slc && gc_worker_->slc_exhausted(job.pu)) {
      gc_worker_->lines(job.pu).end(job);
      gc_worker_->claimed(job);
      turn_native(job);
      my_turn = !gc_worker_->lines(job.pu).must_queue(job);
      gc_worker_->lines(job.pu).begin(job);
      continue;
    }
    if (job.mode == BlockMode::native && gc_worker_->exhausted(job.pu)) {
      // Too many of its blocks have failed for the parallel unit to take what it was given.
      gc_worker_->lines(job.pu).end(job);
      gc_worker_->claimed(job);
      core_.pool.unpromise(job.pu);
      vacate(job.pu);
      steered_ = false;
      const std::optional<std::uint32_t> other = next_pu();
      if (!other) {
        core_.pool.promise(job.pu);  // fail() takes it back
        occupy(job.pu);
        core_.go_read_only();
        co_return false;
      }
      job.pu = *other;
      core_.pool.promise(job.pu);
      occupy(job.pu);
      my_turn = !gc_worker_->lines(job.pu).must_queue(job);
      gc_worker_->lines(job.pu).begin(job);
      continue;
    }
    co_await gc_worker_->lines(job.pu).space(job).wait();
    gc_worker_->lines(job.pu).resumed(job);
    my_turn = true;
  }
  job.ledger.charge(Cause::space_wait, core_.hw.event_queue.now());
  gc_worker_->lines(job.pu).end(job);
  co_return true;
}

// ------------------------------------------------------------------------------------------------------------------ completion

void Flusher::commit(ProgramJob& job) {
  if (core_.places != nullptr) {
    commit_block(job);
    return;
  }
  std::uint32_t relocated = 0;
  for (std::uint32_t n = 0; n < job.live; ++n) {
    const WriteBuffer::Index i = job.source[n];
    const WriteBuffer::Entry& entry = buffer_.entry(i);
    if (entry.state == WriteBuffer::State::flying) {
      core_.remap(entry.unit, core_.map->lookup(entry.unit), job, n, "written by the host");
      core_.rewritten(entry.unit);
      note_damage(entry);
    }
    if (entry.relocated) ++relocated;
    settle(i, &job.ledger, false);
  }
  // One posted access for each run of consecutive map entries.
  for (std::uint32_t n = 0; n < job.live;) {
    const Lpn first = buffer_.entry(job.source[n]).unit;
    std::uint32_t run = 1;
    while (n + run < job.live && buffer_.entry(job.source[n + run]).unit == first + run) ++run;
    core_.post_map_update(first, run);
    n += run;
  }
  for (std::uint32_t n = 0; n < job.live; ++n) buffer_.release(job.source[n]);
  core_.stats.units_programmed[static_cast<std::size_t>(Purpose::host)] +=
      job.live - job.map_units - relocated;
  core_.stats.units_programmed[static_cast<std::size_t>(Purpose::migration)] += relocated;
  core_.stats.units_relocated += relocated;
  core_.stats.units_programmed[static_cast<std::size_t>(Purpose::map)] += job.map_units;
  if (job.mode == BlockMode::slc) core_.stats.slc_units += job.live - relocated;
  end_program(core_, job);
  if (logs_ != nullptr) logs_->ended(job.pu);
  end(job);
}

void Flusher::note_damage(const WriteBuffer::Entry& entry) {
  if (entry.damaged) {
    core_.poisoned.insert(entry.unit);
  } else if (!core_.poisoned.empty()) {
    core_.poisoned.erase(entry.unit);
  }
}

/// The entry will not reach flash.
void Flusher::give_up(WriteBuffer::Index i) {
  settle(i, nullptr, true);
  if (buffer_.entry(i).state == WriteBuffer::State::superseded || expendable(buffer_.entry(i))) {
    buffer_.release(i);
  } else {
    buffer_.strand(i);
  }
}

void Flusher::fail(ProgramJob& job) {
  for (std::uint32_t n = 0; n < job.live; ++n) {
    const WriteBuffer::Index i = job.source[n];
    if (i >= ProgramJob::k_copied) continue;
    give_up(i);
  }
  end(job);
}

void Flusher::end(ProgramJob& job) {
  const std::uint32_t pu = job.pu;
  core_.pool.unpromise(pu);
  release(job);
  vacate(pu);
  if (core_.places != nullptr) {
    forget_copies(job);
    blocks_.erase(core_.places->block_of(job.unit));
  }
  jobs_.erase(job);
  grant(CollectionWait(job.ledger));
  check_flushes(&job.ledger);
  core_.jobs.give(job);
  if (logs_ == nullptr) {
    gc_worker_->kick_if_low(pu);
    if (gc_worker_->waiting(pu) > 0) gc_worker_->kick(pu);
  }
  if (buffer_.waiting() > 0) pump();
  if (evictions_ != nullptr) evictions_->pump();
  core_.events.settled();
}

void Flusher::settle(WriteBuffer::Index i, const Ledger* branch, bool failed) {
  EventQueue& event_queue = core_.hw.event_queue;
  buffer_.settle(i, [&](Durable& durable) {
    durable.failed = durable.failed || failed;
    if (--durable.pending > 0) return;
    if (branch != nullptr) charge_branch(durable.ledger, *branch, Cause::buffer_wait);
    if (durable.waiter) event_queue.soon(durable.waiter);
  });
  const std::uint64_t eviction = std::exchange(buffer_.entry(i).eviction, 0);
  if (eviction == 0) return;
  evictions_->committed(buffer_.entry(i).unit, eviction, failed,
                        branch != nullptr ? CollectionWait(*branch) : CollectionWait());
}

void Flusher::link(ProgramJob& job) {
  job.number = ++dispatched_;
  jobs_.push(job);
  for (Feature* const feature : core_.hooks.program) feature->on_program(job, steered_);
}

bool Flusher::discard(Lpn unit) {
  bool had_any = false;
  const WriteBuffer::Index i = buffer_.drop(unit, had_any);
  if (i != WriteBuffer::k_none) {
    settle(i, nullptr, false);
    buffer_.free_entry(i);
    grant({});
  }
  return had_any && core_.map->lookup(unit) == k_nowhere;
}

std::uint64_t Flusher::discard(std::uint64_t first, std::uint64_t end) {
  if (buffer_.free() == buffer_.capacity()) return 0;
  std::uint64_t unknown = 0;
  if (end - first <= buffer_.capacity()) {
    for (std::uint64_t unit = first; unit < end; ++unit) unknown += discard(static_cast<Lpn>(unit)) ? 1 : 0;
    return unknown;
  }
  for (WriteBuffer::Index i = 0; i < buffer_.used(); ++i) {
    const WriteBuffer::Entry& entry = buffer_.entry(i);
    const bool here =
        entry.state != WriteBuffer::State::free && entry.state != WriteBuffer::State::superseded;
    if (here && entry.unit >= first && entry.unit < end) unknown += discard(entry.unit) ? 1 : 0;
  }
  return unknown;
}

// --------------------------------------------------------------------------------------------------------- waiting for room

// Each line has a part of the buffer to itself, so that neither waits for the other's programs.
// What fills the second is a program unit at least and can be sent out; the first, into which
// evictions and map pages go as well, holds two as the whole buffer must.
void Flusher::share_out() {
  const std::uint32_t all = buffer_.capacity();
  const std::uint32_t least = core_.layout.program_units;
  parts_[0].most = all;
  const double share = core_.pslc && core_.pslc->path().splits() ? core_.config.pslc.direct_buffer : 0;
  if (share == 0 || all < 3 * least) return;
  shared_out_ = true;
  parts_[1].most = std::clamp(static_cast<std::uint32_t>(std::lround(share * all)), least, all - 2 * least);
  parts_[0].most -= parts_[1].most;
}

std::uint32_t Flusher::space_of(const Part& part) const {
  const std::uint32_t free = buffer_.free() - parts_[0].reserved - parts_[1].reserved;
  if (!shared_out_) return free;
  return std::min(free, part.most - buffer_.held(&part == &parts_[1] ? 1 : 0) - part.reserved);
}

bool Flusher::Reservation::await_ready() {
  Flusher& d = flusher_;
  Part& part = d.part_of(line_);
  if (d.core_.read_only) return true;
  if (!d.room(line_)) {
    part.waiting.push(*this);
    d.core_.writes_wait = true;
    ++d.core_.stats.full_waits;
    d.pump();
    if (granted_ == 0 && d.pumping_) {
      // Untimed, in the midst of pumping: a program has ended and resumed the waiters here, which
      // nothing would do later.
      d.pumping_ = false;
      d.pump();
      d.pumping_ = true;
    }
    return granted_ > 0 || d.core_.read_only;
  }
  granted_ = std::min(wanted_, d.space_of(part));
  part.reserved += granted_;
  return true;
}

void Flusher::grant(const CollectionWait& of_program) {
  for (Part& part : parts_) {
    while (!part.waiting.empty() && space_of(part) > 0) {
      Reservation& room = part.waiting.pop();
      room.granted_ = std::min(room.wanted_, space_of(part));
      room.collection_wait_ = of_program;
      part.reserved += room.granted_;
      if (room.waiter_) core_.hw.event_queue.soon(room.waiter_);
    }
  }
  core_.writes_wait = !parts_[0].waiting.empty() || !parts_[1].waiting.empty();
}

// ------------------------------------------------------------------------------------------------------- waiting for a flush

bool Flusher::Flushed::await_ready() {
  Flusher& d = flusher_;
  last_ = Ledger(d.core_.hw.event_queue.now());
  d.flushes_.push(*this);
  d.force_ = std::max(d.force_, target_);
  d.pump();
  return ready_;
}

void Flusher::check_flushes(const Ledger* last) {
  while (!flushes_.empty()) {
    Flushed& flush = *flushes_.front();
    if (!flush.dispatched_ && !buffer_.any_urgent() &&
        (core_.read_only || buffer_.oldest() > flush.target_)) {
      flush.dispatched_ = true;
      flush.job_ = dispatched_;
    }
    if (!flush.dispatched_ || (!jobs_.empty() && jobs_.front()->number <= flush.job_)) return;
    flush.ready_ = true;
    flush.failed_ = core_.read_only && buffer_.free() < buffer_.capacity();
    if (last != nullptr) flush.last_ = *last;
    flushes_.pop();
    if (flush.waiter_) core_.hw.event_queue.soon(flush.waiter_);
  }
}

// ----------------------------------------------------------------------------------------------------------------- end of life

void Flusher::now_read_only() {
  for (;;) {
    const WriteBuffer::Index i = buffer_.take();
    if (i == WriteBuffer::k_none) break;
    give_up(i);
  }
  for (Part& part : parts_) {
    while (!part.waiting.empty()) {
      const Reservation& room = part.waiting.pop();
      if (room.waiter_) core_.hw.event_queue.soon(room.waiter_);
    }
  }
  core_.writes_wait = false;
  check_flushes(nullptr);
}

void Flusher::power_lost() {
  for (WriteBuffer::Index i = buffer_.take(); i != WriteBuffer::k_none; i = buffer_.take()) {
    settle(i, nullptr, true);
    buffer_.release(i);
  }
}

void Flusher::archive(Archive& a) {
  a(buffer_);
  a(position_);
  a(dispatched_);
  a(next_line_);
  a(force_);
}

}  // namespace tlmssd::firmware
