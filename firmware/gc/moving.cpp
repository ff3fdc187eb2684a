// The GC worker's way with data: the multi-plane pages of a victim are read, their valid units fill
// program units, and when these have been programmed the map follows and the victim is erased.
#include <algorithm>
#include <bit>
#include <fmt/format.h>
#include <stdexcept>
#include <utility>

#include "firmware/gc/worker.h"
#include "firmware/mapping/block_map.h"

namespace tlmssd::firmware {

// -------------------------------------------------------------------------------------------------------------------- reading

// Makes reads of the current victim's next multi-plane pages that hold valid units; returns the
// number of units.
std::uint32_t GcWorker::make_reads(Work& work, ReadList& reads) {
  const Layout& layout = core_.layout;
  const std::uint64_t* const words = core_.pool.words(work.current);
  const Ppn first = layout.first_unit(work.current);
  std::uint32_t units = 0;
  std::uint32_t at = work.cursor;
  while (at < work.end) {
    const std::uint64_t rest = words[at / 64] >> (at % 64);
    if (rest == 0) {
      at = (at / 64 + 1) * 64;
      continue;
    }
    at += static_cast<std::uint32_t>(std::countr_zero(rest));
    if (at >= work.end) break;
    if (reads.size() >= core_.config.gc.parallel_copies &&
        reads.back()->mp_page != layout.mp_page_of(first + at))
      break;
    ReadOp& read = core_.add_read(reads, first + at);
    const std::uint32_t in_mp_page = layout.in_mp_page(first + at, read.mp_page);
    read.wanted[in_mp_page] = 0;  // which unit lies there is learnt from the spare area
    ++units;
    ++at;
  }
  for (ReadOp& read : reads) read.tag = read.low;
  work.cursor = at;
  if (at < work.end) return units;
  if (work.part) {
    work.current = k_no_block;
    return units;
  }
  read_to_end(work, !reads.empty());
  return units;
}

// Nothing more is to be read of the current victim but what is `coming`. Without anything held back
// it only has to become empty.
void GcWorker::read_to_end(Work& work, bool coming) {
  const bool held = work.filling != nullptr && work.filling->live > 0;
  const bool held_of_it = held && (!core_.pslc || holds_of(*work.filling, work.current));
  (coming || held_of_it ? work.scanned : work.emptying).push_back(work.current);
  work.current = k_no_block;
  if (coming || held) return;
  work.emptying.insert(work.emptying.end(), work.scanned.begin(), work.scanned.end());
  work.scanned.clear();
}

// The map entries of what has been read are looked up next: lets the processor fetch them
// meanwhile.
void GcWorker::prefetch(const ReadList& reads) const {
  for (const ReadOp& read : reads) {
    for (std::uint32_t at = read.low; at <= read.high; ++at) {
      if (read.wanted[at] != k_no_unit && read.spare[at] < core_.layout.kept_units())
        core_.map->prefetch(read.spare[at]);
    }
  }
}

// Takes units of the oldest multi-plane page over into the program unit that is being filled, as
// many as fit.
void GcWorker::consume_mp_page(Work& work, std::uint32_t pu) {
  if (work.filling == nullptr) {
    work.filling = &core_.jobs.take();
    work.filling->pu = pu;
  }
  ReadOp& read = *work.mp_pages.front();
  const bool slc = core_.pslc && core_.pool.mode(read.block) == BlockMode::slc;
  for (std::uint32_t at = read.tag; at <= read.high; ++at) {
    if (read.wanted[at] == k_no_unit) continue;
    const Ppn where = core_.layout.ppn_of_mp_page(read.mp_page) + at;
    if (!core_.pool.valid(where)) {
      ++core_.stats.gc_stale_copies;
      continue;
    }
    if (work.filling->live == core_.layout.program_units) {
      read.tag = at;
      return;
    }
    const Lpn unit = read.spare[at];
    if (core_.places != nullptr) {
      take_over_slot(*work.filling, read, at);
      continue;
    }
    if (unit >= core_.layout.kept_units() || core_.map->lookup(unit) != where) {
      throw std::logic_error(fmt::format(
          "firmware: the spare area of valid physical unit {} names logical unit {}, which the map has at {}",
          where.number(), unit,
          static_cast<std::int64_t>(unit < core_.layout.kept_units() ? core_.map->lookup(unit).entry() : 0) -
              1));
    }
    if (read.lost(at) && core_.layout.is_map(unit)) {
      ++core_.stats.map_pages_lost;
    } else if (read.lost(at)) {
      ++core_.stats.uncorrectable_units;
      core_.poisoned.insert(unit);
    }
    core_.put(*work.filling, unit, where.number(), &read.stamps[std::size_t{at} * core_.layout.sectors]);
    if (!slc) continue;
    if (work.moving == Purpose::gc) ++work.filling->folded;
    work.filling->from_fixed = work.filling->from_fixed || core_.pool.is_static(read.block);
  }
  core_.end_read(work.mp_pages.pop());
}

// The same for a slot of a block-mapped region that is placed as a whole. Its slots come in their
// order, those that hold nothing among them; a block that was rewritten meanwhile is forgotten.
void GcWorker::take_over_slot(ProgramJob& job, const ReadOp& read, std::uint32_t at) {
  const Ppn where = core_.layout.ppn_of_mp_page(read.mp_page) + at;
  const std::uint32_t n = (where - core_.layout.first_unit(read.block)) % core_.layout.program_units;
  if (n == 0 && job.live > 0) {
    core_.stats.gc_stale_copies += job.live;
    job.live = job.holes = 0;
  }
  if (n != job.live) {
    ++core_.stats.gc_stale_copies;
    return;
  }
  const Lpn unit = read.spare[at];
  if (unit == k_no_unit || core_.places->lookup(unit) != where) {
    core_.put_hole(job);
    return;
  }
  if (read.lost(at)) {
    ++core_.stats.uncorrectable_units;
    core_.poisoned.insert(unit);
  }
  core_.put(job, unit, where.number(), &read.stamps[std::size_t{at} * core_.layout.sectors]);
}

// -------------------------------------------------------------------------------------------------------- writing and erasing

void GcWorker::launch(std::uint32_t pu, Work& work) {
  ProgramJob& job = *work.filling;
  work.filling = nullptr;
  core_.pad(job);
  const Purpose purpose = work.moving;
  const WriteTarget shared = moved_to(work);
  const WriteTarget own = core_.pool.apart() || purpose == Purpose::gc ? shared
                          : purpose == Purpose::wear                   ? WriteTarget::wear
                          : core_.pool.moves_apart()                   ? WriteTarget::move
                                                                       : shared;
  core_.claim(job, core_.pool.can_claim(pu, own) ? own : shared,
              job.folded > 0 ? Purpose::migration : purpose, core_.map->dram_bytes());
  // Victims of which nothing is held back any more only have to become empty.
  const BlockNumber reading = work.mp_pages.empty() ? k_no_block : work.mp_pages.front()->block;
  const bool stays = reading != k_no_block && core_.pool.info(reading).state == BlockState::closed;
  const BlockNumber held = stays ? k_no_block : reading;
  for (const BlockNumber block : work.scanned) {
    if (block != held) work.emptying.push_back(block);
  }
  work.scanned.clear();
  if (held != k_no_block && work.current != held) work.scanned.push_back(held);
  ++work.jobs;
  tasks_.start(program(pu, job, purpose));
}

Task<> GcWorker::program(std::uint32_t pu, ProgramJob& job, Purpose purpose) {
  Work& work = work_[pu];
  for (;;) {
    ProgramAwait done(core_.hw, job);
    co_await done;
    if (!job.failed()) break;
    core_.program_failed(job);
    co_await RunStage(core_.hw, Stage::flash, nullptr);
    const WriteTarget again = core_.pool.apart() ? job.target : WriteTarget::gc;
    if (core_.read_only || !core_.pool.can_claim(pu, again)) break;
    core_.claim(job, again, job.purpose, core_.map->dram_bytes());
  }
  // Without a place to go, the units stay where they were.
  if (!job.failed()) commit(job, purpose);
  if (job.pinned != k_no_block) core_.unpin(std::exchange(job.pinned, k_no_block));
  const std::uint32_t moved = job.failed() || purpose != Purpose::gc ? 0 : job.live;
  core_.jobs.give(job);
  --work.jobs;
  wake_worker(work);
  if (moved == 0) co_return;
  for (Feature* const feature : core_.hooks.moved) feature->on_moved(pu, moved);
}

// A block-mapped region whose slots hold nothing any more, or that lies elsewhere by now, stays
// where it is.
void GcWorker::commit_block(const ProgramJob& job) {
  for (std::uint32_t n = 0; n < job.live; ++n) {
    if (job.source[n] == ProgramJob::k_hole) continue;
    const std::uint32_t block = core_.places->block_of(job.spare[core_.layout.program_slot(n)]);
    const Ppn base = core_.places->base(block);
    if (!base.valid() || base + n != job.source_unit(n)) break;
    core_.place_block(block, job);
    core_.post_map_update(core_.places->first_of(block), 1);
    return;
  }
  core_.stats.gc_stale_copies += job.live;
}

void GcWorker::commit(ProgramJob& job, Purpose purpose) {
  if (core_.places != nullptr) commit_block(job);
  for (std::uint32_t n = 0; core_.places == nullptr && n < job.live; ++n) {
    const Lpn unit = job.spare[core_.layout.program_slot(n)];
    if (unit >= core_.layout.kept_units() || core_.map->lookup(unit) != job.source_unit(n)) {
      ++core_.stats.gc_stale_copies;  // overwritten or trimmed in the meantime
      continue;
    }
    core_.pool.invalidate(job.source_unit(n));
    core_.note_remap(unit, job.source_unit(n), job.base + n, name_of(job.purpose));
    core_.map->update(unit, job.base + n);
    core_.pool.validate(job.base + n, job.block);
    core_.post_map_update(unit, 1);
    if (core_.layout.is_map(unit)) ++core_.stats.map_units_moved;
  }
  core_.stats.units_programmed[static_cast<std::size_t>(purpose)] += job.live - job.holes - job.folded;
  core_.stats.units_programmed[static_cast<std::size_t>(Purpose::migration)] += job.folded;
  if (core_.pool.apart()) core_.pool.count_moved(handle_of(job.target), job.live);
  const bool on_die = job.parts[0].copy_from != k_nowhere;
  (on_die ? core_.stats.units_folded_on_die : core_.stats.units_folded) += job.folded;
  core_.count_program(job, job.purpose);
  core_.pool.programmed(job.block, false);
}

Task<> GcWorker::erase(std::uint32_t pu, BlockNumber block) {
  Work& work = work_[pu];
  while (core_.pool.pinned(block)) {
    work.pinned = block;
    co_await Sleep{work};
  }
  work.pinned = k_no_block;
  const bool failed = core_.pool.info(block).failed;
  co_await core_.erase(block, mode_after(pu, block));
  if (failed) co_return;
  work.check_wear = true;
  work.exhausted = work.slc_exhausted = false;
  wake(pu);
  for (Feature* const feature : core_.hooks.erased) feature->on_erased(pu);
}

}  // namespace tlmssd::firmware
