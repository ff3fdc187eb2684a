#include "firmware/flash/read_batch.h"

#include <fmt/format.h>
#include <stdexcept>
#include <utility>

#include "firmware/flash/error_correction.h"
#include "models/base/mixing.h"

namespace tlmssd::firmware {

ReadOp& ReadBatch::add(Ppn where, Lpn unit, std::uint64_t need) {
  const Layout& layout = core_.layout;
  const std::uint32_t mp_page = layout.mp_page_of(where);
  const std::uint32_t at = layout.in_mp_page(where, mp_page);
  // Consecutive units usually lie side by side; in a short command an earlier read may be of the
  // same page.
  constexpr std::uint32_t k_look_back = 4;
  ReadOp* near = back();
  if (near != nullptr && near->mp_page != mp_page) near = size() <= k_look_back ? front() : nullptr;
  while (near != nullptr && near->mp_page != mp_page) near = after(*near);
  if (near == nullptr || near->redirector != nullptr || !takes_in(*near, at))
    return add_apart(where, unit, need);
  ReadPool::widen(*near, at);
  near->wanted[at] = unit;
  near->need[at] = need;
  return *near;
}

ReadOp& ReadBatch::add_apart(Ppn where, Lpn unit, std::uint64_t need) {
  const Layout& layout = core_.layout;
  const std::uint32_t mp_page = layout.mp_page_of(where);
  const std::uint32_t at = layout.in_mp_page(where, mp_page);
  ReadOp& read = core_.reads.take(mp_page, layout.block_of_mp_page(mp_page), at);
  read.wanted[at] = unit;
  read.need[at] = need;
  read.op.buffer_address = buffer_address_;
  core_.pool.pin(read.block);
  alone_ = empty();
  if (!alone_ && goes_across_planes()) {
    if (size() == 1) {
      pages_ = {};
      note_page(*front());
    }
    alone_ = note_page(read);
  }
  push(read);
  return read;
}

/// Whether a read is to be widened so that it takes in unit `at` of its multi-plane page.
bool ReadBatch::takes_in(const ReadOp& near, std::uint32_t at) const {
  const std::uint32_t units_per_page = core_.layout.units_per_page;
  if (at + units_per_page > near.low && at < near.high + units_per_page) return true;
  return alone_ && at == near.high + 1 && &near == back() && goes_across_planes();
}

/// False: a read of the same page number in the same die may have come before.
bool ReadBatch::note_page(const ReadOp& read) {
  const Layout& layout = core_.layout;
  const std::uint32_t in_block = read.mp_page - read.block * layout.block_mp_pages;
  const std::uint64_t key = std::uint64_t{layout.pu_of(read.block)} << 32U | in_block;
  const std::uint64_t bit = (key * k_golden) >> 56U;
  std::uint64_t& word = pages_[bit / 64];
  const std::uint64_t mask = std::uint64_t{1} << bit % 64;
  const bool first = (word & mask) == 0;
  word |= mask;
  return first;
}

/// Settles where the reads go.
void ReadBatch::resolve() {
  const Layout& layout = core_.layout;
  operations = size();
  for (ReadOp& read : *this) {
    const std::uint32_t pu = layout.pu_of(read.block);
    const std::uint32_t first_plane = read.low / layout.units_per_page;
    const std::uint32_t last_plane = read.high / layout.units_per_page;
    const Layout::Place place = layout.place_of(read.block, read.mp_page);
    FlashOp& op = read.op;
    op.command = FlashCommand::read;
    op.die = layout.die_of(pu, place.stripe_die);
    op.plane = static_cast<PlaneId>(index(layout.plane_of(pu)) + first_plane);
    op.planes = static_cast<std::uint16_t>(last_plane - first_plane + 1);
    op.block = static_cast<BlockId>(read.block - pu * layout.blocks);
    op.page = static_cast<PageId>(place.page);
    op.pages = 1;
    op.mode = core_.mode_of(read.block);
    op.first_slot = read.low - first_plane * layout.units_per_page;
    op.slots = read.high - read.low + 1;
    core_.hw.flash.prefetch(op);
  }
  if (joiner_ != nullptr && size() > 1) joiner_->join(*this);
}

bool ReadBatch::await_ready() {
  last_ = nullptr;
  if (empty()) return true;
  resolve();
  Hardware& hw = core_.hw;
  stage_end_ = RunStage(hw, Stage::flash, ledger_, operations).end();
  return stage_end_ <= hw.event_queue.now() && start();
}

void ReadBatch::await_suspend(std::coroutine_handle<> waiter) {
  waiter_ = waiter;
  if (pending_ > 0) return;  // started already
  const auto stage_ended = [](void* self) {
    auto& batch = *static_cast<ReadBatch*>(self);
    if (batch.start()) batch.waiter_.resume();
  };
  core_.hw.event_queue.at(stage_end_, stage_ended, this);
}

/// Starts all of them; true: they are done.
bool ReadBatch::start() {
  pending_ = 1;
  for (ReadOp& read : *this) {
    if (!read.follows) start(read);
  }
  return --pending_ == 0;
}

/// Starts a read with all that are joined to it.
void ReadBatch::start(ReadOp& read) {
  set_up(read);
  ReadOp* apart = read.joined == nullptr ? nullptr : part_unlike(read);
  const bool branches = ledger_ != nullptr && (operations > 1 || apart != nullptr);
  if (branches) read.ledger = ledger_->fork();
  submit(read, branches ? &read.ledger : ledger_);
  while (apart != nullptr) {
    ReadOp& other = *std::exchange(apart, apart->joined);
    other.joined = nullptr;
    if (branches) other.ledger = ledger_->fork();
    submit(other, branches ? &other.ledger : nullptr);
  }
}

/// Settles how a read is to be done.
void ReadBatch::set_up(ReadOp& read) {
  FlashOp& op = read.op;
  op.purpose = purpose_;
  op.suspended_for_host = false;
  op.status = FlashStatus::ok;
  op.spare = &read.spare[read.low];
  op.stamps = read.content(read.low);
  op.next_plane = nullptr;
  op.on_done = &ended;
  op.on_done_self = &read;
  op.code = EccCode::none;
  op.again = false;
  op.worst_errors = 0;
  op.verdict = nullptr;
  read.batch = this;
  if (core_.correction != nullptr) core_.correction->choose(read);
  for (Feature* const feature : core_.hooks.pass_voltage) op.pass_voltage = feature->pass_voltage(read.block);
}

/// Takes off a read, and returns as a chain, those joined to it that the policies want to be read
/// with another code or other voltages: one command reads all planes alike.
ReadOp* ReadBatch::part_unlike(ReadOp& read) {
  ReadOp* apart = nullptr;
  for (ReadOp* last = &read; last->joined != nullptr;) {
    ReadOp& other = *last->joined;
    set_up(other);
    const FlashOp& op = read.op;
    if (other.op.code == op.code && other.op.retry_level == op.retry_level &&
        other.op.pass_voltage == op.pass_voltage) {
      last = &other;
      continue;
    }
    last->joined = other.joined;
    other.joined = apart;
    apart = &other;
  }
  return apart;
}

/// Starts a read, with those that are joined to it as one operation, charged to `ledger`.
void ReadBatch::submit(ReadOp& read, Ledger* ledger) {
  for (ReadOp* link = &read; link != nullptr; link = link->joined) {
    link->op.ledger = ledger;
    link->op.next_plane = link->joined == nullptr ? nullptr : &link->joined->op;
    ++pending_;
  }
  ++core_.stats.reads[static_cast<std::size_t>(read.op.purpose)];
  if (core_.hw.flash.submit(read.op)) ended(&read);
}

/// Flash is done with a read and those that are joined to it; each goes on by itself.
void ReadBatch::ended(void* first) {
  auto* read = static_cast<ReadOp*>(first);
  ReadBatch& batch = *read->batch;
  ErrorCorrection* const correction = batch.core_.correction;
  const std::uint16_t senses = read->op.senses;  // of all planes alike
  while (read != nullptr) {
    ReadOp& one = *std::exchange(read, read->joined);  // the last of all may be given back by its user
    one.op.next_plane = nullptr;
    one.senses = senses;
    if (correction != nullptr) {
      correction->decoded(one);
    } else {
      batch.arrive(one);
    }
  }
}

void refuse_spare(const Layout& layout, const ReadOp& read, std::uint32_t at) {
  const std::uint32_t pu = layout.pu_of(read.block);
  const Layout::Place place = layout.place_of(read.block, read.mp_page);
  throw std::logic_error(fmt::format(
      "firmware: physical unit {} (die {}, plane {}, block {}, page {}, unit {}) should hold logical unit {} "
      "but its spare area says {}",
      std::uint64_t{read.mp_page} * layout.mp_page_units + at, index(layout.die_of(pu, place.stripe_die)),
      index(layout.plane_of(pu)) + at / layout.units_per_page, read.block - pu * layout.blocks, place.page,
      at % layout.units_per_page, read.wanted[at], read.spare[at]));
}

}  // namespace tlmssd::firmware
