#include "firmware/gc/gathering.h"

#include <fmt/format.h>
#include <stdexcept>
#include <utility>

#include "firmware/flash/read_batch.h"
#include "firmware/mapping/block_map.h"

namespace tlmssd::firmware {

// -------------------------------------------------------------------------------------------------------------------- reading

void Gathering::count(std::uint64_t invalid) {
  if (!holds_some()) now_.found = 0;
  now_.found += static_cast<std::uint32_t>(invalid);
}

void Gathering::turn_to(std::uint8_t handle) {
  if (!core_.pool.apart() || handle == handle_) return;
  std::swap(now_, parked_[handle_]);
  std::swap(now_, parked_[handle_ = handle]);
}

bool Gathering::resume_parked() {
  const auto held =
      std::find_if(parked_.begin(), parked_.end(), [](const Unit& unit) { return holds_some(unit); });
  if (held == parked_.end()) return false;
  turn_to(static_cast<std::uint8_t>(held - parked_.begin()));
  return true;
}

void Gathering::fill(bool collects) {
  if (now_.job == nullptr) {
    now_.job = &core_.jobs.take();
    now_.job->pu = pu_;
  }
  ProgramJob& job = *now_.job;
  ReadOp& read = *pages_.front();
  const bool slc = core_.pslc && core_.pool.mode(read.block) == BlockMode::slc;
  for (std::uint32_t at = read.tag; at <= read.high; ++at) {
    if (read.wanted[at] == k_no_unit) continue;
    const Ppn where = core_.layout.ppn_of_mp_page(read.mp_page) + at;
    if (!core_.pool.valid(where)) {
      count_in_vain(read.spare[at]);
      continue;
    }
    if (job.live == core_.layout.program_units) {
      read.tag = at;
      return;
    }
    const Lpn unit = read.spare[at];
    if (core_.places != nullptr) {
      take_over_slot(job, read, at);
      continue;
    }
    if (unit >= core_.layout.kept_units() || core_.lookup(unit) != where) {
      throw std::logic_error(fmt::format(
          "firmware: the spare area of valid physical unit {} names logical unit {}, which the map has at {}",
          where.number(), unit,
          static_cast<std::int64_t>(unit < core_.layout.kept_units() ? core_.lookup(unit).entry() : 0) - 1));
    }
    read.wanted[at] = unit;
    check_moved(core_, read, at);
    job.put(unit, where.number(), read.content(at));
    if (!slc) continue;
    if (collects) ++job.folded;
    job.from_static = job.from_static || core_.pool.is_static(read.block);
  }
  end_read(core_, pages_.pop());
}

/// What has been read is not moved any more; slots of a block-mapped region may hold no unit.
void Gathering::count_in_vain(Lpn unit) {
  if (unit != k_no_unit) ++core_.stats.gc_invalid_copies;
}

// The same for a slot of a block-mapped region that is placed as a whole. Its slots come in their
// order, those that hold nothing among them; a block that was rewritten meanwhile is forgotten.
void Gathering::take_over_slot(ProgramJob& job, const ReadOp& read, std::uint32_t at) {
  const Ppn where = core_.layout.ppn_of_mp_page(read.mp_page) + at;
  const std::uint32_t n = (where - core_.layout.first_unit(read.block)) % core_.layout.program_units;
  if (n == 0 && job.live > 0) {
    core_.stats.gc_invalid_copies += job.live - job.holes;
    job.live = job.holes = 0;
  }
  const Lpn unit = read.spare[at];
  if (n != job.live) {
    count_in_vain(unit);
    return;
  }
  if (unit >= core_.layout.logical_units || core_.places->lookup(unit) != where) {
    job.put_hole();
    return;
  }
  read.wanted[at] = unit;
  check_moved(core_, read, at);
  job.put(unit, where.number(), read.content(at));
}

// Without anything held back the block only has to become empty.
void Gathering::read_to_end(BlockNumber block, bool coming) {
  const bool held = holds_some();
  const bool held_of_it = held && (!core_.pslc || holds_of(block));
  (coming || held_of_it ? now_.scanned : emptying_).push_back(block);
  if (coming || held) return;
  emptying_.insert(emptying_.end(), now_.scanned.begin(), now_.scanned.end());
  now_.scanned.clear();
}

/// Whether some of what the program unit holds comes from `block`.
bool Gathering::holds_of(BlockNumber block) const {
  const std::uint32_t* const sources = now_.job->source.get();
  return std::any_of(sources, sources + now_.job->live,
                     [&](std::uint32_t unit) { return core_.layout.block_of(Ppn(unit)) == block; });
}

// ------------------------------------------------------------------------------------------------------------------ handing out

// Victims of which nothing is held back any more only have to become empty.
ProgramJob& Gathering::take(BlockNumber reading) {
  const BlockNumber last = pages_.empty() ? k_no_block : pages_.front()->block;
  const bool stays = last != k_no_block && core_.pool.info(last).state == BlockState::closed;
  const BlockNumber held = stays ? k_no_block : last;
  for (const BlockNumber block : now_.scanned) {
    if (block != held) emptying_.push_back(block);
  }
  now_.scanned.clear();
  if (held != k_no_block && reading != held) now_.scanned.push_back(held);
  return *std::exchange(now_.job, nullptr);
}

BlockNumber Gathering::take_empty() {
  for (BlockNumber& block : emptying_) {
    if (core_.pool.info(block).valid > 0) continue;
    const BlockNumber empty = block;
    emptying_.erase(emptying_.begin() + (&block - emptying_.data()));
    return empty;
  }
  return k_no_block;
}

Gathering::Rest Gathering::rest() const {
  Rest rest;
  const auto add = [&](const Unit& unit) {
    if (!holds_some(unit)) return;
    rest.found += unit.found;
    rest.padding += core_.layout.program_units - unit.job->live;
  };
  add(now_);
  for (const Unit& other : parked_) add(other);
  return rest;
}

void Gathering::put_back(std::vector<BlockNumber>& unfinished) {
  while (!pages_.empty()) end_read(core_, pages_.pop());
  const auto drop = [&](Unit& unit) {
    if (unit.job != nullptr) core_.jobs.give(*std::exchange(unit.job, nullptr));
    unfinished.insert(unfinished.end(), unit.scanned.begin(), unit.scanned.end());
    unit.scanned.clear();
  };
  drop(now_);
  for (Unit& other : parked_) drop(other);
}

}  // namespace tlmssd::firmware
