#include "firmware/cache/line_store.h"

#include <algorithm>
#include <bit>
#include <stdexcept>

namespace tlmssd::firmware {

LineStore::LineStore(std::uint64_t base, Bytes capacity, Bytes grain, std::uint32_t sectors_per_unit,
                     Bytes sector_bytes)
    : base_(base),
      grain_bytes_(grain),
      sector_bytes_(sector_bytes),
      sectors_(sectors_per_unit),
      sectors_per_grain_(static_cast<std::uint32_t>(grain / sector_bytes)),
      grains_per_line_(sectors_per_unit / sectors_per_grain_),
      capacity_(capacity / grain),
      free_(capacity_) {}

std::uint32_t LineStore::grains_of(std::uint64_t sectors) const {
  if (sectors_per_grain_ == 1) return static_cast<std::uint32_t>(std::popcount(sectors));
  std::uint32_t count = 0;
  for (std::uint32_t grain = 0; grain < grains_per_line_; ++grain) {
    if ((sectors & grain_mask(grain)) != 0) ++count;
  }
  return count;
}

std::uint32_t LineStore::take_grain() {
  if (free_ == 0) throw std::logic_error("cache: no grain is free");
  --free_;
  if (fresh_ < capacity_) return fresh_++;
  const std::uint32_t grain = freed_.front();
  freed_.pop_front();
  return grain;
}

LineStore::Index LineStore::add(Lpn unit) {
  Index i = 0;
  if (free_lines_.empty()) {
    i = static_cast<Index>(lines_.size());
    lines_.emplace_back();
    stamps_.resize(stamps_.size() + sectors_);
    grains_.resize(grains_.size() + grains_per_line_);
  } else {
    i = free_lines_.back();
    free_lines_.pop_back();
  }
  lines_[i] = {};
  lines_[i].unit = unit;
  lines_[i].state = State::resident;
  hash_.insert(unit, i);
  ++line_count_;
  return i;
}

void LineStore::lay(Index i, std::uint64_t sectors, const Stamp* stamps, bool dirty, MemorySpans& where) {
  Line& line = lines_[i];
  std::uint32_t* const grains = &grains_[std::size_t{i} * grains_per_line_];
  Stamp* const own = this->stamps(i);
  std::uint64_t covered = line.present;  // sectors that have a grain
  for (std::uint64_t rest = sectors; rest != 0; rest &= rest - 1) {
    const auto s = static_cast<std::uint32_t>(std::countr_zero(rest));
    own[s] = stamps[s];
    const std::uint32_t grain = grain_of(s);
    if ((covered & grain_mask(grain)) == 0) grains[grain] = take_grain();
    covered |= std::uint64_t{1} << s;
  }
  line.present |= sectors;
  if (dirty) set_dirty(i, line.dirty | sectors);
  locate(i, sectors, where);
}

void LineStore::set_dirty(Index i, std::uint64_t dirty) {
  Line& line = lines_[i];
  dirty_sectors_ += static_cast<std::uint64_t>(std::popcount(dirty)) -
                    static_cast<std::uint64_t>(std::popcount(line.dirty));
  line.dirty = dirty;
}

void LineStore::locate(Index i, std::uint64_t sectors, MemorySpans& where) const {
  const std::uint32_t* const grains = &grains_[std::size_t{i} * grains_per_line_];
  for (std::uint64_t rest = sectors; rest != 0; rest &= rest - 1) {
    const auto s = static_cast<std::uint32_t>(std::countr_zero(rest));
    const std::uint32_t grain = grain_of(s);
    where.add(base_ + grains[grain] * grain_bytes_ + (s - grain * sectors_per_grain_) * sector_bytes_,
              sector_bytes_);
  }
}

std::uint32_t LineStore::free_grains(Index i, std::uint64_t kept) {
  const std::uint64_t present = lines_[i].present;
  const std::uint32_t* const grains = &grains_[std::size_t{i} * grains_per_line_];
  std::uint32_t freed = 0;
  for (std::uint32_t grain = 0; grain < grains_per_line_; ++grain) {
    if ((present & grain_mask(grain)) == 0 || (kept & grain_mask(grain)) != 0) continue;
    freed_.push_back(grains[grain]);
    ++freed;
  }
  free_ += freed;
  return freed;
}

std::uint32_t LineStore::trim(Index i, std::uint64_t sectors) {
  Line& line = lines_[i];
  set_dirty(i, line.dirty & ~sectors);
  const std::uint32_t freed = free_grains(i, line.present & ~sectors);
  line.present &= ~sectors;
  return freed;
}

void LineStore::remove(Index i) {
  Line& line = lines_[i];
  set_dirty(i, 0);
  free_grains(i, 0);
  hash_.erase(line.unit);
  line.state = State::free;
  line.present = 0;
  free_lines_.push_back(i);
  --line_count_;
}

void LineStore::archive(Archive& a) {
  std::uint64_t count = lines_.size();
  a(count);
  if (!a.saving()) {
    lines_.assign(count, {});
    hash_ = UnitHash(count);
    dirty_sectors_ = line_count_ = 0;
  }
  for (Index i = 0; i < count; ++i) {
    Line& line = lines_[i];
    a(line.present);
    a(line.dirty);
    a(line.command);
    a(line.unit);
    a(line.state);
    if (line.state == State::leaving) throw ArchiveError("a cache line is being written out");
    if (a.saving() || line.state == State::free) continue;
    hash_.insert(line.unit, i);
    dirty_sectors_ += static_cast<std::uint64_t>(std::popcount(line.dirty));
    ++line_count_;
  }
  a(stamps_);
  a(grains_);
  a(free_lines_);
  a(fresh_);
  a(freed_);
  a(free_);
}

}  // namespace tlmssd::firmware
