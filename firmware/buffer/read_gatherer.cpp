#include "firmware/buffer/read_gatherer.h"

#include <utility>

#include "firmware/gc/collector.h"

namespace tlmssd::firmware {

void ReadGatherer::add(Gathering& gathering, LogicalUnit unit, std::uint32_t source, const Stamp* stamps) {
  ProgramJob& job = *gathering.job;
  const std::uint32_t bytes = core_.layout.unit_bytes;
  core_.hw.memory.access(MemoryKind::dram, address_of(gathering) + std::uint64_t{job.live} * bytes, bytes,
                         true, posted_);
  core_.put(job, unit, source, stamps);
}

void ReadGatherer::pump() {
  for (Gathering& gathering : gatherings_) {
    if (gathering.flying || !full(gathering)) continue;
    gathering.flying = true;
    tasks_.start(program(gathering));
  }
}

/// Chooses a group: the next that suits and has room.
bool ReadGatherer::begin(Gathering& gathering) {
  const Gathering& other = gatherings_[&gathering == gatherings_.data() ? 1 : 0];
  const auto& sequence = core_.layout.sequence();
  for (std::size_t tried = 0; tried < sequence.size(); ++tried) {
    const std::uint32_t group = sequence[position_];
    if (++position_ == sequence.size()) position_ = 0;
    if (!owner_.suits(group, other.group) || !may_program(group)) continue;
    gathering.group = group;
    gathering.job = &core_.jobs.take();
    gathering.job->group = group;
    return true;
  }
  return false;
}

/// The host could have a program unit there without waiting or making others wait.
bool ReadGatherer::may_program(std::uint32_t group) const {
  return !core_.read_only && core_.pool.accepts(group) && !collector_.must_queue(group) &&
         core_.pool.can_claim(group, Stream::host);
}

Task<> ReadGatherer::program(Gathering& gathering) {
  ProgramJob& job = *gathering.job;
  co_await RunStage(core_.hw, Stage::flash, nullptr);
  if (!may_program(job.group)) {
    give_up(gathering, true);
    co_return;
  }
  core_.pool.promise(job.group);
  core_.claim(job, Stream::host, Purpose::migration, address_of(gathering));
  {
    ProgramAwait program(core_.hw, job);
    co_await program;
  }
  core_.pool.unpromise(job.group);
  if (job.failed()) {
    core_.program_failed(job);
    give_up(gathering, false);
    co_return;
  }
  owner_.landed(job);
  core_.stats.units_programmed[static_cast<std::size_t>(Purpose::migration)] += job.live;
  core_.count_program(job, job.purpose);
  core_.pool.programmed(job.block, false);
  end(gathering);
}

void ReadGatherer::give_up(Gathering& gathering, bool refused) {
  owner_.given_up(*gathering.job, refused);
  end(gathering);
}

void ReadGatherer::end(Gathering& gathering) {
  const std::uint32_t group = gathering.group;
  core_.jobs.give(*std::exchange(gathering.job, nullptr));
  gathering.group = k_no_group;
  if (!std::exchange(gathering.flying, false)) return;
  collector_.kick_if_low(group);
  if (collector_.waiting(group) > 0) collector_.kick(group);
  core_.events.settled();
}

void ReadGatherer::drop() {
  for (Gathering& gathering : gatherings_) {
    if (gathering.job != nullptr && !gathering.flying) give_up(gathering, false);
  }
}

}  // namespace tlmssd::firmware
