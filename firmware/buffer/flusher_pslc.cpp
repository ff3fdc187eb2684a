// Blocks in SLC mode: which of the write buffer's lines goes there, and what becomes of it when
// there is no room.
//
// The first line lands in SLC mode, a multi-plane page at a time, in the next parallel unit that
// has room there. Without any, it waits for folding in the next parallel unit (when_full: wait) or
// goes on to native blocks (direct). The second line always goes to native blocks. Where no
// parallel unit may have a block in SLC mode, everything does. Each line has a part of the buffer
// (flusher::share_out()).
#include <algorithm>

#include "firmware/buffer/flusher.h"
#include "firmware/gc/worker.h"

namespace tlmssd::firmware {

Flusher::Destination Flusher::slc_destination(bool direct) {
  if (direct) return {next_pu(), BlockMode::native};
  // What is busy now will not be for long, where going to native blocks would take longer.
  const Needs needs = core_.pslc->waits() ? Needs::slc_blocks : Needs::slc_space;
  std::optional<std::uint32_t> pu = next_pu(Needs::slc_space);
  if (!pu && core_.pslc->waits()) pu = next_pu(Needs::slc_blocks);
  if (pu) return {pu, BlockMode::slc};
  if (any_has(needs)) return {{}, BlockMode::slc};
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
                                    : core_.pool.can_claim(job.pu, job.target);
}

void Flusher::turn_native(ProgramJob& job) {
  release(job);
  job.mode = BlockMode::native;
  const std::uint32_t live = job.live;
  job.live = 0;
  for (std::uint32_t n = 0; n < live; ++n) {
    const WriteBuffer::Index i = job.source[n];
    job.put(buffer_.entry(i).unit, i, buffer_.stamps(i));
  }
  job.pad();
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
