#include "firmware/refresh/refresher.h"

#include <algorithm>
#include <cmath>

namespace tlmssd::firmware {

Refresher::Refresher(BlockPool& pool, std::unique_ptr<RefreshPolicy> policy)
    : pool_(pool),
      policy_(std::move(policy)),
      interval_(std::llround(policy_->patrol() * 1e9)),
      next_patrol_(interval_),
      history_(pool.layout().total_blocks()),
      waiting_(pool.layout().groups) {}

// Closed, or taken up by the Collector, which may have put it down again with data in it. Whoever owns blocks by name can empty those
// that are still being written, too.
bool Refresher::movable(const BlockInfo& info) const {
  return info.state == BlockState::closed ||
         info.state == (pool_.by_name() ? BlockState::open : BlockState::victim);
}

Refresher::History& Refresher::history(BlockNumber block) {
  History& history = history_[block];
  const std::uint32_t erases = pool_.info(block).erases;
  if (history.erases != erases) history = {erases, 0, 0, 0};
  return history;
}

bool Refresher::judge(BlockNumber block, History& history, std::int64_t now) {
  const BlockInfo& info = pool_.info(block);
  if (history.queued != 0 || info.valid == 0) return false;
  const double seconds = static_cast<double>(now - info.written) * 1e-9;
  if (!policy_->due({seconds, history.reads, history.worst_errors})) return false;
  history.queued = 1;
  waiting_[pool_.layout().group_of(block)].push_back({block, info.erases});
  return true;
}

bool Refresher::read(BlockNumber block, std::uint32_t worst_errors, std::int64_t now) {
  History& h = history(block);
  ++h.reads;
  h.worst_errors = std::max(h.worst_errors, worst_errors);
  const BlockInfo& info = pool_.info(block);
  return info.state != BlockState::victim && movable(info) && judge(block, h, now);
}

template <class Visit>
void Refresher::each_used(Visit visit) {
  const Layout& layout = pool_.layout();
  for (std::uint32_t group = 0; group < layout.groups; ++group) {
    const BlockNumber first = group * layout.blocks;
    for (BlockNumber block = first; block < first + layout.blocks && pool_.used(block); ++block) visit(block);
  }
}

void Refresher::disturb(std::uint32_t reads) {
  each_used([&](BlockNumber block) {
    if (pool_.info(block).valid == 0) return;
    History& h = history(block);
    const std::uint64_t sum = h.reads + std::uint64_t{reads} * pool_.layout().block_rows;
    h.reads = static_cast<std::uint32_t>(std::min<std::uint64_t>(sum, 0xFFFFFFFFU));
  });
}

void Refresher::patrol(std::int64_t now) {
  next_patrol_ = now + interval_;
  each_used([&](BlockNumber block) {
    const BlockInfo& info = pool_.info(block);
    History& h = history(block);
    const double seconds = static_cast<double>(now - info.written) * 1e-9;
    if (info.state == BlockState::open && policy_->due({seconds, h.reads, h.worst_errors}))
      pool_.close_early(block);
    if (movable(info)) judge(block, h, now);
  });
}

BlockNumber Refresher::take(std::uint32_t group) {
  auto& waiting = waiting_[group];
  while (!waiting.empty()) {
    const Entry entry = waiting.back();
    waiting.pop_back();
    const BlockInfo& info = pool_.info(entry.block);
    if (info.erases != entry.erases) continue;
    history(entry.block).queued = 0;
    if (movable(info) && info.valid > 0) return entry.block;
  }
  return k_no_block;
}

void Refresher::archive(Archive& a) {
  a(next_patrol_);
  for (BlockNumber block = 0; block < pool_.layout().total_blocks(); ++block) {
    if (pool_.used(block)) a(history_[block]);
  }
  for (auto& waiting : waiting_) a(waiting);
}

}  // namespace tlmssd::firmware
