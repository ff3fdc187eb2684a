#include "firmware/logblocks/fast.h"

#include <algorithm>
#include <set>

#include "firmware/logblocks/log_blocks.h"

namespace tlmssd::firmware {

const ParameterTable<Fast::Config>& Fast::Config::parameters() {
  static const auto table =
      ParameterTable<Config>{}
          .integer("log_blocks", &Config::log_blocks, {1, 1'000'000},
                   "log blocks for any data of each parallel unit; one more is for sequential writes")
          .flag("copyback", &Config::copyback, k_copyback_help);
  return table;
}

Fast::Fast(const Config& config, const Layout& layout)
    : LogScheme(layout, 1, config.log_blocks, config.copyback), state_(layout.pus) {}

// An entry per block-mapped region; an entry per page of the logs for any data (which may hold any
// unit); the sequential log needs its owner only.
std::uint32_t Fast::looked_at(Lpn unit) const {
  std::size_t slots = 0;
  for (const RandomLog& log : state_[home(unit)].random)
    slots += std::size_t{log.written} * layout_.program_units;
  return 1 + static_cast<std::uint32_t>(slots);
}

Bytes Fast::dram_bytes() const {
  const Bytes blocks = (layout_.logical_units + layout_.block_units - 1) / layout_.block_units;
  return k_entry_bytes * (blocks + layout_.pus * (1 + Bytes{logs_} * layout_.block_units));
}

bool Fast::goes_on(const ParallelUnit& pu, const ProgramJob& job) const {
  const Log& log = pu.sequential;
  return log.block != k_no_block && !full(log) && log.in_order && block_of(unit_of(job, 0)) == log.owner &&
         runs_from(job, log.written * layout_.die_units);
}

// Runs keep to themselves; anything else may share a program unit.
bool Fast::together(const ProgramJob& job, Lpn unit) const {
  const Lpn last = unit_of(job, job.live - 1);
  if (unit == last + 1 && block_of(unit) == block_of(last)) return true;
  return unit != first_of(block_of(unit)) && !begins_run(job) && !goes_on(state_[job.pu], job);
}

Task<BlockNumber> Fast::place(const ProgramJob& job) {
  ParallelUnit& pu = state_[job.pu];
  if (goes_on(pu, job)) co_return pu.sequential.block;
  const bool run = begins_run(job);
  bool own = false;  // some unit belongs to the block-mapped region of the sequential log
  for (std::uint32_t n = 0; n < job.live && pu.sequential.block != k_no_block; ++n)
    own = own || block_of(unit_of(job, n)) == pu.sequential.owner;
  if (pu.sequential.block != k_no_block && (run || own)) {
    const bool ended = co_await end_run(pu, false);
    if (!ended) co_return k_no_block;
  }
  if (run) {
    const BlockNumber block = co_await blocks_->take_block(job.pu);
    if (block != k_no_block) pu.sequential = {block, block_of(unit_of(job, 0))};
    co_return block;
  }
  if (!pu.random.empty() && pu.random.back().written < layout_.programs_per_block)
    co_return pu.random.back().block;
  while (pu.random.size() >= allowed(job.pu)) {
    const bool gone = co_await empty_log(pu, 0);
    if (!gone) co_return k_no_block;
  }
  const BlockNumber block = co_await blocks_->take_block(job.pu);
  if (block != k_no_block) pu.random.push_back({block, 0, {}});
  co_return block;
}

void Fast::claimed(const ProgramJob& job) {
  ParallelUnit& pu = state_[job.pu];
  if (job.block == pu.sequential.block) {
    note(pu.sequential, job);
    return;
  }
  RandomLog& log = pu.random.back();
  ++log.written;
  for (std::uint32_t n = 0; n < layout_.die_units; ++n)
    log.slots.push_back(n < job.live ? unit_of(job, n) : k_no_unit);
}

Task<bool> Fast::end_run(ParallelUnit& pu, bool fresh, bool to_worn) {
  const bool merged = co_await merge(pu.sequential, fresh, to_worn);
  if (merged) pu.sequential = {};
  co_return merged;
}

/// Merges a block-mapped region in full, from all logs.
Task<bool> Fast::merge_owner(ParallelUnit& pu, std::uint32_t owner, bool to_worn) {
  if (pu.sequential.block != k_no_block && pu.sequential.owner == owner)
    co_return co_await end_run(pu, true, to_worn);
  co_return co_await gather(owner, to_worn);
}

Task<bool> Fast::empty_log(ParallelUnit& pu, std::size_t number, bool to_worn) {
  const BlockNumber block = pu.random[number].block;
  co_await blocks_->programs_ended(blocks_->pu_of(block));
  std::set<std::uint32_t> owners;
  const std::vector<Lpn>& slots = pu.random[number].slots;
  for (std::uint32_t n = 0; n < slots.size(); ++n) {
    if (slots[n] != k_no_unit && lookup(slots[n]) == layout_.first_unit(block) + n)
      owners.insert(block_of(slots[n]));
  }
  ++emptied_;
  owners_merged_ += owners.size();
  if (owners.empty()) ++counts_.dead;
  for (const std::uint32_t owner : owners) {
    const bool merged = co_await merge_owner(pu, owner, to_worn);
    if (!merged) co_return false;
  }
  pu.random.erase(pu.random.begin() + static_cast<std::ptrdiff_t>(number));
  blocks_->discard(block);
  co_return true;
}

Task<bool> Fast::evacuate(BlockNumber block, bool to_worn) {
  ParallelUnit& pu = state_[blocks_->pu_of(block)];
  if (block == pu.sequential.block) co_return co_await end_run(pu, true, to_worn);
  for (std::size_t n = 0; n < pu.random.size(); ++n) {
    if (pu.random[n].block == block) co_return co_await empty_log(pu, n, to_worn);
  }
  const auto owner = owner_of(block);
  if (!owner) co_return true;
  co_return co_await merge_owner(pu, *owner, to_worn);
}

Task<bool> Fast::tidy(std::uint32_t number) {
  ParallelUnit& pu = state_[number];
  if (!pu.random.empty()) co_return co_await empty_log(pu, 0);
  if (pu.sequential.block == k_no_block) co_return false;
  co_return co_await end_run(pu, false);
}

void Fast::report(StatisticsSink& sink) const {
  LogScheme::report(sink);
  sink.value("logs emptied", emptied_, "", "logs for any data that were emptied");
  sink.value("block-mapped regions per log",
             emptied_ > 0 ? static_cast<double>(owners_merged_) / static_cast<double>(emptied_) : 0, "",
             "block-mapped regions that had to be merged to empty one of them, on average");
}

void Fast::reset_statistics() {
  LogScheme::reset_statistics();
  emptied_ = owners_merged_ = 0;
}

void Fast::archive(Archive& a) {
  LogScheme::archive(a);
  a(emptied_);
  a(owners_merged_);
  for (ParallelUnit& pu : state_) {
    a(pu.sequential);
    std::uint64_t count = pu.random.size();
    a(count);
    if (!a.saving()) check_log(pu.sequential);
    if (count > layout_.blocks) throw ArchiveError("snapshot is damaged: too many logs");
    if (!a.saving()) pu.random.assign(count, {});
    for (RandomLog& log : pu.random) {
      a(log.block);
      a(log.written);
      a(log.slots);
      if (a.saving()) continue;
      check_block(log.block, log.written);
      check_slots(log.slots, log.written);
    }
  }
}

}  // namespace tlmssd::firmware
