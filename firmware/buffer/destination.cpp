#include "firmware/buffer/destination.h"

#include "firmware/buffer/flusher.h"
#include "firmware/flash/program.h"
#include "firmware/flash/read_batch.h"

namespace tlmssd::firmware {

Destination::Destination(Flusher& flusher)
    : core_(flusher.core()),
      buffer_(flusher.buffer()),
      turns_(flusher.turns()),
      completions_(flusher.completions()) {}

Task<> Destination::read_modify_write(ProgramJob& job) {
  ReadBatch reads(core_, Purpose::host, 0, &job.ledger);
  for (std::uint32_t n = 0; n < job.live; ++n) {
    WriteBuffer::Entry& entry = buffer_.entry(job.source[n]);
    if (lacks_nothing(job, n)) continue;
    if (!core_.poisoned.empty() && core_.poisoned.contains(entry.unit)) entry.damaged = true;
    const Ppn where = core_.lookup(entry.unit);
    if (where == k_nowhere) {
      complete(job, n, [](std::uint32_t) { return k_zeros; });
      continue;
    }
    reads.add_apart(where, entry.unit, n).op.buffer_address = buffer_.address_of(job.source[n]);
  }
  job.partial = 0;
  core_.stats.rmw_reads += reads.size();
  co_await reads;
  reads.drain([&](const ReadOp& read, std::uint32_t at) {
    complete(job, static_cast<std::uint32_t>(read.need[at]), read, at);
  });
}

bool Destination::lacks_nothing(ProgramJob& job, std::uint32_t n) {
  const WriteBuffer::Index i = job.source[n];
  const WriteBuffer::Entry& entry = buffer_.entry(i);
  const std::uint64_t all = core_.layout.all_sectors();
  if (entry.mask == all) return true;
  const std::uint64_t trimmed = core_.partial_trims.of(entry.unit) & ~entry.mask;
  if (trimmed == 0) return false;
  buffer_.mark_trimmed(i, trimmed);
  if (entry.mask != all) return false;
  job.set_content(n, buffer_.stamps(i));
  return true;
}

void Destination::complete(ProgramJob& job, std::uint32_t n, const ReadOp& read, std::uint32_t at) {
  if (!check_read(core_, read, at)) buffer_.entry(job.source[n]).damaged = true;
  const Stamp* const old = read.content(at);
  complete(job, n, [old](std::uint32_t sector) { return old[sector]; });
}

void Destination::prefetch(const ProgramJob& job) const {
  if (!job.scattered) return;
  for (std::uint32_t n = 0; n < job.live; ++n) core_.map->prefetch(unit_of(job, n));
}

/// The same of what the map entries lead to, and of the buffer's own table.
void Destination::prefetch_behind(const ProgramJob& job) const {
  if (!job.scattered) return;
  for (std::uint32_t n = 0; n < job.live; ++n) {
    const Lpn unit = unit_of(job, n);
    buffer_.prefetch(unit);
    const Ppn where = core_.lookup(unit);
    if (where != k_nowhere) core_.pool.prefetch(where);
  }
}

void Destination::commit(ProgramJob& job) {
  prefetch_behind(job);
  std::uint32_t relocated = 0;
  for (std::uint32_t n = 0; n < job.live; ++n) {
    const WriteBuffer::Index i = job.source[n];
    const WriteBuffer::Entry& entry = buffer_.entry(i);
    if (entry.state == WriteBuffer::State::flying) {
      core_.remap(entry.unit, core_.lookup(entry.unit), job, n, "written by the host");
      core_.partial_trims.rewritten(entry.unit, entry.trimmed);
      if (!entry.relocated) core_.rewritten(entry.unit);
      completions_.note_damage(entry);
    }
    if (entry.relocated) ++relocated;
    completions_.complete(i, &job.ledger, false);
  }
  // One posted access for each run of consecutive map entries.
  for (std::uint32_t n = 0; n < job.live;) {
    const Lpn first = buffer_.entry(job.source[n]).unit;
    std::uint32_t run = 1;
    while (n + run < job.live && buffer_.entry(job.source[n + run]).unit == first + run) ++run;
    core_.post_map_update(first, run);
    n += run;
  }
  for (std::uint32_t n = 0; n < job.live; ++n) buffer_.release(job.source[n]);
  core_.stats.units_programmed[static_cast<std::size_t>(Purpose::host)] +=
      job.live - job.map_units - relocated;
  core_.stats.units_programmed[static_cast<std::size_t>(Purpose::migration)] += relocated;
  core_.stats.units_relocated += relocated;
  core_.stats.units_programmed[static_cast<std::size_t>(Purpose::map)] += job.map_units;
  if (job.mode == BlockMode::slc) core_.stats.slc_units += job.live - relocated;
  end_program(core_, job);
}

}  // namespace tlmssd::firmware
