// The GC worker's way with data: the multi-plane pages of a victim are read, their valid units fill
// program units, and when these have been programmed the map follows and the victim is erased.
#include <bit>

#include "firmware/flash/erase.h"
#include "firmware/flash/program.h"
#include "firmware/flash/read_batch.h"
#include "firmware/gc/pu_worker.h"
#include "firmware/mapping/block_map.h"

namespace tlmssd::firmware {

// -------------------------------------------------------------------------------------------------------------------- reading

/// Whether a victim begins: it has been chosen, and cores whose cycles depend on that are told from
/// among how many.
bool PuWorker::begins() const {
  if (state_.move.first > 0) return false;
  if (!core_.hw.cpu.by_work()) return true;
  std::uint32_t closed = 1;  // the victim
  for (std::uint32_t n = 0; n < core_.layout.blocks; ++n) {
    const BlockNumber block(pu_ * core_.layout.blocks + n);
    if (core_.pool.used(block) && core_.pool.info(block).state == BlockState::closed) ++closed;
  }
  core_.hw.cpu.describe(Stage::gc, {.candidates = closed});
  return true;
}

Task<> PuWorker::read() {
  const bool awaited = state_.lines.awaited();
  const Picoseconds start = core_.hw.event_queue.now();
  Ledger ledger(start);
  Ledger* const charged = awaited ? &ledger : nullptr;
  ReadBatch reads(core_, state_.purpose_for(state_.move.block), core_.map->dram_bytes(), charged);
  const std::uint32_t first = begins() ? 1 : 0;
  const std::uint32_t units = make_reads(reads);
  co_await RunStage(core_.hw, Stage::gc, charged, std::max(1U, units + first));
  reading_ = true;
  co_await reads;
  reading_ = false;
  if (awaited) state_.lines.charge(ledger, start);
  prefetch(reads);
  state_.gathering.add(reads.take());
}

// Makes reads of the block's next multi-plane pages that hold valid units; returns the
// number of units.
std::uint32_t PuWorker::make_reads(ReadBatch& reads) {
  const Layout& layout = core_.layout;
  Move& move = state_.move;
  const std::uint64_t* const words = core_.pool.words(move.block);
  const Ppn first = layout.first_unit(move.block);
  std::uint32_t units = 0;
  std::uint32_t at = move.first;
  while (at < move.end) {
    const std::uint64_t rest = words[at / 64] >> (at % 64);
    if (rest == 0) {
      at = (at / 64 + 1) * 64;
      continue;
    }
    at += static_cast<std::uint32_t>(std::countr_zero(rest));
    if (at >= move.end) break;
    if (reads.size() >= core_.config.gc.parallel_copies &&
        reads.back()->mp_page != layout.mp_page_of(first + at))
      break;
    reads.add(first + at, 0);  // which unit lies there is learnt from the spare area
    ++units;
    ++at;
  }
  for (ReadOp& read : reads) read.tag = read.low;
  move.first = at;
  if (at >= move.end) read_to_end(!reads.empty());
  return units;
}

// Nothing more is to be read of the block but what is `coming`. A part's block stays what it is.
void PuWorker::read_to_end(bool coming) {
  if (state_.move.whole) state_.gathering.read_to_end(state_.move.block, coming);
  state_.move.block = k_no_block;
}

// The map entries of what has been read are looked up next: lets the processor fetch them
// meanwhile.
void PuWorker::prefetch(const ReadList& reads) const {
  for (const ReadOp& read : reads) {
    for (std::uint32_t at = read.low; at <= read.high; ++at) {
      if (read.wanted[at] != k_no_unit && read.spare[at] < core_.layout.kept_units())
        core_.map->prefetch(read.spare[at]);
    }
  }
}

// -------------------------------------------------------------------------------------------------------- writing and erasing

/// What has been gathered comes out of blocks that native mode gets nothing back from.
bool PuWorker::frees_nothing() const {
  const Gathering& gathering = state_.gathering;
  return gathering.begun() && (gathering.from_static() || (!state_.move.whole && state_.moving()));
}

/// Where what has been gathered goes: wear levelling and features have blocks of their own, as long
/// as these have room.
WriteTarget PuWorker::target() const {
  const WriteTarget shared = state_.gathering.target();
  const Purpose purpose = state_.move.purpose;
  const WriteTarget own = core_.pool.apart() || purpose == Purpose::gc ? shared
                          : purpose == Purpose::wear                   ? WriteTarget::wear
                          : core_.pool.moves_apart()                   ? WriteTarget::move
                                                                       : shared;
  return core_.pool.can_claim(pu_, own) ? own : shared;
}

/// What has been gathered may go into a native block now.
bool PuWorker::may_launch() const {
  return frees_nothing() ? core_.pool.can_fold(pu_, state_.gathering.target())
                         : core_.pool.can_claim(pu_, target());
}

void PuWorker::launch() {
  const WriteTarget place = target();
  ProgramJob& job = state_.gathering.take(state_.move.block);
  job.pad();
  tasks_.start(program(job, state_.move.purpose, place));
}

Task<> PuWorker::program(ProgramJob& job, Purpose purpose, WriteTarget target) {
  ++programs_;
  job.awaited = state_.lines.awaited();
  const Picoseconds start = core_.hw.event_queue.now();
  if (job.awaited) job.ledger.restart(start, 0, 0);
  for (;;) {
    Program done(core_, job, target, job.folded > 0 ? Purpose::migration : purpose, core_.map->dram_bytes());
    if (co_await done) break;
    co_await RunStage(core_.hw, Stage::flash, nullptr);
    if (!core_.pool.apart()) target = WriteTarget::gc;
    if (core_.read_only || !core_.pool.can_claim(pu_, target)) break;
  }
  if (job.awaited) state_.lines.charge(job.ledger, start);
  // Without a place to go, the units stay where they were.
  if (!job.failed()) commit(job, purpose);
  if (job.pinned != k_no_block) core_.unpin(std::exchange(job.pinned, k_no_block));
  const std::uint32_t moved = job.failed() || purpose != Purpose::gc ? 0 : job.live;
  core_.jobs.give(job);
  --programs_;
  wake_worker();
  if (moved == 0) co_return;
  for (Feature* const feature : core_.hooks.moved) feature->on_moved(pu_, moved);
}

// A block-mapped region whose slots hold nothing any more, or that lies elsewhere by now, stays
// where it is.
void PuWorker::commit_block(const ProgramJob& job) {
  for (std::uint32_t n = 0; n < job.live; ++n) {
    if (job.source[n] == ProgramJob::k_hole) continue;
    const std::uint32_t block = core_.places->block_of(job.lpn(n));
    const Ppn base = core_.places->base(block);
    if (!base.valid() || base + n != job.source_unit(n)) break;
    core_.place_block(block, job);
    core_.post_map_update(core_.places->first_of(block), 1);
    return;
  }
  core_.stats.gc_invalid_copies += job.live - job.holes;
}

void PuWorker::commit(ProgramJob& job, Purpose purpose) {
  if (core_.places != nullptr) commit_block(job);
  for (std::uint32_t n = 0; core_.places == nullptr && n < job.live; ++n) {
    const Lpn unit = job.lpn(n);
    if (unit >= core_.layout.kept_units() || core_.lookup(unit) != job.source_unit(n)) {
      ++core_.stats.gc_invalid_copies;  // overwritten or trimmed in the meantime
      continue;
    }
    core_.remap(unit, job.source_unit(n), job, n, name_of(job.purpose));
    core_.post_map_update(unit, 1);
    if (core_.layout.is_map(unit)) ++core_.stats.map_units_moved;
  }
  if (core_.places == nullptr)
    core_.stats.units_programmed[static_cast<std::size_t>(purpose)] += job.live - job.holes - job.folded;
  core_.stats.units_programmed[static_cast<std::size_t>(Purpose::migration)] += job.folded;
  if (core_.pool.apart()) core_.pool.count_moved(handle_of(job.target), job.live);
  const bool on_die = job.parts[0].copy_from != k_nowhere;
  (on_die ? core_.stats.units_folded_on_die : core_.stats.units_folded) += job.folded;
  end_program(core_, job);
}

Task<> PuWorker::erase(BlockNumber block) {
  for (Feature* const feature : core_.hooks.erase) feature->on_erase(block);
  while (core_.pool.pinned(block)) {
    pinned_ = block;
    static_cast<void>(co_await Sleep{sleeper_});
  }
  pinned_ = k_no_block;
  const bool failed = core_.pool.info(block).failed;
  erasing_ = true;
  const Picoseconds start = core_.hw.event_queue.now();
  Ledger ledger(start);
  co_await erase_block(core_, block, state_.end_emptying(block), modes_.after(block), &ledger);
  erasing_ = false;
  state_.lines.charge(ledger, start);
  if (failed) co_return;
  wear_.erased();
  exhausted_ = slc_exhausted_ = false;
  wake();
  for (Feature* const feature : core_.hooks.erased) feature->on_erased(pu_);
}

Task<> PuWorker::change_mode(BlockMode mode) {
  erasing_ = true;
  const Picoseconds start = core_.hw.event_queue.now();
  Ledger ledger(start);
  co_await erase_block(core_, modes_.take(mode), Purpose::migration, mode, &ledger);
  erasing_ = false;
  state_.lines.charge(ledger, start);
  exhausted_ = slc_exhausted_ = false;
  wake();
}

// ---------------------------------------------------------------------------------------------------------------- copies on the die

/// Whether the pages of the victim that come next are a whole program unit of valid units. Copies
/// take no part in filling program units with what is left of several victims, so the reserve is
/// not theirs.
bool PuWorker::copies_next() const {
  if (!core_.pslc || !core_.pslc->folds_on_die() || state_.moving() || !core_.pool.can_fold(pu_))
    return false;
  const Layout& layout = core_.layout;
  const BlockNumber block = state_.move.block;
  const std::uint32_t first = state_.move.first;
  if (core_.pool.mode(block) != BlockMode::slc || core_.pool.info(block).failed) return false;
  if (first % layout.mp_page_units != 0 || first + layout.program_units > layout.slc_units()) return false;
  const std::uint64_t* const words = core_.pool.words(block);
  for (std::uint32_t at = first; at < first + layout.program_units; ++at) {
    if ((words[at / 64] >> (at % 64) & 1U) == 0) return false;
  }
  return true;
}

Task<> PuWorker::copy() {
  co_await RunStage(core_.hw, Stage::gc, nullptr, core_.layout.program_units + (begins() ? 1 : 0));
  co_await RunStage(core_.hw, Stage::flash, nullptr);
  if (core_.pool.can_fold(pu_)) launch_copy();
}

// The source is pinned: it may not be erased before the copy has ended, even if the host overwrites
// all of it meanwhile.
void PuWorker::launch_copy() {
  const Layout& layout = core_.layout;
  Move& move = state_.move;
  ProgramJob& job = core_.jobs.take();
  const Ppn first = layout.first_unit(move.block) + move.first;
  job.pu = pu_;
  job.live = job.folded = layout.program_units;
  job.from_static = core_.pool.is_static(move.block);
  for (std::uint32_t n = 0; n < job.live; ++n) job.source[n] = (first + n).number();
  job.parts[0].copy_from = first;
  job.pinned = move.block;
  core_.pool.pin(job.pinned);
  move.first += layout.program_units;
  if (move.first == layout.slc_units()) read_to_end(false);
  tasks_.start(program(job, Purpose::gc, WriteTarget::gc));
}

}  // namespace tlmssd::firmware
