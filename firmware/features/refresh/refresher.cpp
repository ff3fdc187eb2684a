#include "firmware/features/refresh/refresher.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "firmware/core/gc_engine.h"
#include "models/base/make_policy.h"

namespace tlmssd::firmware {

namespace {

/// Units of a region: whole program units, in which data are written and taken out of a block. All
/// when it is not divided.
std::uint32_t units_of_region(const Layout& layout, std::uint32_t regions) {
  if (regions == 0) return layout.block_units;
  const std::uint32_t programs = layout.programs_per_block;
  return (programs + regions - 1) / regions * layout.program_units;
}

}  // namespace

Refresher::Refresher(const FeatureContext& context)
    : core_(context.core),
      pool_(core_.pool),
      gc_engine_(context.gc_engine),
      policy_name_(context.choice.policy),
      policy_(make_policy(refresh_family(), "firmware.refresh.policy", policy_name_, context.choice.values)),
      interval_(std::llround(policy_->patrol() * 1e9)),
      next_patrol_(interval_),
      region_units_(units_of_region(core_.layout, policy_->regions())),
      regions_(policy_->regions() == 0 ? 0 : (core_.layout.block_units + region_units_ - 1) / region_units_),
      history_(core_.layout.total_blocks()),
      region_reads_(regions_ > 0 ? std::size_t{core_.layout.total_blocks()} * regions_ : 0),
      waiting_(core_.layout.pus) {}

// Closed, or taken up by the GC worker, which may have put it down again with data in it. The owner
// of blocks by name can empty those that are still being written, too.
bool Refresher::movable(const BlockInfo& info) const {
  return info.state == BlockState::closed ||
         info.state == (pool_.by_name() ? BlockState::open : BlockState::victim);
}

Refresher::History& Refresher::history(BlockNumber block) {
  History& history = history_[block];
  const std::uint32_t erases = pool_.info(block).erases;
  if (history.erases == erases) return history;
  history = {erases, 0, 0, 0};
  for (std::uint32_t region = 0; regions_ > 0 && region < regions_; ++region) region_reads(block, region) = 0;
  return history;
}

// Whether the block is due, as it was not before.
bool Refresher::judge(BlockNumber block, History& history) {
  const BlockInfo& info = pool_.info(block);
  if (history.queued != 0 || info.valid == 0) return false;
  if (!policy_->due({age(info), history.reads, history.worst_errors})) return false;
  history.queued = 1;
  waiting_[pool_.layout().pu_of(block)].push_back({block, info.erases, k_whole});
  return true;
}

void Refresher::on_page_read(const ReadOp& read) {
  const BlockNumber block = read.block;
  History& h = history(block);
  h.reads = sum_of(h.reads, read.senses);
  // How many bits are wrong is known of frames that were decoded.
  const bool undecoded = read.undecoded || read.op.status == FlashStatus::uncorrectable;
  h.worst_errors = std::max(h.worst_errors, undecoded ? BlockHistory::k_undecoded : read.op.worst_errors);
  const BlockInfo& info = pool_.info(block);
  const bool region_due =
      regions_ > 0 && count_region(block, read.mp_page - block * core_.layout.block_mp_pages, read.senses);
  const bool block_due = info.state != BlockState::victim && movable(info) && judge(block, h);
  if (block_due || region_due) due_.push_back(core_.layout.pu_of(block));
}

/// Between commands, so that nothing this command holds is in the way.
void Refresher::start() {
  for (const std::uint32_t pu : std::exchange(due_, {})) gc_engine_.kick(pu);
}

// A region is only moved out of a closed block. One that is still being written is ended early when
// its turn comes: little of it may ever be written, and its data are read all the same.
bool Refresher::count_region(BlockNumber block, std::uint32_t mp_page, std::uint32_t senses) {
  const Layout& layout = pool_.layout();
  const std::uint32_t region = mp_page * layout.mp_page_units / region_units_;
  std::uint32_t& reads = region_reads(block, region);
  if (reads == k_queued) return false;
  reads = std::min(sum_of(reads, senses), k_queued - 1);
  if (!policy_->region_due(reads)) return false;
  const BlockState state = pool_.info(block).state;
  if (state != BlockState::closed && state != BlockState::open) return false;
  reads = k_queued;
  waiting_[layout.pu_of(block)].push_back({block, pool_.info(block).erases, region});
  return true;
}

template <class Visit>
void Refresher::each_used(Visit visit) {
  const Layout& layout = pool_.layout();
  for (std::uint32_t pu = 0; pu < layout.pus; ++pu) {
    const std::uint32_t end = (pu + 1) * layout.blocks;
    for (BlockNumber block(pu * layout.blocks); block < end && pool_.used(block); ++block) visit(block);
  }
}

// As the dies count: reads of all pages that have been written, be what they hold valid or not.
void Refresher::on_disturbed(std::uint32_t reads) {
  const auto reads_of = [&](std::uint32_t units) {
    return std::uint64_t{reads} * (units / pool_.layout().mp_page_units);
  };
  each_used([&](BlockNumber block) {
    if (pool_.info(block).valid == 0) return;
    const std::uint32_t written = pool_.written_units(block);
    History& h = history(block);
    h.reads = static_cast<std::uint32_t>(std::min<std::uint64_t>(h.reads + reads_of(written), 0xFFFFFFFFU));
    for (std::uint32_t region = 0; regions_ > 0 && region * region_units_ < written; ++region) {
      std::uint32_t& count = region_reads(block, region);
      if (count == k_queued) continue;
      const std::uint64_t more = reads_of(std::min(region_units_, written - region * region_units_));
      count = static_cast<std::uint32_t>(std::min<std::uint64_t>(count + more, k_queued - 1));
    }
  });
}

void Refresher::patrol() {
  next_patrol_ = core_.clock() + interval_;
  each_used([&](BlockNumber block) {
    const BlockInfo& info = pool_.info(block);
    History& h = history(block);
    if (info.state == BlockState::open && policy_->due({age(info), h.reads, h.worst_errors}))
      pool_.close_early(block);
    if (movable(info)) judge(block, h);
  });
  for (std::uint32_t pu = 0; pu < core_.layout.pus; ++pu) {
    if (move_waits(pu)) gc_engine_.kick(pu);
  }
}

double Refresher::next_due() {
  double soonest = std::numeric_limits<double>::infinity();
  each_used([&](BlockNumber block) {
    const BlockInfo& info = pool_.info(block);
    const History& h = history(block);
    if (info.valid == 0 || h.queued != 0 || !(movable(info) || info.state == BlockState::open)) return;
    const double seconds = policy_->due_in({age(info), h.reads, h.worst_errors});
    if (seconds > 0) soonest = std::min(soonest, seconds);
  });
  return soonest;
}

// Whether a region that has waited can be moved by itself. Where it lies in a block that cannot be
// ended now, its next read asks again.
bool Refresher::take_region(const Entry& entry, bool parts) {
  // Ending a block early costs one that is free, as soon as writes go on: the reserve must not be
  // touched.
  if (parts) pool_.close_early(entry.block);
  const BlockState state = pool_.info(entry.block).state;
  region_reads(entry.block, entry.region) = state == BlockState::open ? k_queued - 1 : 0;
  return parts && state == BlockState::closed;
}

Move Refresher::next_move(std::uint32_t pu, bool parts) {
  const std::uint32_t block_units = pool_.layout().block_units;
  auto& waiting = waiting_[pu];
  while (!waiting.empty()) {
    const Entry entry = waiting.back();
    waiting.pop_back();
    const BlockInfo& info = pool_.info(entry.block);
    if (info.erases != entry.erases) continue;
    if (entry.region != k_whole) {
      if (take_region(entry, parts)) {
        const std::uint32_t first = entry.region * region_units_;
        return {k_moves.purpose, entry.block, first, std::min(first + region_units_, block_units),
                false,           policy_name_};
      }
    } else {
      history(entry.block).queued = 0;
    }
    if (movable(info) && info.valid > 0)
      return {k_moves.purpose, entry.block, 0, block_units, true, policy_name_};
  }
  return {};
}

void Refresher::archive(Archive& a) {
  a(next_patrol_);
  for (BlockNumber block(0); block < pool_.layout().total_blocks(); ++block) {
    if (!pool_.used(block)) continue;
    a(history_[block]);
    for (std::uint32_t region = 0; regions_ > 0 && region < regions_; ++region)
      a(region_reads(block, region));
  }
  for (auto& waiting : waiting_) a(waiting);
  a(due_);
}

}  // namespace tlmssd::firmware
