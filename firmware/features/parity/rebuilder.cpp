#include "firmware/features/parity/rebuilder.h"

#include <algorithm>

#include "firmware/flash/read_batch.h"

namespace tlmssd::firmware {

void Rebuilder::add(Lpn unit, Ppn where, std::uint64_t need, std::span<const std::uint32_t> others,
                    ReadBatch& reads) {
  const Layout& layout = core_.layout;
  const std::uint32_t mp_page = layout.mp_page_of(where);
  const std::uint32_t at = layout.in_mp_page(where, mp_page);
  if (Rebuild* const rebuild = near(reads, mp_page, at)) {
    for (ReadOp* const read : rebuild->reads) {
      ReadPool::widen(*read, at);
      read->wanted[at] = unit;
      read->need[at] = need;
      read->original = layout.ppn_of_mp_page(mp_page) + read->low;
    }
    return;
  }
  last_ = take();
  Rebuild& rebuild = rebuilds_[last_];
  rebuild.batch = &reads;
  rebuild.original = mp_page;
  rebuild.ended = 0;
  rebuild.lost = false;
  const std::uint32_t offset = where.number() % layout.program_units;
  for (const std::uint32_t other : others) {
    ReadOp& read = reads.add_apart(Ppn(other * layout.program_units) + offset, unit, need);
    read.redirector = &feature_;
    read.copy_of = k_no_unit;
    read.original = where;
    read.tag = last_;
    core_.pool.pin(layout.block_of(where));
    rebuild.reads.push_back(&read);
  }
}

/// The rebuild of the same page, near enough for its reads to be widened.
Rebuilder::Rebuild* Rebuilder::near(const ReadBatch& reads, std::uint32_t mp_page, std::uint32_t at) {
  if (rebuilds_.empty()) return nullptr;
  Rebuild& last = rebuilds_[last_];
  if (last.batch != &reads || last.original != mp_page) return nullptr;
  const std::uint32_t units_per_page = core_.layout.units_per_page;
  const ReadOp& read = *last.reads.front();
  return at + units_per_page > read.low && at < read.high + units_per_page ? &last : nullptr;
}

std::uint32_t Rebuilder::take() {
  if (free_.empty()) {
    rebuilds_.emplace_back();
    return static_cast<std::uint32_t>(rebuilds_.size() - 1);
  }
  const std::uint32_t taken = free_.back();
  free_.pop_back();
  return taken;
}

Rebuilder::Outcome Rebuilder::end(const ReadOp& read, ReadBatch& again) {
  Rebuild& rebuild = rebuilds_[read.tag];
  // While all of them still hold what they brought.
  if (rebuild.ended == 0) {
    rebuild.lost = any_lost(rebuild);
    if (!rebuild.lost) combine(rebuild);
  }
  if (++rebuild.ended < rebuild.reads.size()) return Outcome::none;
  if (rebuild.lost) {
    for (std::uint32_t at = read.low; at <= read.high; ++at) {
      if (read.wanted[at] != k_no_unit)
        again.add(read.original + (at - read.low), read.wanted[at], read.need[at]);
    }
  } else {
    pass_engine(rebuild, again);
  }
  const bool lost = rebuild.lost;
  rebuild.batch = nullptr;
  rebuild.reads.clear();
  free_.push_back(read.tag);
  return lost ? Outcome::lost : Outcome::rebuilt;
}

bool Rebuilder::any_lost(const Rebuild& rebuild) {
  return std::any_of(rebuild.reads.begin(), rebuild.reads.end(), [](const ReadOp* read) {
    for (std::uint32_t at = read->low; at <= read->high; ++at) {
      if (read->wanted[at] != k_no_unit && read->lost(at)) return true;
    }
    return false;
  });
}

/// The last of the reads holds the XOR of all.
void Rebuilder::combine(const Rebuild& rebuild) {
  const ReadOp& sum = *rebuild.reads.back();
  for (const ReadOp* const read : rebuild.reads) {
    if (read == &sum) continue;
    for (std::uint32_t at = sum.low; at <= sum.high; ++at) {
      sum.spare[at] ^= read->spare[at];
      for (std::uint32_t s = 0; s < sum.sectors; ++s) sum.content(at)[s] ^= read->content(at)[s];
    }
  }
}

void Rebuilder::pass_engine(const Rebuild& rebuild, ReadBatch& again) {
  const ReadOp& read = *rebuild.reads.front();
  const Bytes bytes = Bytes{rebuild.reads.size()} * (read.high - read.low + 1) * core_.layout.unit_bytes;
  engine_free_ = std::max(engine_free_, core_.hw.event_queue.now()) + transfer_time(bytes, xor_rate_);
  again.hold_until(engine_free_);
}

}  // namespace tlmssd::firmware
