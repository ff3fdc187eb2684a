// Several lines of the write buffer: whose turn it is to send out a program unit.
//
// A program unit takes entries of one line only: where blocks differ in mode, of the first or the
// second (flusher_pslc.cpp); with placement handles, of the handle's. The lines take turns. A line
// with less than a program unit waits for more, unless a command waits for what it holds, or the
// whole buffer waits and no line has enough; then it takes padding.
#include <algorithm>

#include "firmware/buffer/flusher.h"
#include "firmware/gc/worker.h"

namespace tlmssd::firmware {

// The lines take turns, so that none keeps another from dies that can take a program.
void Flusher::pump_lines() {
  const std::uint8_t lines = buffer_.lines();
  for (bool sent = true; sent && !core_.read_only;) {
    sent = false;
    std::uint8_t line = next_line_;
    for (std::uint8_t tried = 0; tried < lines && !core_.read_only; ++tried) {
      sent = send(line, false);
      if (sent) break;
      line = line + 1 == lines ? 0 : line + 1;
    }
    if (!sent && !core_.read_only && all_lines_short()) sent = send(line = longest_line(), true);
    if (sent) next_line_ = line + 1 == lines ? 0 : line + 1;
  }
}

/// A command waits for what is here, no program is under way, and each line for itself is too short
/// for one, though together they hold enough. That is all that a cache evicts at a time
/// (Cache::wants_more).
bool Flusher::all_lines_short() const {
  return awaited() && jobs_.empty() && buffer_.waiting() >= core_.layout.program_units;
}

std::uint8_t Flusher::longest_line() const {
  std::uint8_t longest = 0;
  for (std::uint8_t line = 1; line < buffer_.lines(); ++line) {
    if (buffer_.waiting(line) > buffer_.waiting(longest)) longest = line;
  }
  return longest;
}

// False: nothing of the line is due, or there is no place for it now. `short_too`: even if it takes
// padding.
bool Flusher::send(std::uint8_t line, bool short_too) {
  const std::uint32_t waiting = buffer_.waiting(line);
  if (waiting == 0) return false;
  const bool must = short_too || pressing(line);
  const bool eager = buffer_.waiting() > threshold_ || awaited();
  if (!must && (!eager || waiting < least_)) return false;
  if (held()) return false;
  const std::uint32_t position = position_;
  steer();
  Destination to = destination(line);
  if (!to.pu && gives_way()) to = destination(line);
  if (!to.pu) {
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
  job.pu = *to.pu;
  job.mode = to.mode;
  if (!core_.pslc) job.target = host_target(line);
  reserve(job);
  fill(job, line);
  tasks_.start(flush(job));
  return true;
}

Flusher::Destination Flusher::destination(std::uint8_t line) {
  if (busy_ == sequence_.size()) return {{}, BlockMode::native};
  return core_.pslc ? slc_destination(line > 0) : Destination{next_pu(), BlockMode::native};
}

}  // namespace tlmssd::firmware
