#include "firmware/logblocks/log_blocks.h"

#include <algorithm>

#include "firmware/flash/erase.h"
#include "firmware/flash/program.h"

namespace tlmssd::firmware {

LogBlocks::LogBlocks(Core& core, LogScheme& scheme)
    : core_(core), scheme_(scheme), work_(core.layout.pus), written_(core.layout.total_blocks()) {
  scheme.attach(*this);
}

// ------------------------------------------------------------------------------------------------------------------- the lock

Task<> LogBlocks::lock(std::uint32_t pu) {
  Work& work = work_[pu];
  if (work.locked) {
    ++work.waiting;
    co_await work.lock.wait();  // handed over locked
    --work.waiting;
  }
  work.locked = true;
}

void LogBlocks::unlock(std::uint32_t pu) {
  Work& work = work_[pu];
  work.locked = !work.lock.empty();
  if (work.locked) core_.hw.event_queue.soon(work.lock.pop());
}

void LogBlocks::resume_all(WaitQueue& queue) {
  while (const auto waiter = queue.pop()) core_.hw.event_queue.soon(waiter);
}

// ----------------------------------------------------------------------------------------------- programs of the write buffer

Task<bool> LogBlocks::place(ProgramJob& job, std::uint64_t buffer_address) {
  const std::uint32_t pu = job.pu;
  co_await lock(pu);
  if (must_maintain(pu)) co_await maintain_once(pu);
  BlockNumber block = k_no_block;
  do {
    const bool emptied = co_await empty_failed(pu);
    block = k_no_block;
    if (emptied && !core_.read_only) block = co_await scheme_.place(job);
  } while (block != k_no_block && core_.pool.info(block).failed);
  if (block == k_no_block || core_.read_only) {
    core_.go_read_only();
    unlock(pu);
    co_return false;
  }
  if (job.ledger.mark() < core_.hw.event_queue.now()) {
    ++core_.stats.space_waits;
    job.ledger.charge(Cause::space_wait, core_.hw.event_queue.now());
  }
  claim(job, block, Purpose::host, buffer_address);
  scheme_.claimed(job);
  ++work_[pu].in_flight;
  co_return true;
}

void LogBlocks::ended(std::uint32_t pu) {
  Work& work = work_[pu];
  if (--work.in_flight > 0) return;
  resume_all(work.quiet);
  kick(pu);
}

Task<> LogBlocks::programs_ended(std::uint32_t pu) {
  Work& work = work_[pu];
  while (work.in_flight > 0) co_await work.quiet.wait();
}

void LogBlocks::claim(ProgramJob& job, BlockNumber block, Purpose purpose, std::uint64_t buffer_address) {
  job.base = core_.pool.claim_in(block, written_[block]++);
  prepare_program(core_, job, purpose, buffer_address);
}

// --------------------------------------------------------------------------------------------------------------------- blocks

Task<BlockNumber> LogBlocks::take_block(std::uint32_t pu, bool most_worn) {
  Work& work = work_[pu];
  while (core_.pool.pu(pu).free == 0 && work.erasing > 0) co_await work.free.wait();
  if (core_.pool.pu(pu).free == 0 || core_.read_only) {
    core_.go_read_only();
    co_return k_no_block;
  }
  const BlockNumber block = core_.pool.open(pu, most_worn, core_.clock());
  written_[block] = 0;
  co_return block;
}

void LogBlocks::close(BlockNumber block) {
  core_.pool.seal(block);
}

void LogBlocks::discard(BlockNumber block) {
  core_.pool.seal(block);
  core_.pool.take_out(block);
  const std::uint32_t pu = pu_of(block);
  ++work_[pu].erasing;
  ++busy_;
  tasks_.start(erase(pu, block, work_[pu].moving));
}

Task<> LogBlocks::erase(std::uint32_t pu, BlockNumber block, Purpose purpose) {
  Work& work = work_[pu];
  while (core_.pool.pinned(block)) co_await work.pins.wait();
  co_await erase_block(core_, block, purpose);
  --work.erasing;
  --busy_;
  work.check_wear = true;
  resume_all(work.free);
  kick(pu);
  core_.events.work_ended();
}

void LogBlocks::unpinned(std::uint32_t pu, BlockNumber /*block*/) {
  resume_all(work_[pu].pins);
}

// Blocks in which a program failed are emptied and retired before anything else is written to the
// parallel unit.
Task<bool> LogBlocks::empty_failed(std::uint32_t pu) {
  while (core_.pool.failing(pu) > 0) {
    co_await programs_ended(pu);
    // A merge that could not be finished leaves data in a failed block that is not known as a log.
    if (core_.read_only) co_return false;
    const BlockNumber block = core_.pool.take_grown_bad(pu);
    if (block == k_no_block) co_return true;
    // Even if nothing in it is valid: the scheme may go on writing to it.
    const bool emptied = co_await scheme_.evacuate(block, false);
    if (!emptied) co_return false;
    if (core_.pool.info(block).state == BlockState::grown_bad) discard(block);
  }
  co_return true;
}

// --------------------------------------------------------------------------------------------------------------------- copies

// Takes the first units over into jobs of one program unit each and makes the reads they need;
// returns how many units that were.
std::size_t LogBlocks::make_batch(BlockNumber block, std::span<const Lpn> units, ReadBatch& reads,
                                  std::vector<ProgramJob*>& batch) {
  const std::uint32_t whole = core_.layout.die_units;
  std::size_t at = 0;
  while (at < units.size() && batch.size() < core_.config.gc.parallel_copies) {
    ProgramJob& job = core_.jobs.take();
    job.pu = pu_of(block);
    for (std::uint32_t n = 0; n < whole && at < units.size(); ++n, ++at) {
      job.put_hole();
      const Lpn unit = units[at];
      const Ppn where = unit == k_no_unit ? k_nowhere : core_.lookup(unit);
      if (where == k_nowhere) continue;  // a hole, or trimmed meanwhile
      --job.holes;
      job.lpn(n) = unit;
      job.source[n] = where.number();
    }
    job.pad();
    const auto number = written_[block] + static_cast<std::uint32_t>(batch.size());
    batch.push_back(&job);
    if (core_.map->copies_on_die() && copy_on_die(job, block, number)) continue;
    for (std::uint32_t n = 0; n < job.live; ++n) {
      if (job.source[n] == ProgramJob::k_hole) continue;
      reads.add(job.source_unit(n), job.lpn(n), (batch.size() - 1) * whole + n);
    }
  }
  return at;
}

bool LogBlocks::copy_on_die(ProgramJob& job, BlockNumber block, std::uint32_t number) const {
  const Layout& layout = core_.layout;
  Ppn from = k_nowhere;
  for (std::uint32_t n = 0; n < job.live; ++n) {
    if (job.source[n] == ProgramJob::k_hole) continue;
    // Where in its program unit the source lies comes first: what lies before slot n has no slot 0.
    if (job.source[n] % layout.die_units != n) return false;
    const Ppn first = job.source_unit(n) - n;
    if (from != k_nowhere && from != first) return false;
    from = first;
  }
  if (from == k_nowhere) return false;
  const BlockNumber source = layout.block_of(from);
  const std::uint32_t stripe_die = (from - layout.first_unit(source)) / layout.die_units % layout.stripe_dies;
  if (layout.pu_of(source) != layout.pu_of(block) || stripe_die != number % layout.stripe_dies) return false;
  job.parts[0].copy_from = from;
  return true;
}

Task<bool> LogBlocks::append(BlockNumber block, std::span<const Lpn> units) {
  Flow flow;
  while (!units.empty() && !flow.failed && !core_.read_only) {
    ReadBatch reads(core_, work_[pu_of(block)].moving, core_.map->dram_bytes());
    std::vector<ProgramJob*> batch;
    const std::size_t taken = make_batch(block, units, reads, batch);
    units = units.subspan(taken);
    co_await RunStage(core_.hw, Stage::gc, nullptr, static_cast<std::uint32_t>(taken));
    co_await reads;
    reads.drain([&](const ReadOp& read, std::uint32_t at) {
      check_moved(core_, read, at);
      const auto n = static_cast<std::uint32_t>(read.need[at]);
      batch[n / core_.layout.die_units]->set_content(n % core_.layout.die_units, read.content(at));
    });
    for (ProgramJob* job : batch) {
      while (flow.under_way >= core_.config.gc.parallel_copies) co_await flow.ended.wait();
      if (!flow.failed && !core_.read_only) co_await RunStage(core_.hw, Stage::flash, nullptr);
      if (flow.failed || core_.read_only) {  // perhaps meanwhile
        core_.jobs.give(*job);
        continue;
      }
      claim(*job, block, work_[job->pu].moving, core_.map->dram_bytes());
      ++flow.under_way;
      tasks_.start(copy(*job, flow));
    }
  }
  while (flow.under_way > 0) co_await flow.ended.wait();
  co_return !flow.failed && !core_.read_only;
}

Task<> LogBlocks::copy(ProgramJob& job, Flow& flow) {
  Program program(core_, job);
  if (co_await program) {
    commit(job);
  } else {
    flow.failed = true;
  }
  core_.jobs.give(job);
  --flow.under_way;
  if (const auto waiter = flow.ended.pop()) core_.hw.event_queue.soon(waiter);
}

void LogBlocks::commit(ProgramJob& job) {
  for (std::uint32_t n = 0; n < job.live; ++n) {
    if (job.source[n] == ProgramJob::k_hole) continue;
    const Lpn unit = job.lpn(n);
    if (unit >= core_.layout.kept_units() || core_.lookup(unit) != job.source_unit(n)) {
      ++core_.stats.gc_invalid_copies;  // trimmed in the meantime
      continue;
    }
    core_.remap(unit, job.source_unit(n), job, n, name_of(job.purpose));
  }
  core_.stats.units_programmed[static_cast<std::size_t>(job.purpose)] += job.live - job.holes;
  end_program(core_, job);
}

// ---------------------------------------------------------------------------------------------------------------- maintenance

bool LogBlocks::must_maintain(std::uint32_t pu) const {
  return work_[pu].check_wear || core_.hooks.move_waits(pu);
}

void LogBlocks::kick(std::uint32_t pu) {
  Work& work = work_[pu];
  // While the lock is held, the next program sees to it.
  if (work.maintaining || work.locked || core_.read_only || !(idle_ || must_maintain(pu))) return;
  work.maintaining = true;
  ++busy_;
  tasks_.start(maintain(pu));
}

Task<> LogBlocks::maintain(std::uint32_t pu) {
  Work& work = work_[pu];
  bool more = true;
  while (more && !core_.read_only && (idle_ || must_maintain(pu))) {
    co_await lock(pu);
    const bool emptied = co_await empty_failed(pu);
    more = emptied && !core_.read_only;
    if (more) more = co_await maintain_once(pu);
    unlock(pu);
  }
  work.maintaining = false;
  --busy_;
  core_.events.work_ended();
}

// One move or merge; false: there is nothing left to do.
Task<bool> LogBlocks::maintain_once(std::uint32_t pu) {
  co_await programs_ended(pu);
  if (core_.hooks.move_waits(pu)) {
    const Move move = core_.hooks.take_move(pu, false);
    if (move.block == k_no_block) co_return true;
    ++core_.stats.moves[static_cast<std::size_t>(move.purpose)];
    co_return co_await evacuate(pu, move.block, move.purpose);
  }
  if (std::exchange(work_[pu].check_wear, false)) {
    const BlockNumber block = core_.pool.due_for_wear(pu);
    if (block != k_no_block) {
      ++core_.stats.wear_moves;
      co_return co_await evacuate(pu, block, Purpose::wear);
    }
  }
  if (!idle_) co_return false;
  co_return co_await scheme_.tidy(pu);
}

/// Moves a block's data for their own sake, for wear levelling into a worn one.
Task<bool> LogBlocks::evacuate(std::uint32_t pu, BlockNumber block, Purpose purpose) {
  work_[pu].moving = purpose;
  const bool moved = co_await scheme_.evacuate(block, purpose == Purpose::wear);
  work_[pu].moving = Purpose::gc;
  co_return moved;
}

void LogBlocks::set_idle(bool idle) {
  idle_ = idle;
  if (!idle) return;
  for (std::uint32_t pu = 0; pu < work_.size(); ++pu) kick(pu);
}

void LogBlocks::now_read_only() {
  for (Work& work : work_) resume_all(work.free);
}

void LogBlocks::archive(Archive& a) {
  for (Work& work : work_) a(work.check_wear);
  for (BlockNumber block(0); block < core_.layout.total_blocks(); ++block) {
    if (!core_.pool.used(block)) continue;
    a(written_[block]);
    if (written_[block] > core_.layout.programs_per_block)
      throw ArchiveError("snapshot is damaged: a page beyond its block");
  }
}

}  // namespace tlmssd::firmware
