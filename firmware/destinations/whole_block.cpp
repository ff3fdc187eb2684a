#include "firmware/destinations/whole_block.h"

#include <algorithm>
#include <utility>

#include "firmware/flash/program.h"
#include "firmware/flash/read_batch.h"
#include "firmware/mapping/block_map.h"

namespace tlmssd::firmware {

WholeBlockDestination::WholeBlockDestination(Flusher& flusher, GcWorker& gc_worker)
    : NativeDestination(flusher, gc_worker), places_(*core_.places) {}

std::uint32_t WholeBlockDestination::region_of(WriteBuffer::Index i) const {
  return places_.block_of(buffer_.entry(i).unit);
}

bool WholeBlockDestination::blocked() {
  return !rewritten_.empty() && rewritten_.contains(region_of(buffer_.front()));
}

Destination::Place WholeBlockDestination::next_place(std::uint8_t line) {
  const std::uint32_t home = turns_.nth(region_of(buffer_.front(line)));
  if (turns_.busy(home)) return {};
  return Place(takes(home) ? home : next_pu());
}

void WholeBlockDestination::fill(ProgramJob& job, std::uint8_t line) {
  job.entry = buffer_.front(line);
  const std::uint32_t region = region_of(job.entry);
  job.unit = places_.first_of(region);
  rewritten_.insert(region);
  for (std::uint32_t n = 0; n < core_.layout.program_units; ++n) {
    const Lpn unit = job.unit + n;
    const WriteBuffer::Index i = buffer_.find(unit);
    if (buffer_.merges(i)) {
      buffer_.take(i);
      if (buffer_.entry(i).mask != core_.layout.all_sectors()) ++job.partial;
      job.put(unit, i, buffer_.stamps(i));
    } else if (places_.mapped(unit)) {
      job.put_hole();
      job.source[n] = ProgramJob::k_copied;
      --job.holes;
      ++job.copies;
    } else {
      job.put_hole();
    }
  }
  job.partial += job.copies;
}

/// Whether all that a die programs of a region comes from its old place.
bool WholeBlockDestination::only_copies(const ProgramJob& job, std::uint32_t part) const {
  const std::uint32_t* const sources = &job.source[part * core_.layout.die_units];
  const auto copied = [](std::uint32_t source) { return source == ProgramJob::k_copied; };
  const auto not_written = [](std::uint32_t source) { return source >= ProgramJob::k_copied; };
  return std::any_of(sources, sources + core_.layout.die_units, copied) &&
         std::all_of(sources, sources + core_.layout.die_units, not_written);
}

/// Whether the dies of a job are those of the region's old place, if it still has one. Wherever a
/// region made of whole stripes goes in its parallel unit, every part of it stays on its die.
bool WholeBlockDestination::same_dies(const ProgramJob& job) const {
  const Layout& layout = core_.layout;
  const Ppn old = places_.base(places_.block_of(job.unit));
  if (!core_.map->copies_on_die() || layout.operations % layout.stripe_dies != 0) return false;
  return old == k_nowhere || layout.pu_of(layout.block_of(old)) == job.pu;
}

void WholeBlockDestination::plan_copies(ProgramJob& job) {
  const Ppn old = places_.base(places_.block_of(job.unit));
  if (old == k_nowhere) return;
  for (std::uint32_t part = 0; part < job.operations; ++part) {
    if (only_copies(job, part)) job.parts[part].copy_from = old + part * core_.layout.die_units;
  }
  job.pinned = core_.layout.block_of(old);
  core_.pool.pin(job.pinned);
}

void WholeBlockDestination::forget_copies(ProgramJob& job) {
  if (job.pinned == k_no_block) return;
  for (std::uint32_t part = 0; part < job.operations; ++part) job.parts[part].copy_from = k_nowhere;
  core_.unpin(std::exchange(job.pinned, k_no_block));
}

// Partly written units get their other sectors from flash, units that were not written their
// content, or nothing when they have been trimmed meanwhile. What is left to be copied on its die
// is not read.
Task<> WholeBlockDestination::read_modify_write(ProgramJob& job) {
  job.on_die = same_dies(job);
  ReadBatch reads(core_, Purpose::host, address_of(job), &job.ledger);
  for (std::uint32_t n = 0; n < job.live; ++n) {
    const std::uint32_t source = job.source[n];
    const Lpn unit = job.unit + n;
    if (source == ProgramJob::k_hole || (job.on_die && only_copies(job, n / core_.layout.die_units)))
      continue;
    const Ppn where = places_.lookup(unit);
    if (source != ProgramJob::k_copied) {
      WriteBuffer::Entry& entry = buffer_.entry(source);
      if (lacks_nothing(job, n)) continue;
      if (!core_.poisoned.empty() && core_.poisoned.contains(unit)) entry.damaged = true;
      if (where == k_nowhere) {
        complete(job, n, [](std::uint32_t) { return k_zeros; });
        continue;
      }
    } else if (where == k_nowhere) {
      job.source[n] = ProgramJob::k_hole;
      --job.copies;
      ++job.holes;
      continue;
    }
    reads.add(where, unit);
  }
  job.partial = 0;
  core_.stats.rmw_reads += reads.size();
  co_await reads;
  reads.drain([&](const ReadOp& read, std::uint32_t at) {
    const Lpn unit = read.wanted[at];
    const std::uint32_t n = unit - job.unit;
    if (job.source[n] != ProgramJob::k_copied) {
      complete(job, n, read, at);
      return;
    }
    check_moved(core_, read, at);
    job.lpn(n) = unit;
    job.set_content(n, read.content(at));
  });
}

Task<bool> WholeBlockDestination::claim(ProgramJob& job) {
  for (;;) {
    if (!at_hand(job)) {
      const bool placed = co_await wait_for_space(job);
      if (!placed) co_return false;
    }
    if (!job.on_die || same_dies(job)) break;
    gc_.claimed(job);  // another program's turn
    co_await read_modify_write(job);
    co_await RunStage(core_.hw, Stage::flash, &job.ledger);
    if (core_.read_only) co_return false;
  }
  if (job.on_die) plan_copies(job);
  take_place(job);
  co_return true;
}

void WholeBlockDestination::on_failure(ProgramJob& job) {
  forget_copies(job);
  NativeDestination::on_failure(job);
}

void WholeBlockDestination::release(ProgramJob& job) {
  forget_copies(job);
  rewritten_.erase(places_.block_of(job.unit));
}

void WholeBlockDestination::commit(ProgramJob& job) {
  for (std::uint32_t n = 0; n < job.live; ++n) {
    const WriteBuffer::Index i = job.source[n];
    if (i >= ProgramJob::k_copied) continue;
    const WriteBuffer::Entry& entry = buffer_.entry(i);
    if (entry.state == WriteBuffer::State::flying) {
      places_.map(entry.unit);
      core_.partial_trims.rewritten(entry.unit, entry.trimmed);
      completions_.note_damage(entry);
    } else if (entry.damaged && places_.mapped(entry.unit)) {
      // The newer version still waits, and may take some sectors from here.
      core_.lose(entry.unit);
    }
  }
  core_.place_block(places_.block_of(job.unit), job);
  core_.post_map_update(job.unit, 1);
  for (std::uint32_t n = 0; n < job.live; ++n) {
    if (job.source[n] >= ProgramJob::k_copied) continue;
    core_.rewritten(job.unit + n);  // what was superseded on its way lies there, too
    completions_.complete(job.source[n], &job.ledger, false);
    buffer_.release(job.source[n]);
  }
  end_program(core_, job);
}

}  // namespace tlmssd::firmware
