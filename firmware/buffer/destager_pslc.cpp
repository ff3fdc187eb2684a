// Blocks in SLC mode: which of the write buffer's lines goes there, and what becomes of it when there is no room.
//
// The first line lands in SLC mode, a row at a time, in the next group that has room there. Without any, it waits for folding in the
// next group (when_full: wait) or goes on to native blocks (direct). The second line always goes to native blocks. Where no
// group may have a block in SLC mode, everything does. The lines take turns, and each has a part of the buffer (Destager::share_out()).
#include <algorithm>

#include "firmware/buffer/destager.h"
#include "firmware/gc/collector.h"

namespace tlmssd::firmware {

// The lines take turns, so that neither keeps the other from dies that can take a program.
void Destager::pump_lines() {
  for (bool sent = true; sent && !core_.read_only;) {
    bool line = direct_next_;
    sent = send(line, false);
    if (!sent && !core_.read_only) sent = send(line = !line, false);
    if (!sent && !core_.read_only && both_lines_short())
      sent = send(line = buffer_.waiting(true) > buffer_.waiting(false), true);
    if (sent) direct_next_ = !line;
  }
}

/// Somebody waits for what waits here, no program is under way, and each line for itself is too short for one, though together they
/// hold enough. That is all that a cache evicts at a time (Cache::wants_more).
bool Destager::both_lines_short() const {
  return awaited() && first_job_ == nullptr && buffer_.waiting() >= core_.layout.program_units;
}

// False: nothing of the line is due, or there is no place for it now. `short_too`: even if it takes padding.
bool Destager::send(bool direct, bool short_too) {
  const std::uint32_t waiting = buffer_.waiting(direct);
  if (waiting == 0) return false;
  const bool must = short_too || pressing(direct);
  const bool eager = buffer_.waiting() > threshold_ || awaited();
  if (!must && (!eager || waiting < least_)) return false;
  const std::uint32_t position = position_;
  const Destination to = destination(direct);
  if (to.group == k_no_group) {
    // Every group is full of programs on their way; with none on its way the drive has nothing left to give.
    if (first_job_ == nullptr) core_.go_read_only();
    return false;
  }
  if (!must && waiting < core_.layout.units_of_program(to.mode)) {
    position_ = position;
    return false;
  }
  ProgramJob& job = core_.jobs.take();
  job.group = to.group;
  job.mode = to.mode;
  hold_room(job);
  fill(job, direct);
  tasks_.start(destage(job));
  return true;
}

Destager::Destination Destager::destination(bool direct) {
  if (busy_ == sequence_.size()) return {k_no_group, BlockMode::native};
  if (direct) return {next_group(), BlockMode::native};
  // What is busy now will not be for long, where going to native blocks would take longer.
  const Needs needs = core_.pslc->waits() ? Needs::slc_blocks : Needs::slc_room;
  std::uint32_t group = next_group(Needs::slc_room);
  if (group == k_no_group && core_.pslc->waits()) group = next_group(Needs::slc_blocks);
  if (group != k_no_group) return {group, BlockMode::slc};
  if (any_has(needs)) return {k_no_group, BlockMode::slc};
  return {next_group(), BlockMode::native};
}

bool Destager::has(std::uint32_t group, Needs needs) const {
  return needs == Needs::slc_room ? core_.pslc->has_room(group) : core_.pslc->blocks(group) > 0;
}

bool Destager::any_has(Needs needs) const {
  return first_job_ != nullptr && std::any_of(sequence_.begin(), sequence_.end(), [&](std::uint32_t group) {
           return under_way_[group] > 0 && has(group, needs) && core_.pool.accepts(group) &&
                  !collector_->exhausted(group);
         });
}

bool Destager::claimable(const ProgramJob& job) const {
  return job.mode == BlockMode::slc ? core_.pslc->claimable(job.group)
                                    : core_.pool.can_claim(job.group, Stream::host);
}

void Destager::turn_native(ProgramJob& job) {
  leave_room(job);
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
void Destager::hold_room(ProgramJob& job) {
  if (job.mode != BlockMode::slc || job.holds_room) return;
  core_.pslc->promise(job.group);
  job.holds_room = true;
}

void Destager::leave_room(ProgramJob& job) {
  if (!job.holds_room) return;
  core_.pslc->unpromise(job.group);
  job.holds_room = false;
}

}  // namespace tlmssd::firmware
