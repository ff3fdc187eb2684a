#include "firmware/buffer/read_gatherer.h"

#include <utility>

#include "firmware/flash/program.h"

namespace tlmssd::firmware {

void ReadGatherer::add(Gathering& gathering, Lpn unit, std::uint32_t source, const Stamp* stamps) {
  ProgramJob& job = *gathering.job;
  const std::uint32_t bytes = core_.layout.unit_bytes;
  core_.hw.memory.access(MemoryKind::dram, address_of(gathering) + std::uint64_t{job.live} * bytes, bytes,
                         true, posted_);
  job.put(unit, source, stamps);
}

void ReadGatherer::pump() {
  for (Gathering& gathering : gatherings_) {
    if (gathering.flying || !full(gathering) || !owner_.may_start(gathering.job->pu)) continue;
    gathering.flying = true;
    tasks_.start(program(gathering));
  }
}

/// Chooses a parallel unit: the next that suits and has room.
bool ReadGatherer::begin(Gathering& gathering) {
  const Gathering& other = gatherings_[&gathering == gatherings_.data() ? 1 : 0];
  const auto& sequence = core_.layout.sequence();
  for (std::size_t tried = 0; tried < sequence.size(); ++tried) {
    const std::uint32_t pu = sequence[position_];
    if (++position_ == sequence.size()) position_ = 0;
    if (!owner_.suits(pu, other.pu()) || !may_program(pu)) continue;
    gathering.job = &core_.jobs.take();
    gathering.job->pu = pu;
    return true;
  }
  return false;
}

/// The host could have a program unit there without waiting or making others wait.
bool ReadGatherer::may_program(std::uint32_t pu) const {
  return !core_.read_only && core_.pool.accepts(pu) && !gc_engine_.native_waits(pu) &&
         core_.pool.can_claim(pu, WriteTarget::host);
}

Task<> ReadGatherer::program(Gathering& gathering) {
  ProgramJob& job = *gathering.job;
  co_await RunStage(core_.hw, Stage::flash, nullptr);
  if (!may_program(job.pu)) {
    abort(gathering, true);
    co_return;
  }
  core_.pool.promise(job.pu);
  const Picoseconds ordered = core_.hw.event_queue.now();
  Program program(core_, job, WriteTarget::host, Purpose::migration, address_of(gathering));
  const bool good = co_await program;
  core_.pool.unpromise(job.pu);
  if (!good) {
    abort(gathering, false);
    co_return;
  }
  owner_.committed(job, core_.hw.event_queue.now() - ordered);
  core_.stats.units_programmed[static_cast<std::size_t>(Purpose::migration)] += job.live;
  end_program(core_, job);
  end(gathering);
}

void ReadGatherer::abort(Gathering& gathering, bool refused) {
  owner_.aborted(*gathering.job, refused);
  end(gathering);
}

void ReadGatherer::end(Gathering& gathering) {
  const std::uint32_t pu = gathering.job->pu;
  core_.jobs.give(*std::exchange(gathering.job, nullptr));
  if (!std::exchange(gathering.flying, false)) return;
  gc_engine_.program_ended(pu);
  core_.events.work_ended();
}

void ReadGatherer::drop() {
  for (Gathering& gathering : gatherings_) {
    if (gathering.job != nullptr && !gathering.flying) abort(gathering, false);
  }
}

}  // namespace tlmssd::firmware
