#include "firmware/destinations/slc.h"

namespace tlmssd::firmware {

Destination::Place SlcDestination::next_place(std::uint8_t line) {
  if (line > 0) return Place(next_pu());
  std::uint32_t pu = next_pu_with(Needs::slc_space);
  if (pu == PuTurns::k_none) core_.pslc->no_room(core_.stats.host_blocks_written, core_.hw.event_queue.now());
  if (pu == PuTurns::k_none && core_.pslc->waits()) pu = next_pu_with(Needs::slc_blocks);
  if (pu != PuTurns::k_none) return Place(pu, BlockMode::slc);
  // What is busy now will not be for long, where going to native blocks would take longer.
  const Needs needs = core_.pslc->waits() ? Needs::slc_blocks : Needs::slc_space;
  if (turns_.any_under_way([&](std::uint32_t busy) { return has(busy, needs) && takes(busy); })) return {};
  return Place(next_pu());
}

void SlcDestination::fill(ProgramJob& job, std::uint8_t line) {
  reserve(job);
  fill_units(job, line);
}

void SlcDestination::on_failure(ProgramJob& job) {
  reserve(job);
  NativeDestination::on_failure(job);
}

void SlcDestination::take_place(ProgramJob& job) {
  unreserve(job);
  NativeDestination::take_place(job);
}

bool SlcDestination::claimable(const ProgramJob& job) const {
  return job.mode == BlockMode::slc ? core_.pslc->claimable(job.pu) : NativeDestination::claimable(job);
}

bool SlcDestination::stuck(const ProgramJob& job) const {
  return job.mode == BlockMode::slc ? gc_.slc_exhausted(job.pu) : NativeDestination::stuck(job);
}

bool SlcDestination::divert(ProgramJob& job) {
  if (job.mode == BlockMode::native) return NativeDestination::divert(job);
  turn_native(job);
  return true;
}

void SlcDestination::turn_native(ProgramJob& job) {
  unreserve(job);
  job.mode = BlockMode::native;
  const std::uint32_t live = job.live;
  job.live = 0;
  for (std::uint32_t n = 0; n < live; ++n) {
    const WriteBuffer::Index i = job.source[n];
    job.put(buffer_.entry(i).unit, i, buffer_.stamps(i));
  }
  job.pad();
}

void SlcDestination::reserve(ProgramJob& job) {
  if (job.mode != BlockMode::slc || job.reserved) return;
  core_.pslc->promise(job.pu);
  job.reserved = true;
}

void SlcDestination::unreserve(ProgramJob& job) {
  if (!job.reserved) return;
  core_.pslc->unpromise(job.pu);
  job.reserved = false;
}

}  // namespace tlmssd::firmware
