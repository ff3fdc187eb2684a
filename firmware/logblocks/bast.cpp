#include "firmware/logblocks/bast.h"

#include "firmware/logblocks/log_blocks.h"

namespace tlmssd::firmware {

const ParameterTable<Bast::Config>& Bast::Config::parameters() {
  static const auto table = ParameterTable<Config>{}
                                .integer("log_blocks", &Config::log_blocks, {1, 1'000'000},
                                         "log blocks of each parallel unit, each of one block-mapped region")
                                .flag("copyback", &Config::copyback, k_copyback_help);
  return table;
}

Bast::Bast(const Config& config, const Layout& layout)
    : LogScheme(layout, 1, config.log_blocks, config.copyback), logs_of_(layout.pus) {}

// An entry per block-mapped region; per log its owner and a page table of two bytes a page.
Bytes Bast::dram_bytes() const {
  const Bytes blocks = (layout_.logical_units + layout_.block_units - 1) / layout_.block_units;
  return k_entry_bytes * blocks +
         Bytes{logs_} * layout_.pus * (k_entry_bytes + Bytes{2} * layout_.block_units);
}

bool Bast::together(const ProgramJob& job, Lpn unit) const {
  return block_of(unit) == block_of(unit_of(job, 0));
}

Task<BlockNumber> Bast::place(const ProgramJob& job) {
  const std::uint32_t owner = block_of(unit_of(job, 0));
  if (const auto found = log_for_.find(owner); found != log_for_.end()) {
    const Logs::iterator log = found->second;
    if (!full(*log)) co_return log->block;
    const bool merged = co_await end_log(job.pu, log, false);
    if (!merged) co_return k_no_block;
  }
  Logs& logs = logs_of_[job.pu];
  while (logs.size() >= allowed(job.pu)) {
    ++evicted_;
    const bool merged = co_await end_log(job.pu, logs.begin(), false);
    if (!merged) co_return k_no_block;
  }
  const BlockNumber block = co_await blocks_->take_block(job.pu);
  if (block == k_no_block) co_return block;
  log_for_[owner] = logs.insert(logs.end(), {block, owner});
  co_return block;
}

void Bast::claimed(const ProgramJob& job) {
  Logs& logs = logs_of_[job.pu];
  const Logs::iterator log = log_for_.at(block_of(unit_of(job, 0)));
  note(*log, job);
  logs.splice(logs.end(), logs, log);
}

Task<bool> Bast::end_log(std::uint32_t pu, Logs::iterator log, bool fresh, bool to_worn) {
  const bool merged = co_await merge(*log, fresh, to_worn);
  if (!merged) co_return false;
  log_for_.erase(log->owner);
  logs_of_[pu].erase(log);
  co_return true;
}

Task<bool> Bast::evacuate(BlockNumber block, bool to_worn) {
  const std::uint32_t pu = blocks_->pu_of(block);
  const auto owner = owner_of(block);
  for (auto log = logs_of_[pu].begin(); log != logs_of_[pu].end(); ++log) {
    const bool concerned = log->block == block || (owner && log->owner == *owner);
    if (concerned) co_return co_await end_log(pu, log, true, to_worn);
  }
  if (!owner) co_return true;
  co_return co_await gather(*owner, to_worn);
}

Task<bool> Bast::tidy(std::uint32_t pu) {
  if (logs_of_[pu].empty()) co_return false;
  co_return co_await end_log(pu, logs_of_[pu].begin(), false);
}

void Bast::report(StatisticsSink& sink) const {
  LogScheme::report(sink);
  sink.value("logs evicted", evicted_, "",
             "logs merged because another block-mapped region wanted one and all were taken");
}

void Bast::reset_statistics() {
  LogScheme::reset_statistics();
  evicted_ = 0;
}

void Bast::archive(Archive& a) {
  LogScheme::archive(a);
  a(evicted_);
  if (!a.saving()) log_for_.clear();
  for (Logs& logs : logs_of_) {
    std::vector<Log> saved(logs.begin(), logs.end());
    a(saved);
    if (a.saving()) continue;
    if (saved.size() > layout_.blocks) throw ArchiveError("snapshot is damaged: too many logs");
    for (const Log& log : saved) check_log(log);
    logs.assign(saved.begin(), saved.end());
    for (auto log = logs.begin(); log != logs.end(); ++log) log_for_[log->owner] = log;
  }
}

}  // namespace tlmssd::firmware
