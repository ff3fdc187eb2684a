// Reads: what the layer in front, the write buffer and flash hold of a range.
#include <algorithm>
#include <utility>

#include "firmware/commands/commands.h"
#include "firmware/flash/read_turn.h"

namespace tlmssd::firmware {

namespace {
constexpr std::uint32_t k_in_caches = 64;  // commands under way whose state stays in the caches by itself
}  // namespace

Task<> Commands::read(HostCommand& command) {
  Active self(*this, command);
  const UnitRange units = units_of(command.lba, command.blocks);
  const std::uint64_t count = units.last - units.first + 1;
  const auto unit = static_cast<Lpn>(units.first);
  enter(self, units, false);
  const Stage first_stage = front != nullptr ? Stage::buffer : Stage::translate;
  if (can_coalesce(self, first_stage)) {
    if (hw.cpu.by_work()) describe(first_stage, command);
    co_await RunStage(hw, Stage::command, first_stage, &command.ledger, static_cast<std::uint32_t>(count));
  } else {
    co_await dispatch(self, first_stage, static_cast<std::uint32_t>(count));
  }
  std::unique_ptr<Layer::Hold> hold;  // for what the layer in front copies in
  if (front == nullptr || !front->covers(command.lba, command.blocks)) {
    if (front != nullptr) {
      if (hw.cpu.by_work()) describe(Stage::translate, command);
      co_await RunStage(hw, Stage::translate, &command.ledger, static_cast<std::uint32_t>(count));
    }
    self.waits_for = "the map";
    if (core.map_in_host()) {
      co_await core.look_up_in_host(unit, count, &command.ledger);
    } else {
      if (!core.map_at_hand(unit, count)) co_await core.map->fetch(unit, count, &command.ledger);
      const MappingScheme::Span where = core.map_entries(unit, count);
      MemoryAccess entries(hw, MemoryKind::dram, where.address, where.bytes, false, &command.ledger,
                           Cause::map_fetch);
      co_await entries;
    }
    if (front != nullptr) co_await front->prepare_read(self, hold);
  }

  ReadBatch reads(core, Purpose::host, command.buffer_address, &command.ledger, plane_joiner());
  Elsewhere elsewhere;
  look_up(command, units, reads, elsewhere, hold.get());
  order.leave(self.ticket);
  if (elsewhere.in_buffer || !elsewhere.in_front.empty()) co_await fetch_copies(self, elsewhere);
  ReadTurn turn(core, reads);
  if (!turn.free()) {
    self.waits_for = "its turn to read flash";
    co_await turn;
    if (turn.held()) charge(command, Cause::batch_wait);
  }
  while (!reads.empty() || !elsewhere.coming.empty()) {
    if (reads.empty()) {
      co_await await_coming(self, elsewhere.coming, reads, hold.get());
      continue;
    }
    self.waits_for = "flash reads";
    if (active.size() > k_in_caches) {
      for (ReadOp& read : reads) read.op.waiting = &self;
    }
    co_await reads;
    deliver(command, reads, hold.get());
  }
  turn.end();
  hold.reset();
  if (front != nullptr) front->pump();
  if (!core.hooks.read_end.empty()) {
    if (reads.held_until() > hw.event_queue.now()) {
      const WaitUntil there{hw.event_queue, reads.held_until()};
      co_await there;
      command.ledger.charge(Cause::decode, hw.event_queue.now());
    }
    for (Feature* const feature : core.hooks.read_end) feature->on_read_end();
  }
  core.stats.host_blocks_read += command.blocks;
  core.stats.host_units_read += count;
  co_await RunStage(hw, Stage::complete, &command.ledger);
  end(self);
}

/// What lies in DRAM already, in the write buffer or in a cache, the host interface reads where it
/// is, from a list of places; what lies in SCM is copied to where it expects the data.
Task<> Commands::fetch_copies(Active& self, const Elsewhere& elsewhere) {
  HostCommand& command = self.command;
  const MemorySpans& in_front = elsewhere.in_front;
  if (!in_front.empty() && front->medium() == MemoryKind::scm) {
    self.waits_for = front->name();
    MemoryAccess copy(hw, &command.ledger, Cause::memory);
    copy.add(MemoryKind::scm, in_front, false);
    copy.add(MemoryKind::dram, command.buffer_address, in_front.bytes(), true);
    co_await copy;
  }
  if (elsewhere.in_buffer) {
    self.waits_for = k_waits_for_core;
    hw.cpu.describe(Stage::buffer, {.cached = StageWork::Cached::hit});
    co_await RunStage(hw, Stage::buffer, &command.ledger);
  }
}

Task<> Commands::await_coming(Active& self, std::vector<Elsewhere::Copy>& coming, ReadBatch& reads,
                              Layer::Hold* hold) {
  self.waits_for = "what is read ahead";
  for (const Elsewhere::Copy& one : coming) {
    FlashCopy& copy = *one.copy;
    while (!copy.there) {
      WaitQueue::Waiter arrival = copy.waiting.wait();
      co_await arrival;
    }
    charge(self.command, Cause::read_ahead);
    if (copy.lost) {
      reads.add(one.where, one.unit, one.need);
    } else {
      copy_sectors(self.command, std::uint64_t{one.unit} * core.layout.sectors, one.need, copy.stamps);
    }
    end_copy(one, hold);
    core.unpin(core.layout.block_of(one.where));
  }
  coming.clear();
}

void Commands::look_up(HostCommand& command, UnitRange units, ReadBatch& reads, Elsewhere& elsewhere,
                       Layer::Hold* hold) {
  const std::uint32_t sectors = core.layout.sectors;
  WriteBuffer& buffer = flusher.buffer();
  const bool buffered = buffer.free() < buffer.capacity();
  const std::uint64_t end_lba = command.lba + command.blocks;
  for (std::uint64_t u = units.first; u <= units.last; ++u) {
    const auto unit = static_cast<Lpn>(u);
    std::uint64_t want = core.layout.sectors_of(u, command.lba, end_lba);
    if (front != nullptr) {
      want = front->take(command, unit, want, elsewhere.in_front);
      if (want == 0) continue;
    }
    if (buffered) {
      const WriteBuffer::Index i = buffer.find(unit);
      if (i != WriteBuffer::k_none) want = take_buffered(command, i, want, elsewhere.in_buffer);
      if (want == 0) continue;
    }
    const Ppn where = core.lookup(unit);
    if (where == k_nowhere) {
      ++core.stats.unmapped_reads;
      copy_sectors(command, u * sectors, want, zeros.data());
      continue;
    }
    if (!core.partial_trims.empty()) {
      want = take_trimmed(command, unit, want);
      if (want == 0) continue;
    }
    if (!core.poisoned.empty() && core.poisoned.contains(unit)) note_lost_before(command);
    if (!core.hooks.copy_of.empty() && take_copy(command, unit, where, want, elsewhere)) continue;
    const Hooks::List& hooks = core.hooks.redirect_read;
    const bool redirected = std::any_of(hooks.begin(), hooks.end(), [&](Feature* feature) {
      return feature->redirect_read(unit, where, want, reads);
    });
    if (!redirected) reads.add(where, unit, want);
  }
  // Behind all hits, as what flash delivers.
  for (const Elsewhere::Copy& one : elsewhere.there) end_copy(one, hold);
}

/// A unit that the command wants was lost when it was moved or merged.
void Commands::note_lost_before(HostCommand& command) {
  command.status = HostStatus::media_error;
  ++core.stats.host_units_lost;
  ++core.stats.host_units_lost_before;
}

// What the host has trimmed of a unit is zeros; returns the other sectors.
std::uint64_t Commands::take_trimmed(HostCommand& command, Lpn unit, std::uint64_t want) {
  const std::uint64_t trimmed = want & core.partial_trims.of(unit);
  copy_sectors(command, std::uint64_t{unit} * core.layout.sectors, trimmed, zeros.data());
  if (trimmed == want) ++core.stats.unmapped_reads;
  return want & ~trimmed;
}

// Copies the sectors of `want` that a buffer entry holds; returns those that it does not.
std::uint64_t Commands::take_buffered(HostCommand& command, WriteBuffer::Index i, std::uint64_t want,
                                      bool& in_buffer) {
  WriteBuffer& buffer = flusher.buffer();
  const WriteBuffer::Entry& entry = buffer.entry(i);
  const std::uint64_t have = want & entry.mask;
  if (have == 0) return want;
  if (entry.damaged && (have & ~entry.trimmed) != 0) note_lost_before(command);
  copy_sectors(command, std::uint64_t{entry.unit} * core.layout.sectors, have, buffer.stamps(i));
  in_buffer = true;
  ++core.stats.buffer_read_hits;
  return want & ~have;
}

/// Has the sectors `want` of what lies at `where` from a copy in DRAM, now or when it is there.
bool Commands::take_copy(HostCommand& command, Lpn unit, Ppn where, std::uint64_t want,
                         Elsewhere& elsewhere) {
  Feature& owner = *core.hooks.copy_of.front();
  FlashCopy* const copy = owner.copy_of(unit, where, want);
  if (copy == nullptr) return false;
  elsewhere.in_buffer = true;
  if (!copy->there) {
    core.pool.pin(core.layout.block_of(where));
    elsewhere.coming.push_back({copy, unit, where, want});
    return true;
  }
  copy_sectors(command, std::uint64_t{unit} * core.layout.sectors, want, copy->stamps);
  if (front != nullptr) {
    elsewhere.there.push_back({copy, unit, where, want});
  } else {
    owner.give_back(*copy);
  }
  return true;
}

void Commands::end_copy(const Elsewhere::Copy& one, Layer::Hold* hold) {
  FlashCopy& copy = *one.copy;
  if (front != nullptr && !copy.lost) front->copy_in(one.unit, one.where, one.need, copy.stamps, hold);
  core.hooks.copy_of.front()->give_back(copy);
}

void Commands::deliver(HostCommand& command, ReadBatch& reads, Layer::Hold* hold) {
  ReadList ended = reads.take();
  while (!ended.empty()) {
    ReadOp& read = ended.pop();
    const bool there = read.redirector == nullptr || read.redirector->end_redirected(read, reads);
    if (there) deliver(command, read, hold);
    read.op.waiting = nullptr;
    end_read(core, read);
  }
}

void Commands::deliver(HostCommand& command, const ReadOp& read, Layer::Hold* hold) {
  const bool redirected = read.redirector != nullptr;
  const bool copy = redirected && read.copy_of != k_no_unit;
  for (std::uint32_t at = read.low; at <= read.high; ++at) {
    if (read.wanted[at] == k_no_unit) continue;
    const bool good = check_read(core, read, at);
    const Lpn unit = copy ? read.copy_of : read.wanted[at];
    if (!good) {
      command.status = HostStatus::media_error;
      if (core.poisoned.empty() || !core.poisoned.contains(unit)) ++core.stats.host_units_lost;
    }
    const Ppn where =
        redirected ? read.original + (at - read.low) : core.layout.ppn_of_mp_page(read.mp_page) + at;
    const Stamp* const stamps = read.content(at);
    copy_sectors(command, std::uint64_t{unit} * core.layout.sectors, read.need[at], stamps);
    if (!good) continue;
    if (redirected) core.stats.host_decoded_bits += std::uint64_t{core.layout.unit_bytes} * 8;
    if (front != nullptr) front->copy_in(unit, where, read.need[at], stamps, hold);
    for (Feature* const feature : core.hooks.host_read) feature->on_host_read(unit, where, stamps);
  }
}

}  // namespace tlmssd::firmware
