#include "firmware/flash/program.h"

#include <algorithm>
#include <stdexcept>

#include "firmware/core/decision_texts.h"

namespace tlmssd::firmware {

namespace {

ProgramJob& claim(Core& core, ProgramJob& job, WriteTarget target, Purpose purpose,
                  std::uint64_t buffer_address) {
  job.target = target;
  claim_place(core, job, purpose, buffer_address);
  return job;
}

void copy_on_die(Core& core, FlashOp& op, Ppn from) {
  const Layout& layout = core.layout;
  const BlockNumber block = layout.block_of(from);
  const std::uint32_t pu = layout.pu_of(block);
  const Layout::Place place = layout.place_of(block, layout.mp_page_of(from));
  if (layout.die_of(pu, place.stripe_die) != op.die || layout.plane_of(pu) != op.plane)
    throw std::logic_error("firmware: a copy on the die was to leave it");
  op.command = FlashCommand::copyback;
  op.source_mode = core.mode_of(block);
  op.source_block = static_cast<BlockId>(block - pu * layout.blocks);
  op.source_page = static_cast<PageId>(place.page);
  ++core.stats.copybacks;
}

std::uint32_t padding_of(const Core& core, const ProgramJob& job) {
  return core.layout.units_of_program(job.mode) - job.live + job.holes;
}

// What the job programs of a block-mapped region is booked here, too: that takes as long as a block
// does, and dies have long ended much of it when the last of them has.
void book_order(Core& core, const ProgramJob& job) {
  const auto p = static_cast<std::size_t>(job.purpose);
  core.stats.programs[p] += job.operations;
  if (core.places == nullptr) return;
  core.stats.units_programmed[p] += job.live - job.holes;
  core.stats.units_rewritten += job.copies;
  core.stats.units_padded[p] += padding_of(core, job);
}

// All of its slots are lost. Statistics may have been reset since it was ordered.
void book_loss(Core& core, const ProgramJob& job) {
  const auto p = static_cast<std::size_t>(job.purpose);
  FtlStatistics& stats = core.stats;
  if (core.places == nullptr) {
    stats.units_padded[p] += core.layout.units_of_program(job.mode);
    return;
  }
  const std::uint64_t rewritten = job.purpose == Purpose::host ? stats.units_rewritten : 0;
  const auto copies = std::min<std::uint64_t>(job.copies, rewritten);
  const auto others =
      std::min<std::uint64_t>(job.live - job.holes - job.copies, stats.units_programmed[p] - rewritten);
  stats.units_programmed[p] -= copies + others;
  stats.units_padded[p] += copies + others;
  stats.units_rewritten -= copies;
}

void book_end(Core& core, const ProgramJob& job, bool failed) {
  if (job.mode == BlockMode::slc) core.stats.units_in_slc += core.layout.units_of_program(job.mode);
  core.pool.programmed(job.block, failed);
}

}  // namespace

void claim_place(Core& core, ProgramJob& job, Purpose purpose, std::uint64_t buffer_address) {
  job.base = job.mode == BlockMode::slc ? core.pool.claim_slc(job.pu, core.clock())
                                        : core.pool.claim(job.pu, job.target, core.clock());
  prepare_program(core, job, purpose, buffer_address);
}

void prepare_program(Core& core, ProgramJob& job, Purpose purpose, std::uint64_t buffer_address) {
  const Layout& layout = core.layout;
  job.block = layout.block_of(job.base);
  job.purpose = purpose;
  job.charged = purpose == Purpose::host || purpose == Purpose::map || job.awaited;
  const std::uint32_t first_mp_page = layout.mp_page_of(job.base) - job.block * layout.block_mp_pages;
  for (std::uint32_t n = 0; n < job.operations; ++n) {
    const Layout::Place place = layout.place_of(first_mp_page + n * layout.program_pages);
    FlashOp& op = job.parts[n].op;
    op.command = FlashCommand::program;
    op.purpose = purpose;
    op.suspended_for_host = false;
    op.writes_wait = core.writes_wait;
    op.die = layout.die_of(job.pu, place.stripe_die);
    op.plane = layout.plane_of(job.pu);
    op.planes = static_cast<std::uint16_t>(layout.planes);
    op.block = static_cast<BlockId>(job.block - job.pu * layout.blocks);
    op.page = static_cast<PageId>(place.page);
    op.mode = job.mode;
    op.pages = static_cast<std::uint16_t>(job.mode == BlockMode::slc ? 1 : layout.program_pages);
    op.first_slot = 0;
    op.slots = job.mode == BlockMode::slc ? layout.mp_page_units : layout.die_units;
    op.spare = &job.spare[std::size_t{n} * layout.die_units];
    op.stamps = &job.stamps[std::size_t{n} * layout.die_units * layout.sectors];
    op.buffer_address = buffer_address + std::uint64_t{n} * layout.die_units * layout.unit_bytes;
    op.ledger = job.charged ? &job.ledger : nullptr;
    if (job.parts[n].copy_from != k_nowhere) copy_on_die(core, op, job.parts[n].copy_from);
  }
  tell_program(core, job);
}

Program::Program(Core& core, ProgramJob& job, WriteTarget target, Purpose purpose,
                 std::uint64_t buffer_address)
    : Program(core, claim(core, job, target, purpose, buffer_address)) {}

Program::Program(Core& core, ProgramJob& job) : core_(core), job_(job), pending_(job.operations) {
  book_order(core, job);
  for (std::uint32_t n = 0; n < job.operations; ++n) {
    ProgramPart& part = job.parts[n];
    FlashTransaction& op = part.op;
    if (job.charged && job.operations > 1) {
      part.ledger = job.ledger.fork();
      op.ledger = &part.ledger;
    }
    part.program = this;
    op.on_done = &part_done;
    op.on_done_self = &part;
    op.status = FlashStatus::ok;
    if (core.hw.flash.submit(op)) --pending_;
  }
}

// The job's ledger takes over that of the operation that ends last.
void Program::part_done(void* self) {
  ProgramPart& part = *static_cast<ProgramPart*>(self);
  Program& program = *part.program;
  if (--program.pending_ > 0) return;
  if (part.op.ledger == &part.ledger) program.job_.ledger.adopt(part.ledger);
  if (program.waiter_) program.waiter_.resume();
}

bool Program::await_resume() const {
  if (!job_.failed()) return true;
  ++core_.stats.program_failures;
  tell_block(core_, DecisionKind::retire, "to be emptied and retired", "a program of it has failed",
             job_.block);
  book_loss(core_, job_);
  book_end(core_, job_, true);
  core_.check_capacity();
  return false;
}

void end_program(Core& core, const ProgramJob& job) {
  if (core.places == nullptr)
    core.stats.units_padded[static_cast<std::size_t>(job.purpose)] += padding_of(core, job);
  book_end(core, job, false);
  for (Feature* const feature : core.hooks.programmed) feature->on_programmed(job);
}

}  // namespace tlmssd::firmware
