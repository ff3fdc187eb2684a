#include "firmware/logblocks/fast.h"

#include <algorithm>
#include <set>

#include "firmware/logblocks/log_blocks.h"

namespace tlmssd::firmware {

const ParameterTable<Fast::Config>& Fast::Config::parameters() {
  static const auto table =
      ParameterTable<Config>{}
          .integer("log_blocks", &Config::log_blocks, {1, 1'000'000},
                   "log blocks for any data of each allocation group; one more is for sequential writes")
          .flag("copyback", &Config::copyback, k_copyback_help);
  return table;
}

Fast::Fast(const Config& config, const Layout& layout)
    : LogScheme(layout, 1, config.log_blocks, config.copyback), state_(layout.groups) {}

// An entry per management block; an entry per page of the logs for any data (which may hold any unit); the sequential log needs its
// owner only.
Bytes Fast::dram_bytes() const {
  const Bytes blocks = (layout_.logical_units + layout_.block_units - 1) / layout_.block_units;
  return k_entry_bytes * (blocks + layout_.groups * (1 + Bytes{logs_} * layout_.block_units));
}

bool Fast::goes_on(const Group& group, const ProgramJob& job) const {
  const Log& log = group.sequential;
  return log.block != k_no_block && !full(log) && log.in_order && block_of(unit_of(job, 0)) == log.owner &&
         runs_from(job, log.written * layout_.die_units);
}

// Runs keep to themselves; anything else may share a program unit.
bool Fast::together(const ProgramJob& job, LogicalUnit unit) const {
  const LogicalUnit last = unit_of(job, job.live - 1);
  if (unit == last + 1 && block_of(unit) == block_of(last)) return true;
  return unit != first_of(block_of(unit)) && !begins_run(job) && !goes_on(state_[job.group], job);
}

Task<BlockNumber> Fast::place(const ProgramJob& job) {
  Group& group = state_[job.group];
  if (goes_on(group, job)) co_return group.sequential.block;
  const bool run = begins_run(job);
  bool own = false;  // some unit belongs to the management block of the sequential log
  for (std::uint32_t n = 0; n < job.live && group.sequential.block != k_no_block; ++n)
    own = own || block_of(unit_of(job, n)) == group.sequential.owner;
  if (group.sequential.block != k_no_block && (run || own)) {
    const bool ended = co_await end_run(group, false);
    if (!ended) co_return k_no_block;
  }
  if (run) {
    const BlockNumber block = co_await blocks_->take_block(job.group);
    if (block != k_no_block) group.sequential = {block, block_of(unit_of(job, 0))};
    co_return block;
  }
  if (!group.random.empty() && group.random.back().written < layout_.programs_per_block)
    co_return group.random.back().block;
  while (group.random.size() >= allowed(job.group)) {
    const bool gone = co_await give_up(group, 0);
    if (!gone) co_return k_no_block;
  }
  const BlockNumber block = co_await blocks_->take_block(job.group);
  if (block != k_no_block) group.random.push_back({block, 0, {}});
  co_return block;
}

void Fast::claimed(const ProgramJob& job) {
  Group& group = state_[job.group];
  if (job.block == group.sequential.block) {
    note(group.sequential, job);
    return;
  }
  RandomLog& log = group.random.back();
  ++log.written;
  for (std::uint32_t n = 0; n < layout_.die_units; ++n)
    log.slots.push_back(n < job.live ? unit_of(job, n) : k_no_unit);
}

Task<bool> Fast::end_run(Group& group, bool fresh, bool to_worn) {
  const bool merged = co_await merge(group.sequential, fresh, to_worn);
  if (merged) group.sequential = {};
  co_return merged;
}

/// Merges a management block in full, from all logs.
Task<bool> Fast::merge_owner(Group& group, std::uint32_t owner, bool to_worn) {
  if (group.sequential.block != k_no_block && group.sequential.owner == owner)
    co_return co_await end_run(group, true, to_worn);
  co_return co_await gather(owner, to_worn);
}

Task<bool> Fast::give_up(Group& group, std::size_t number, bool to_worn) {
  const BlockNumber block = group.random[number].block;
  co_await blocks_->settled(blocks_->group_of(block));
  std::set<std::uint32_t> owners;
  const std::vector<LogicalUnit>& slots = group.random[number].slots;
  for (std::uint32_t n = 0; n < slots.size(); ++n) {
    if (slots[n] != k_no_unit && lookup(slots[n]) == layout_.first_unit(block) + n)
      owners.insert(block_of(slots[n]));
  }
  ++given_up_;
  owners_merged_ += owners.size();
  if (owners.empty()) ++counts_.dead;
  for (const std::uint32_t owner : owners) {
    const bool merged = co_await merge_owner(group, owner, to_worn);
    if (!merged) co_return false;
  }
  group.random.erase(group.random.begin() + static_cast<std::ptrdiff_t>(number));
  blocks_->discard(block);
  co_return true;
}

Task<bool> Fast::evacuate(BlockNumber block, bool to_worn) {
  Group& group = state_[blocks_->group_of(block)];
  if (block == group.sequential.block) co_return co_await end_run(group, true, to_worn);
  for (std::size_t n = 0; n < group.random.size(); ++n) {
    if (group.random[n].block == block) co_return co_await give_up(group, n, to_worn);
  }
  const auto owner = owner_of(block);
  if (!owner) co_return true;
  co_return co_await merge_owner(group, *owner, to_worn);
}

Task<bool> Fast::tidy(std::uint32_t number) {
  Group& group = state_[number];
  if (!group.random.empty()) co_return co_await give_up(group, 0);
  if (group.sequential.block == k_no_block) co_return false;
  co_return co_await end_run(group, false);
}

void Fast::report(StatisticsSink& sink) const {
  LogScheme::report(sink);
  sink.value("logs given up", given_up_, "", "logs for any data that were emptied");
  sink.value("management blocks per log",
             given_up_ > 0 ? static_cast<double>(owners_merged_) / static_cast<double>(given_up_) : 0, "",
             "management blocks that had to be merged to empty one of them, on average");
}

void Fast::reset_statistics() {
  LogScheme::reset_statistics();
  given_up_ = owners_merged_ = 0;
}

void Fast::archive(Archive& a) {
  LogScheme::archive(a);
  a(given_up_);
  a(owners_merged_);
  for (Group& group : state_) {
    a(group.sequential);
    std::uint64_t count = group.random.size();
    a(count);
    if (!a.saving()) group.random.assign(count, {});
    for (RandomLog& log : group.random) {
      a(log.block);
      a(log.written);
      a(log.slots);
    }
  }
}

}  // namespace tlmssd::firmware
