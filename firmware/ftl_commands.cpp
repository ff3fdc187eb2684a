// The host commands: each is one coroutine that reads from top to bottom.
#include <algorithm>
#include <optional>
#include <stdexcept>
#include <utility>

#include "firmware/ftl_parts.h"

namespace tlmssd::firmware {

// --------------------------------------------------------------------------------------------------------- coming and going

Ftl::Parts::Active::Active(Parts& owner, HostCommand& host_command) : command(host_command) {
  ticket.ledger = &host_command.ledger;
  owner.active.push(*this);
}

// The command is handed back and gone afterwards.
void Ftl::Parts::end(Active& done) {
  active.erase(done);
  ++core.stats.commands;
  hw.host.complete(done.command);
  if (hw.host.outstanding() == 0) arm_idle_timer();
  for (Feature* const feature : core.hooks.command_end) feature->on_command_end();
  settled();
}

HostStatus Ftl::Parts::check(const HostCommand& command) const {
  const auto beyond = [this](std::uint64_t lba, std::uint64_t blocks) {
    return lba > shape.logical_blocks || blocks > shape.logical_blocks - lba;
  };
  switch (command.opcode) {
    case HostOpcode::read:
    case HostOpcode::write:
      if (command.blocks == 0) return HostStatus::invalid_field;
      if (command.data.size() < command.blocks)
        throw std::logic_error("firmware: a command came without a place for its data");
      break;
    case HostOpcode::write_zeroes:
      if (command.blocks == 0) return HostStatus::invalid_field;
      break;
    case HostOpcode::trim:
      for (const LbaRange& range : command.ranges) {
        if (beyond(range.lba, range.blocks)) return HostStatus::lba_out_of_range;
      }
      if (!command.ranges.empty()) return HostStatus::success;
      break;
    case HostOpcode::flush:
      return HostStatus::success;
  }
  return beyond(command.lba, command.blocks) ? HostStatus::lba_out_of_range : HostStatus::success;
}

Ftl::Parts::UnitRange Ftl::Parts::units_of(std::uint64_t lba, std::uint64_t blocks) const {
  const std::uint32_t sectors = core.layout.sectors;
  return {lba / sectors, (lba + blocks - 1) / sectors};
}

// The core that takes a command goes straight on with it, unless an earlier command on the same
// units must end first or other cores are meant for what comes next.
bool Ftl::Parts::can_coalesce(const Active& self, Stage next) const {
  return !self.ticket.blocked() && hw.cpu.same_cores(Stage::command, next);
}

void Ftl::Parts::describe(Stage stage, const HostCommand& command) {
  using Cached = StageWork::Cached;
  if (command.blocks == 0) return;
  const UnitRange units = units_of(command.lba, command.blocks);
  const auto unit = static_cast<Lpn>(units.first);
  StageWork work;
  bool hit = false;
  if (stage == Stage::translate) {
    work.entries = core.map->looked_at(unit);
    hit = core.map->at_hand(unit, units.last - units.first + 1);
  } else {
    hit = cache ? cache->covers(command.lba, command.blocks)
                : flusher.buffer().find(unit) != WriteBuffer::k_none;
  }
  work.cached = hit ? Cached::hit : Cached::miss;
  hw.cpu.describe(stage, work);
}

Task<> Ftl::Parts::dispatch(Active& self, Stage next, std::uint32_t times) {
  HostCommand& command = self.command;
  co_await RunStage(hw, Stage::command, &command.ledger);
  if (self.ticket.blocked()) {
    self.waits_for = "an earlier command on the same units";
    co_await self.ticket;
    charge(command, Cause::lba_hazard_wait);
  }
  if (hw.cpu.by_work()) describe(next, command);
  co_await RunStage(hw, next, &command.ledger, times);
}

Task<> Ftl::Parts::reject(HostCommand& command, HostStatus status) {
  Active self(*this, command);
  co_await RunStage(hw, Stage::command, &command.ledger);
  command.status = status;
  co_await RunStage(hw, Stage::complete, &command.ledger);
  end(self);
}

// ----------------------------------------------------------------------------------------------------------------------- read

Task<> Ftl::Parts::read(HostCommand& command) {
  Active self(*this, command);
  const UnitRange units = units_of(command.lba, command.blocks);
  const std::uint64_t count = units.last - units.first + 1;
  const auto unit = static_cast<Lpn>(units.first);
  core.map->prefetch(unit);
  for (Feature* const feature : core.hooks.host_command) feature->on_host_command(command);
  order.enter(self.ticket, units.first, units.last, false);
  const Stage first_stage = cache ? Stage::buffer : Stage::translate;
  if (can_coalesce(self, first_stage)) {
    if (hw.cpu.by_work()) describe(first_stage, command);
    co_await RunStage(hw, Stage::command, first_stage, &command.ledger, static_cast<std::uint32_t>(count));
  } else {
    co_await dispatch(self, first_stage, static_cast<std::uint32_t>(count));
  }
  std::optional<Cache::Reservation> room;  // for what is copied in
  if (!cache || !cache->covers(command.lba, command.blocks)) {
    if (cache && hw.cpu.by_work()) describe(Stage::translate, command);
    if (cache) co_await RunStage(hw, Stage::translate, &command.ledger, static_cast<std::uint32_t>(count));
    self.waits_for = "the map";
    if (!core.map_at_hand(unit, count)) co_await core.map->fetch(unit, count, &command.ledger);
    const MappingScheme::Span where = core.map->entries(unit, count);
    MemoryAccess entries(hw, MemoryKind::dram, where.address, where.bytes, false, &command.ledger,
                         Cause::map_fetch);
    co_await entries;
    if (cache) co_await wait_to_copy(self, room);
  }

  ReadList reads;
  Bytes from_buffer = 0;
  MemorySpans from_cache;
  look_up(command, units, reads, from_buffer, from_cache);
  order.leave(self.ticket);
  if (from_buffer > 0 || !from_cache.empty()) co_await fetch_copies(self, from_buffer, from_cache);
  while (!reads.empty()) {
    self.waits_for = "flash reads";
    core.resolve(reads);
    core.join_planes(reads);
    co_await RunStage(hw, Stage::flash, &command.ledger, reads.operations);
    Latch latch;
    for (ReadOp& read : reads) {
      read.op.buffer_address = command.buffer_address;
      core.start_read(read, latch, Purpose::host, &command.ledger, reads.operations == 1);
    }
    co_await latch;
    latch.settle(command.ledger);
    deliver(command, reads, room ? &*room : nullptr);
  }
  room.reset();
  if (cache) cache->pump();
  for (Feature* const feature : core.hooks.read_end) feature->on_read_end();
  core.stats.host_blocks_read += command.blocks;
  core.stats.host_units_read += count;
  co_await RunStage(hw, Stage::complete, &command.ledger);
  end(self);
}

/// What the cache and the write buffer hold is copied to where the host interface expects the data.
Task<> Ftl::Parts::fetch_copies(Active& self, Bytes from_buffer, const MemorySpans& from_cache) {
  HostCommand& command = self.command;
  if (!from_cache.empty()) {
    self.waits_for = "the cache";
    MemoryAccess copy(hw, &command.ledger, Cause::memory);
    copy.add(cache->medium(), from_cache, false);
    if (cache->medium() == MemoryKind::scm)
      copy.add(MemoryKind::dram, command.buffer_address, from_cache.bytes(), true);
    co_await copy;
  }
  if (from_buffer > 0) {
    self.waits_for = "the write buffer in DRAM";
    co_await RunStage(hw, Stage::buffer, &command.ledger);
    MemoryAccess copy(hw, MemoryKind::dram, flusher.address_of(0), from_buffer, false, &command.ledger,
                      Cause::memory);
    co_await copy;
  }
}

void Ftl::Parts::look_up(HostCommand& command, UnitRange units, ReadList& reads, Bytes& from_buffer,
                         MemorySpans& from_cache) {
  const std::uint32_t sectors = core.layout.sectors;
  WriteBuffer& buffer = flusher.buffer();
  const bool buffered = buffer.free() < buffer.capacity();
  const std::uint64_t end_lba = command.lba + command.blocks;
  for (std::uint64_t u = units.first; u <= units.last; ++u) {
    const auto unit = static_cast<Lpn>(u);
    const std::uint64_t start = u * sectors;
    std::uint64_t want = core.layout.sectors_of(u, command.lba, end_lba);
    if (cache) {
      want = cache->take(command, unit, want, from_cache);
      if (want == 0) continue;
    }
    if (buffered) {
      const WriteBuffer::Index i = buffer.find(unit);
      if (i != WriteBuffer::k_none) want = take_buffered(command, i, want, from_buffer);
      if (want == 0) continue;
    }
    const Ppn where = core.map->lookup(unit);
    if (where == k_nowhere) {
      ++core.stats.unmapped_reads;
      for (std::uint64_t rest = want; rest != 0; rest &= rest - 1)
        command.data[start + static_cast<std::uint64_t>(std::countr_zero(rest)) - command.lba] = k_zeros;
      continue;
    }
    if (!core.poisoned.empty() && core.poisoned.contains(unit)) command.status = HostStatus::media_error;
    if (redirected(unit, where, want, reads)) continue;
    ReadOp& read = core.add_read(reads, where);
    const std::uint32_t at = core.layout.in_mp_page(where, read.mp_page);
    read.wanted[at] = unit;
    read.need[at] = want;
  }
}

bool Ftl::Parts::redirected(Lpn unit, Ppn where, std::uint64_t need, ReadList& reads) {
  const Hooks::List& hooks = core.hooks.redirect_read;
  return std::any_of(hooks.begin(), hooks.end(),
                     [&](Feature* feature) { return feature->redirect_read(unit, where, need, reads); });
}

// Copies the sectors of `want` that a buffer entry holds; returns those that it does not.
std::uint64_t Ftl::Parts::take_buffered(HostCommand& command, WriteBuffer::Index i, std::uint64_t want,
                                        Bytes& from_buffer) {
  WriteBuffer& buffer = flusher.buffer();
  const WriteBuffer::Entry& entry = buffer.entry(i);
  const std::uint64_t have = want & entry.mask;
  if (have == 0) return want;
  if (entry.damaged) command.status = HostStatus::media_error;
  const Stamp* const stamps = buffer.stamps(i);
  const std::uint64_t start = std::uint64_t{entry.unit} * core.layout.sectors;
  for (std::uint64_t rest = have; rest != 0; rest &= rest - 1) {
    const auto s = static_cast<std::uint32_t>(std::countr_zero(rest));
    command.data[start + s - command.lba] = stamps[s];
  }
  from_buffer += static_cast<Bytes>(std::popcount(have)) * shape.lba_bytes;
  ++core.stats.buffer_read_hits;
  return want & ~have;
}

void Ftl::Parts::deliver(HostCommand& command, ReadList& reads, Cache::Reservation* room) {
  ReadList again;
  while (!reads.empty()) {
    ReadOp& read = reads.pop();
    const Hooks::List& hooks = core.hooks.redirect_read;
    const bool decoded =
        read.copy_of == k_no_unit || std::all_of(hooks.begin(), hooks.end(), [&](Feature* feature) {
          return feature->settle_redirected(read, again);
        });
    if (decoded) deliver(command, read, room);
    core.end_read(read);
  }
  reads = std::move(again);
}

void Ftl::Parts::deliver(HostCommand& command, const ReadOp& read, Cache::Reservation* room) {
  const std::uint32_t sectors = core.layout.sectors;
  const bool copy = read.copy_of != k_no_unit;
  for (std::uint32_t at = read.low; at <= read.high; ++at) {
    if (read.wanted[at] == k_no_unit) continue;
    if (read.lost(at)) {
      command.status = HostStatus::media_error;
      ++core.stats.uncorrectable_units;
    } else {
      core.check_spare(read, at);
    }
    const Lpn unit = copy ? read.copy_of : read.wanted[at];
    const Ppn where = copy ? read.original : core.layout.ppn_of_mp_page(read.mp_page) + at;
    const Stamp* const stamps = &read.stamps[std::size_t{at} * sectors];
    const std::uint64_t start = std::uint64_t{unit} * sectors;
    for (std::uint64_t rest = read.need[at]; rest != 0; rest &= rest - 1) {
      const auto s = static_cast<std::uint32_t>(std::countr_zero(rest));
      command.data[start + s - command.lba] = stamps[s];
    }
    if (read.lost(at)) continue;
    if (cache) cache->copy_in(unit, where, read.need[at], stamps, room);
    on_host_read(unit, where, stamps);
  }
}

void Ftl::Parts::on_host_read(Lpn unit, Ppn where, const Stamp* stamps) {
  if (core.pslc) {
    const bool slc = core.pool.mode(core.layout.block_of(where)) == BlockMode::slc;
    ++(slc ? core.stats.host_units_slc : core.stats.host_units_native);
  }
  for (Feature* const feature : core.hooks.host_read) feature->on_host_read(unit, where, stamps);
}

// ---------------------------------------------------------------------------------------------------------------------- write

Task<> Ftl::Parts::write(HostCommand& command) {
  Active self(*this, command);
  const UnitRange units = units_of(command.lba, command.blocks);
  const auto unit = static_cast<Lpn>(units.first);
  core.map->prefetch(unit);
  for (Feature* const feature : core.hooks.host_command) feature->on_host_command(command);
  if (core.pslc) core.pslc->path().command(Bytes{command.blocks} * shape.lba_bytes);
  order.enter(self.ticket, units.first, units.last, true);
  const auto count = static_cast<std::uint32_t>(units.last - units.first + 1);
  if (can_coalesce(self, Stage::buffer)) {
    if (hw.cpu.by_work()) describe(Stage::buffer, command);
    co_await RunStage(hw, Stage::command, Stage::buffer, &command.ledger, count);
  } else {
    co_await dispatch(self, Stage::buffer, count);
  }

  // Before it holds room in the write buffer: bringing entries in may take some. What the cache
  // takes needs no entry, but a command that writes makes up for what programs and moves have put
  // in.
  const std::uint32_t needed = cache ? 0 : count;
  if (!core.map_at_hand(unit, needed)) {
    self.waits_for = "the map";
    co_await core.map->fetch(unit, needed, &command.ledger);
  }
  Durable durable{hw.event_queue, command.ledger};
  Durable* const wait = immediate(command) ? &durable : nullptr;
  bool accepted = !core.read_only;
  // Straight through as long as there is room; the coroutine that can wait is for when there is
  // none.
  std::uint64_t done = command.blocks;
  BufferAllocation allocation;
  if (accepted && !cache)
    done = insert(command, command.lba, command.blocks, command.data.data(), wait, allocation);
  if (accepted && cache) {
    accepted = co_await store(self, command.lba, command.blocks, command.data.data(), wait);
  } else if (done < command.blocks) {
    accepted = co_await accept(self, command.lba + done, command.blocks - done, command.data.data() + done,
                               wait, allocation);
  }
  order.leave(self.ticket);
  if (accepted) {
    core.stats.host_blocks_written += command.blocks;
    core.stats.host_units_written += count;
  }
  flusher.pump_if_due();
  if (wait != nullptr) {
    self.waits_for = "its data to reach flash";
    co_await durable;
    charge(command, Cause::buffer_wait);
    accepted = accepted && !durable.failed;
  }
  if (!accepted) command.status = HostStatus::write_protected;
  co_await RunStage(hw, Stage::complete, &command.ledger);
  end(self);
}

// Lays blocks into the buffer until one needs a new entry and there is none; returns the number of
// blocks laid in.
std::uint64_t Ftl::Parts::insert(const HostCommand& command, std::uint64_t lba, std::uint64_t blocks,
                                 const Stamp* data, Durable* durable, BufferAllocation& allocation) {
  const std::uint32_t sectors = core.layout.sectors;
  WriteBuffer& buffer = flusher.buffer();
  std::uint64_t unit = lba / sectors;
  auto from = static_cast<std::uint32_t>(lba - unit * sectors);
  std::uint64_t done = 0;
  for (; done < blocks; ++unit, from = 0) {
    WriteBuffer::Index i = buffer.find(static_cast<Lpn>(unit));
    choose_line(allocation, unit, command);
    if (buffer.merges(i)) {
      ++core.stats.buffer_overwrites;
    } else {
      if (allocation.granted > 0) {
        --allocation.granted;
        flusher.unreserve(1, allocation.line);
      } else if (!flusher.room(allocation.line)) {
        break;
      }
      i = buffer.add(static_cast<Lpn>(unit), i, 0, allocation.line);
    }
    allocation.asked = false;
    const auto count = static_cast<std::uint32_t>(std::min<std::uint64_t>(sectors - from, blocks - done));
    buffer.merge(i, from, count, data == nullptr ? zeros.data() : data + done);
    // The last unit of a drive may reach beyond its end: nothing to keep there.
    if ((unit + 1) * sectors > shape.logical_blocks) {
      const auto inside = static_cast<std::uint32_t>(shape.logical_blocks - unit * sectors);
      buffer.merge(i, inside, sectors - inside, zeros.data());
    }
    if (durable != nullptr) {
      buffer.wait_for(i, *durable);
      buffer.make_urgent(i);
    }
    done += count;
  }
  return done;
}

void Ftl::Parts::choose_line(BufferAllocation& allocation, std::uint64_t unit, const HostCommand& command) {
  if (flusher.buffer().lines() == 1 || std::exchange(allocation.asked, true)) return;
  const std::uint8_t line = line_of(unit, command);
  if (line != allocation.line) flusher.give_back(std::exchange(allocation.granted, 0), allocation.line);
  allocation.line = line;
}

std::uint8_t Ftl::Parts::line_of(std::uint64_t unit, const HostCommand& command) {
  const Hooks::List& handles = core.hooks.placement_handle;
  if (!handles.empty()) return handles.front()->placement_handle(command);
  const Bytes bytes = Bytes{command.blocks} * shape.lba_bytes;
  return core.pslc && core.pslc->path().direct(static_cast<Lpn>(unit), bytes) ? 1 : 0;
}

// Of a wait for room, what the program that made room had spent on garbage collection counts as
// such.
void Ftl::Parts::charge_full_wait(HostCommand& command, const CollectionWait& of_program) {
  Ledger& ledger = command.ledger;
  const Picoseconds now = hw.event_queue.now();
  ledger.charge(Cause::space_wait, ledger.mark() + of_program.share_of(now - ledger.mark()));
  ledger.charge(Cause::buffer_wait, now);
}

Task<bool> Ftl::Parts::accept(Active& self, std::uint64_t lba, std::uint64_t blocks, const Stamp* data,
                              Durable* durable, BufferAllocation& allocation) {
  std::uint64_t done = insert(self.command, lba, blocks, data, durable, allocation);
  while (done < blocks) {
    self.waits_for = "room in the write buffer";
    const UnitRange left = units_of(lba + done, blocks - done);
    Flusher::Reservation room(
        flusher, static_cast<std::uint32_t>(std::min<std::uint64_t>(left.last - left.first + 1, 0xFFFFFFFFU)),
        allocation.line);
    co_await room;
    charge_full_wait(self.command, room.collection_wait());
    allocation.granted = room.granted();
    if (core.read_only || allocation.granted == 0) {
      flusher.give_back(allocation.granted, allocation.line);
      co_return false;
    }
    done += insert(self.command, lba + done, blocks - done, data == nullptr ? nullptr : data + done, durable,
                   allocation);
    flusher.give_back(std::exchange(allocation.granted, 0), allocation.line);
  }
  co_return true;
}

// ------------------------------------------------------------------------------------------------------- trim and write zeroes

Task<> Ftl::Parts::trim(HostCommand& command) {
  Active self(*this, command);
  const LbaRange single{command.lba, command.blocks};
  const std::span<const LbaRange> ranges =
      command.opcode == HostOpcode::trim && !command.ranges.empty() ? command.ranges : std::span(&single, 1);
  std::uint64_t count = 0;
  for (const LbaRange& range : ranges) {
    if (range.blocks == 0) continue;
    const UnitRange units = units_of(range.lba, range.blocks);
    order.enter(self.ticket, units.first, units.last, true);
    count += units.last - units.first + 1;
  }
  co_await dispatch(self, Stage::translate,
                    static_cast<std::uint32_t>(std::min<std::uint64_t>(count, 0xFFFFFFFFU)));

  Durable durable{hw.event_queue, command.ledger};
  Durable* const wait = immediate(command) ? &durable : nullptr;
  bool accepted = !core.read_only;
  for (const LbaRange& range : ranges) {
    if (!accepted || range.blocks == 0) continue;
    if (core.layout.map_units > 0) {
      self.waits_for = "the map";
      const UnitRange units = units_of(range.lba, range.blocks);
      co_await core.map->fetch_to_deallocate(static_cast<Lpn>(units.first), units.last - units.first + 1,
                                             &command.ledger);
      accepted = !core.read_only;
    }
    if (accepted) accepted = co_await clear(self, range, wait);
  }
  order.leave(self.ticket);
  flusher.pump_if_due();
  if (wait != nullptr && durable.pending > 0) {
    self.waits_for = "its data to reach flash";
    co_await durable;
    charge(command, Cause::buffer_wait);
  }
  if (!accepted || durable.failed) command.status = HostStatus::write_protected;
  co_await RunStage(hw, Stage::complete, &command.ledger);
  end(self);
}

bool Ftl::Parts::holds_data(Lpn unit) {
  return core.map->lookup(unit) != k_nowhere || flusher.buffer().find(unit) != WriteBuffer::k_none ||
         (cache && cache->holds(unit));
}

Task<bool> Ftl::Parts::clear(Active& self, LbaRange range, Durable* durable) {
  const std::uint32_t sectors = core.layout.sectors;
  const std::uint64_t end_lba = range.lba + range.blocks;
  const UnitRange units = units_of(range.lba, range.blocks);
  // Edges that are not whole units become zeros; the last unit of the drive is whole when the range
  // reaches the drive's end.
  const bool head = range.lba % sectors != 0;
  const bool tail = end_lba % sectors != 0 && end_lba != shape.logical_blocks;
  std::uint64_t whole_first = units.first;
  std::uint64_t whole_end = units.last + 1;
  if (head || (tail && units.first == units.last)) {
    ++whole_first;
    const std::uint64_t count = std::min(range.blocks, units.first * sectors + sectors - range.lba);
    if (holds_data(static_cast<Lpn>(units.first)) &&
        !co_await store(self, range.lba, count, nullptr, durable)) {
      co_return false;
    }
  }
  if (tail && units.last > units.first) {
    --whole_end;
    const std::uint64_t start = units.last * sectors;
    if (holds_data(static_cast<Lpn>(units.last)) &&
        !co_await store(self, start, end_lba - start, nullptr, durable)) {
      co_return false;
    }
  }
  if (whole_first < whole_end) deallocate(whole_first, whole_end);
  co_return true;
}

void Ftl::Parts::deallocate(std::uint64_t first_unit, std::uint64_t end_unit) {
  if (cache) core.stats.units_trimmed += cache->discard(first_unit, end_unit);
  core.stats.units_trimmed += flusher.discard(first_unit, end_unit);
  if (cache) cache->pump();
  if (core.layout.map_units > 0) core.map->deallocation(first_unit, end_unit);
  for (std::uint64_t u = core.map->next_touched(first_unit, end_unit); u < end_unit;
       u = core.map->next_touched(u + 1, end_unit)) {
    const auto unit = static_cast<Lpn>(u);
    const Ppn where = core.map->lookup(unit);
    if (where == k_nowhere) continue;
    core.deallocate(unit, where);
    ++core.stats.units_trimmed;
    if (!core.poisoned.empty()) core.poisoned.erase(unit);
  }
  // The map is rewritten line by line; nothing waits.
  constexpr std::uint64_t k_most = 1U << 20U;
  for (std::uint64_t u = first_unit; u < end_unit; u += k_most) {
    core.post_map_update(static_cast<Lpn>(u), static_cast<std::uint32_t>(std::min(k_most, end_unit - u)));
  }
}

// ------------------------------------------------------------------------------------------------------------- flush and drain

Task<> Ftl::Parts::flush(HostCommand& command) {
  Active self(*this, command);
  co_await RunStage(hw, Stage::command, &command.ledger);
  if (cache && !cache->non_volatile()) {
    self.waits_for = "the cache to be written out";
    co_await cache->stage_all();
    charge(command, Cause::buffer_wait);
  }
  self.waits_for = "the write buffer to be written out";
  Flusher::Flushed flushed(flusher, cache && cache->non_volatile());
  co_await flushed;
  charge_branch(command.ledger, flushed.last(), Cause::buffer_wait);
  if (command.ledger.mark() < hw.event_queue.now()) charge(command, Cause::buffer_wait);
  // What a read-only drive could not stage is still in the cache, which may not last.
  const bool left_behind =
      core.read_only && cache && !cache->non_volatile() && cache->store().dirty_sectors() > 0;
  if (flushed.failed() || left_behind) command.status = HostStatus::write_protected;
  co_await RunStage(hw, Stage::complete, &command.ledger);
  end(self);
}

Task<> Ftl::Parts::drain() {
  while (!idle()) {
    if (flusher.buffer().waiting() > 0 && !core.read_only) {
      Flusher::Flushed flushed(flusher);
      co_await flushed;
    } else {
      auto wait = quiet.wait();
      co_await wait;
    }
  }
  drop_gathered();
  timer_wanted = false;
}

}  // namespace tlmssd::firmware
