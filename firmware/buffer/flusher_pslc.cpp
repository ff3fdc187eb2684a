// Blocks in SLC mode: which of the write buffer's lines goes there, and what becomes of it when
// there is no room.
//
// The first line lands in SLC mode, a multi-plane page at a time, in the next parallel unit that
// has room there. Without any, it waits for folding in the next parallel unit (when_full: wait) or
// goes on to native blocks (direct). The second line always goes to native blocks. Where no
// parallel unit may have a block in SLC mode, everything does. The lines take turns, and each has a
// part of the buffer (flusher::share_out()).
#include <algorithm>

#include "firmware/buffer/flusher.h"
#include "firmware/gc/worker.h"

namespace tlmssd::firmware {

// The lines take turns, so that neither keeps the other from dies that can take a program.
void Flusher::pump_lines() {
  for (bool sent = true; sent && !core_.read_only;) {
    bool line = direct_next_;
    sent = send(line, false);
    if (!sent && !core_.read_only) sent = send(line = !line, false);
    if (!sent && !core_.read_only && both_lines_short())
      sent = send(line = buffer_.waiting(true) > buffer_.waiting(false), true);
    if (sent) direct_next_ = !line;
  }
}

/// A command waits for what is here, no program is under way, and each line for itself is too short
/// for one, though together they hold enough. That is all that a cache evicts at a time
/// (Cache::wants_more).
bool Flusher::both_lines_short() const {
  return awaited() && jobs_.empty() && buffer_.waiting() >= core_.layout.program_units;
}

// False: nothing of the line is due, or there is no place for it now. `short_too`: even if it takes
// padding.
bool Flusher::send(bool direct, bool short_too) {
  const std::uint32_t waiting = buffer_.waiting(direct);
  if (waiting == 0) return false;
  const bool must = short_too || pressing(direct);
  const bool eager = buffer_.waiting() > threshold_ || awaited();
  if (!must && (!eager || waiting < least_)) return false;
  const std::uint32_t position = position_;
  steer();
  Destination to = destination(direct);
  if (to.pu == k_no_pu && gives_way()) to = destination(direct);
  if (to.pu == k_no_pu) {
    // Every parallel unit is full of programs on their way; with none on its way the drive has
    // nothing left to give.
    if (jobs_.empty()) core_.go_read_only();
    return false;
  }
  if (!must && waiting < core_.layout.units_of_program(to.mode)) {
    position_ = position;
    return false;
  }
  ProgramJob& job = core_.jobs.take();
  job.pu = to.pu;
  job.mode = to.mode;
  reserve(job);
  fill(job, direct);
  tasks_.start(flush(job));
  return true;
}

Flusher::Destination Flusher::destination(bool direct) {
  if (busy_ == sequence_.size()) return {k_no_pu, BlockMode::native};
  if (direct) return {next_pu(), BlockMode::native};
  // What is busy now will not be for long, where going to native blocks would take longer.
  const Needs needs = core_.pslc->waits() ? Needs::slc_blocks : Needs::slc_space;
  std::uint32_t pu = next_pu(Needs::slc_space);
  if (pu == k_no_pu && core_.pslc->waits()) pu = next_pu(Needs::slc_blocks);
  if (pu != k_no_pu) return {pu, BlockMode::slc};
  if (any_has(needs)) return {k_no_pu, BlockMode::slc};
  return {next_pu(), BlockMode::native};
}

bool Flusher::has(std::uint32_t pu, Needs needs) const {
  return needs == Needs::slc_space ? core_.pslc->has_space(pu) : core_.pslc->blocks(pu) > 0;
}

bool Flusher::any_has(Needs needs) const {
  return !jobs_.empty() && std::any_of(sequence_.begin(), sequence_.end(), [&](std::uint32_t pu) {
    return under_way_[pu] > 0 && !kept_away(pu) && has(pu, needs) && core_.pool.accepts(pu) &&
           !gc_worker_->exhausted(pu);
  });
}

bool Flusher::claimable(const ProgramJob& job) const {
  return job.mode == BlockMode::slc ? core_.pslc->claimable(job.pu)
                                    : core_.pool.can_claim(job.pu, Stream::host);
}

void Flusher::turn_native(ProgramJob& job) {
  release(job);
  job.mode = BlockMode::native;
  const std::uint32_t live = job.live;
  job.live = 0;
  for (std::uint32_t n = 0; n < live; ++n) {
    const WriteBuffer::Index i = job.source[n];
    core_.put(job, buffer_.entry(i).unit, i, buffer_.stamps(i));
  }
  core_.pad(job);
}

// Rows that a program will take are not promised to another.
void Flusher::reserve(ProgramJob& job) {
  if (job.mode != BlockMode::slc || job.reserved) return;
  core_.pslc->promise(job.pu);
  job.reserved = true;
}

void Flusher::release(ProgramJob& job) {
  if (!job.reserved) return;
  core_.pslc->unpromise(job.pu);
  job.reserved = false;
}

}  // namespace tlmssd::firmware
