#include "firmware/logblocks/log_scheme.h"

#include <algorithm>
#include <fmt/format.h>

#include "firmware/logblocks/log_blocks.h"
#include "models/base/input_error.h"

namespace tlmssd::firmware {

LogScheme::LogScheme(const Layout& layout, std::uint32_t adjacent, std::uint32_t logs, bool copyback)
    : layout_(layout),
      adjacent_(adjacent),
      logs_(logs),
      copyback_(copyback),
      by_block_(layout.block_units),
      by_adjacent_(adjacent),
      entries_(layout.logical_units),
      data_((layout.logical_units + layout.block_units - 1) / layout.block_units),
      owners_(layout.total_blocks()) {}

MappingScheme::Span LogScheme::entries(Lpn first, std::uint64_t count) const {
  const std::uint32_t block = block_of(first);
  const std::uint64_t last = (first + count - 1) / layout_.block_units;
  return {k_entry_bytes * block, k_entry_bytes * (last - block + 1)};
}

// ------------------------------------------------------------------------------------------------------------------- capacity

std::uint64_t LogScheme::most_units(const Layout& layout) const {
  if (layout.blocks <= set_aside()) return 0;
  const std::uint64_t sharers = (layout.blocks - set_aside()) / adjacent_;
  return sharers * adjacent_ * layout.block_units * layout.pus;
}

std::uint32_t LogScheme::data_blocks_per_pu() const {
  const std::uint64_t sharers = (data_.size() + adjacent_ - 1) / adjacent_;
  return static_cast<std::uint32_t>((sharers + layout_.pus - 1) / layout_.pus * adjacent_);
}

std::uint32_t LogScheme::most_logs() const {
  const std::uint32_t needed = data_blocks_per_pu() + least_extra();
  return layout_.blocks > needed ? layout_.blocks - needed : 0;
}

bool LogScheme::fits(const BlockPool& pool) const {
  for (std::uint32_t pu = 0; pu < layout_.pus; ++pu) {
    if (pool.pu(pu).good < data_blocks_per_pu() + 1 + least_extra()) return false;
  }
  return true;
}

std::uint32_t LogScheme::allowed(std::uint32_t pu) const {
  const std::uint32_t good = blocks_->pool().pu(pu).good;
  const std::uint32_t needed = data_blocks_per_pu() + least_extra();
  return std::clamp(good > needed ? good - needed : 1U, 1U, logs_);
}

// ---------------------------------------------------------------------------------------------------------------- data blocks

std::optional<std::uint32_t> LogScheme::owner_of(BlockNumber block) const {
  const std::uint32_t owner = owners_.read(block);
  if (owner == 0) return std::nullopt;
  return owner - 1;
}

void LogScheme::set_data(std::uint32_t owner, BlockNumber block) {
  if (const BlockNumber old = data(owner); old != k_no_block) owners_.write(old) = 0;
  data_.write(owner) = block.entry();
  if (block != k_no_block) owners_.write(block) = owner + 1;
}

std::uint64_t LogScheme::mapped_among(const std::vector<Lpn>& units) {
  return units.size() - static_cast<std::uint64_t>(std::count(units.begin(), units.end(), k_no_unit));
}

std::vector<Lpn> LogScheme::units_of(std::uint32_t owner, std::uint32_t from) const {
  std::vector<Lpn> units;
  const std::uint64_t end =
      std::min<std::uint64_t>(std::uint64_t{first_of(owner)} + layout_.block_units, layout_.logical_units);
  for (std::uint64_t unit = first_of(owner) + from; unit < end; ++unit) {
    const auto u = static_cast<Lpn>(unit);
    units.push_back(lookup(u) == k_nowhere ? k_no_unit : u);
  }
  while (!units.empty() && units.back() == k_no_unit) units.pop_back();
  return units;
}

// --------------------------------------------------------------------------------------------------------------------- logs

bool LogScheme::runs_from(const ProgramJob& job, std::uint32_t from) const {
  const Lpn first = unit_of(job, 0);
  for (std::uint32_t n = 0; n < job.live; ++n) {
    if (unit_of(job, n) != first + n) return false;
  }
  return first - first_of(block_of(first)) == from && from + job.live <= layout_.block_units;
}

void LogScheme::note(Log& log, const ProgramJob& job) const {
  const bool short_one = job.live < layout_.die_units && log.written + 1 < layout_.programs_per_block;
  if (short_one || !runs_from(job, log.written * layout_.die_units)) log.in_order = false;
  ++log.written;
}

// The newest version of what lies in the log must be there, unless it is elsewhere for good; what
// was superseded on its way may not be.
bool LogScheme::can_switch(const Log& log) const {
  if (!log.in_order || log.written == 0 || blocks_->pool().info(log.block).failed) return false;
  const BlockNumber old = data(log.owner);
  if (old == k_no_block) return true;
  const Lpn first = first_of(log.owner);
  const Ppn from = layout_.first_unit(old);
  const std::uint64_t end =
      std::min<std::uint64_t>(first + std::uint64_t{log.written} * layout_.die_units, layout_.logical_units);
  for (std::uint64_t unit = first; unit < end; ++unit) {
    const Ppn where = lookup(static_cast<Lpn>(unit));
    if (where != k_nowhere && where >= from && where - from < layout_.block_units) return false;
  }
  return true;
}

Task<bool> LogScheme::merge(Log& log, bool fresh, bool to_worn) {
  const std::uint32_t pu = blocks_->pu_of(log.block);
  co_await blocks_->programs_ended(pu);
  if (!fresh && can_switch(log)) {
    const std::vector<Lpn> rest =
        units_of(log.owner, std::min(log.written * layout_.die_units, layout_.block_units));
    const bool copied = rest.empty() || co_await blocks_->append(log.block, rest);
    if (copied) {
      rest.empty() ? ++counts_.switches : ++counts_.partials;
      counts_.partial_units += mapped_among(rest);
      const BlockNumber old = data(log.owner);
      set_data(log.owner, log.block);
      blocks_->close(log.block);
      if (old != k_no_block) blocks_->discard(old);
      co_return true;
    }
    if (blocks_->read_only()) co_return false;
  }
  const bool gathered = co_await gather(log.owner, to_worn);
  if (gathered) blocks_->discard(log.block);
  co_return gathered;
}

Task<bool> LogScheme::gather(std::uint32_t owner, bool to_worn) {
  const std::uint32_t pu = home(first_of(owner));
  co_await blocks_->programs_ended(pu);
  const std::vector<Lpn> units = units_of(owner, 0);
  const BlockNumber old = data(owner);
  if (units.empty()) {
    ++counts_.dead;
    set_data(owner, k_no_block);
    if (old != k_no_block) blocks_->discard(old);
    co_return true;
  }
  for (;;) {
    const BlockNumber fresh = co_await blocks_->take_block(pu, to_worn);
    if (fresh == k_no_block) co_return false;
    const bool copied = co_await blocks_->append(fresh, units);
    if (copied) {
      ++counts_.fulls;
      counts_.full_units += mapped_among(units);
      set_data(owner, fresh);
      blocks_->close(fresh);
      if (old != k_no_block) blocks_->discard(old);
      co_return true;
    }
    if (blocks_->read_only()) co_return false;
  }
}

// -------------------------------------------------------------------------------------------------------------------- reports

void LogScheme::report_blocks(StatisticsSink& sink) const {
  sink.value("block", Bytes{layout_.block_units} * layout_.unit_bytes, "B", "size of a block-mapped region");
  sink.value("log blocks", std::uint64_t{logs_} * layout_.pus, "", "log blocks that there may be at a time");
}

void LogScheme::report(StatisticsSink& sink) const {
  report_blocks(sink);
  sink.open("merges", "logs that became data blocks again");
  sink.value("switch", counts_.switches, "", "a log written in order took the place of its data block");
  sink.value("partial", counts_.partials, "", "the rest was copied behind a log written in order so far");
  sink.value("full", counts_.fulls, "", "everything was gathered in a fresh block");
  sink.value("dead", counts_.dead, "", "blocks erased without any copy, because nothing in them was valid");
  sink.value("units copied by partial", counts_.partial_units, "units", "copy traffic of partial merges");
  sink.value("units copied by full", counts_.full_units, "units", "copy traffic of full merges");
  sink.close();
}

void LogScheme::archive(Archive& a) {
  a(entries_);
  a(data_);
  a(owners_);
  a(counts_);
  if (a.saving()) return;
  const auto check = [](const SparseArray<std::uint32_t>& values, std::uint64_t most) {
    for (std::size_t i = values.next_touched(0, values.size()); i < values.size();
         i = values.next_touched(i + 1, values.size()))
      if (values.read(i) > most) throw ArchiveError("snapshot is damaged: a place beyond the drive");
  };
  check(data_, owners_.size());
  check(owners_, data_.size());
}

void LogScheme::check_block(BlockNumber block, std::uint32_t written) const {
  if (block != k_no_block && block < owners_.size() && written <= layout_.programs_per_block) return;
  throw ArchiveError("snapshot is damaged: a log block beyond the drive");
}

void LogScheme::check_slots(const std::vector<Lpn>& slots, std::uint32_t written) const {
  const bool sound = slots.size() <= layout_.block_units &&
                     slots.size() >= std::uint64_t{written} * layout_.program_units &&
                     std::all_of(slots.begin(), slots.end(),
                                 [this](Lpn unit) { return unit == k_no_unit || unit < entries_.size(); });
  if (!sound) throw ArchiveError("snapshot is damaged: units of a log block");
}

void LogScheme::check_log(const Log& log) const {
  if (log.block == k_no_block) return;
  check_block(log.block, log.written);
  if (log.owner >= data_.size()) throw ArchiveError("snapshot is damaged: a log of no region");
}

}  // namespace tlmssd::firmware
