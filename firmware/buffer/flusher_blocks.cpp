// Block-mapped regions: what waits of a block goes out together, the rest is copied from its old
// place; or it goes to log blocks.
#include <algorithm>
#include <utility>

#include "firmware/buffer/flusher.h"
#include "firmware/flash/program.h"
#include "firmware/flash/read_batch.h"
#include "firmware/gc/worker.h"
#include "firmware/logblocks/log_blocks.h"
#include "firmware/mapping/block_map.h"

namespace tlmssd::firmware {

/// Whether what is to go out next belongs to a block that is being rewritten: it would copy what is
/// about to change.
bool Flusher::block_under_way() {
  if (blocks_.empty()) return false;
  const WriteBuffer::Index next = buffer_.front();
  return next != WriteBuffer::k_none && blocks_.contains(core_.places->block_of(buffer_.entry(next).unit));
}

std::optional<std::uint32_t> Flusher::pu_for_next() {
  if (core_.places == nullptr) return next_pu();
  const std::uint32_t block = core_.places->block_of(buffer_.entry(buffer_.front()).unit);
  const std::uint32_t home = sequence_[block % sequence_.size()];
  if (under_way_[home] >= core_.config.allocation.programs_per_pu) return {};
  if (core_.pool.accepts(home) && !gc_worker_->exhausted(home)) return home;
  return next_pu();
}

void Flusher::fill_block(ProgramJob& job) {
  job.entry = buffer_.front();
  const std::uint32_t block = core_.places->block_of(buffer_.entry(job.entry).unit);
  job.unit = core_.places->first_of(block);
  blocks_.insert(block);
  for (std::uint32_t n = 0; n < core_.layout.program_units; ++n) {
    const Lpn unit = job.unit + n;
    const WriteBuffer::Index i = buffer_.find(unit);
    if (buffer_.merges(i)) {
      buffer_.take(i);
      if (buffer_.entry(i).mask != core_.layout.all_sectors()) ++job.partial;
      job.put(unit, i, buffer_.stamps(i));
    } else if (core_.places->mapped(unit)) {
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

/// Whether all that a die programs of a block comes from its old place.
bool Flusher::only_copies(const ProgramJob& job, std::uint32_t part) const {
  const std::uint32_t* const sources = &job.source[part * core_.layout.die_units];
  const auto copied = [](std::uint32_t source) { return source == ProgramJob::k_copied; };
  const auto not_written = [](std::uint32_t source) { return source >= ProgramJob::k_copied; };
  return std::any_of(sources, sources + core_.layout.die_units, copied) &&
         std::all_of(sources, sources + core_.layout.die_units, not_written);
}

/// Whether the dies of a job are those of the block's old place, if it still has one. Wherever a
/// block made of whole stripes goes in its parallel unit, every part of it stays on its die.
bool Flusher::same_dies(const ProgramJob& job) const {
  const Layout& layout = core_.layout;
  const Ppn old = core_.places->base(core_.places->block_of(job.unit));
  if (!core_.map->copies_on_die() || layout.operations % layout.lanes != 0) return false;
  return old == k_nowhere || layout.pu_of(layout.block_of(old)) == job.pu;
}

// Between this and the end of the program, the old place is pinned; not before, because a program
// that waits for space must not hold a block that collection wants to erase.
void Flusher::plan_copies(ProgramJob& job) {
  const Ppn old = core_.places->base(core_.places->block_of(job.unit));
  if (old == k_nowhere) return;
  for (std::uint32_t part = 0; part < job.operations; ++part) {
    if (only_copies(job, part)) job.parts[part].copy_from = old + part * core_.layout.die_units;
  }
  job.pinned = core_.layout.block_of(old);
  core_.pool.pin(job.pinned);
}

void Flusher::forget_copies(ProgramJob& job) {
  if (job.pinned == k_no_block) return;
  for (std::uint32_t part = 0; part < job.operations; ++part) job.parts[part].copy_from = k_nowhere;
  core_.unpin(std::exchange(job.pinned, k_no_block));
}

// Partly written units get their other sectors from flash, units that were not written their
// content, or nothing when they have been trimmed meanwhile.
Task<> Flusher::complete_block(ProgramJob& job) {
  const std::uint64_t all = core_.layout.all_sectors();
  job.on_die = same_dies(job);
  ReadBatch reads(core_, Purpose::host, program_address(job.entry), &job.ledger);
  for (std::uint32_t n = 0; n < job.live; ++n) {
    const std::uint32_t source = job.source[n];
    const Lpn unit = job.unit + n;
    if (source == ProgramJob::k_hole || job.parts[n / core_.layout.die_units].copy_from != k_nowhere)
      continue;
    const Ppn where = core_.places->lookup(unit);
    if (source != ProgramJob::k_copied) {
      WriteBuffer::Entry& entry = buffer_.entry(source);
      if (entry.mask == all) continue;
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

void Flusher::commit_block(ProgramJob& job) {
  const std::uint32_t block = core_.places->block_of(job.unit);
  for (std::uint32_t n = 0; n < job.live; ++n) {
    const WriteBuffer::Index i = job.source[n];
    if (i >= ProgramJob::k_copied) continue;
    const WriteBuffer::Entry& entry = buffer_.entry(i);
    if (entry.state == WriteBuffer::State::flying) {
      core_.places->map(entry.unit);
      note_damage(entry);
    } else if (entry.damaged && core_.places->mapped(entry.unit)) {
      // The newer version still waits, and may take some sectors from here.
      core_.poisoned.insert(entry.unit);
    }
  }
  core_.place_block(block, job);
  core_.post_map_update(job.unit, 1);
  for (std::uint32_t n = 0; n < job.live; ++n) {
    if (job.source[n] >= ProgramJob::k_copied) continue;
    settle(job.source[n], &job.ledger, false);
    buffer_.release(job.source[n]);
  }
  core_.stats.units_programmed[static_cast<std::size_t>(Purpose::host)] += job.live - job.copies - job.holes;
  core_.stats.units_programmed[static_cast<std::size_t>(Purpose::gc)] += job.copies;
  core_.stats.units_rewritten += job.copies;
  end_program(core_, job);
  end(job);
}

// ---------------------------------------------------------------------------------------------------------------- log blocks

/// Where what is to go out next belongs, unless that parallel unit has programs enough under way.
std::optional<std::uint32_t> Flusher::home_pu() {
  const std::uint32_t pu = logs_->home(buffer_.entry(buffer_.front()).unit);
  if (under_way_[pu] < core_.config.allocation.programs_per_pu) return pu;
  return {};
}

Task<> Flusher::write_to_log(ProgramJob& job) {
  if (job.partial > 0) co_await complete_units(job);
  for (;;) {
    co_await RunStage(core_.hw, Stage::flash, &job.ledger);
    bool placed = !core_.read_only;
    if (placed) placed = co_await logs_->place(job, program_address(job.entry));
    if (!placed) {
      fail(job);
      co_return;
    }
    Program program(core_, job);
    logs_->started(job.pu);
    if (co_await program) break;
    logs_->ended(job.pu);
  }
  commit(job);
}

}  // namespace tlmssd::firmware
