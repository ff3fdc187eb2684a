// Writes: into the layer in front, or into the write buffer.
#include <algorithm>
#include <utility>

#include "firmware/commands/commands.h"

namespace tlmssd::firmware {

Task<> Commands::write(HostCommand& command) {
  Active self(*this, command);
  const UnitRange units = units_of(command.lba, command.blocks);
  const auto unit = static_cast<Lpn>(units.first);
  enter(self, units, true);
  const auto count = static_cast<std::uint32_t>(units.last - units.first + 1);
  if (can_coalesce(self, Stage::buffer)) {
    if (hw.cpu.by_work()) describe(Stage::buffer, command);
    co_await RunStage(hw, Stage::command, Stage::buffer, &command.ledger, count);
  } else {
    co_await dispatch(self, Stage::buffer, count);
  }

  // Before it holds room in the write buffer: bringing entries in may take some. What a layer in
  // front takes needs no entry, but a command that writes makes up for what programs and moves have
  // put in.
  const std::uint32_t needed = front != nullptr ? 0 : count;
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
  if (accepted && front == nullptr)
    done = insert(command, command.lba, command.blocks, command.data().data(), wait, allocation);
  if (accepted && front != nullptr) {
    accepted = co_await front->write(self, *this, command.lba, command.blocks, command.data().data(), wait);
  } else if (done < command.blocks) {
    accepted = co_await accept(self, command.lba + done, command.blocks - done, command.data().data() + done,
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

// Inserts blocks into the buffer until one needs a new entry and there is none; returns the number
// of blocks inserted.
std::uint64_t Commands::insert(const HostCommand& command, std::uint64_t lba, std::uint64_t blocks,
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
        flusher.space().unreserve(1, allocation.line);
      } else if (!flusher.space().room(allocation.line)) {
        break;
      }
      i = buffer.add(static_cast<Lpn>(unit), i, 0, allocation.line);
    }
    buffer.mark_from_host(i);
    allocation.asked = false;
    const auto count = static_cast<std::uint32_t>(std::min<std::uint64_t>(sectors - from, blocks - done));
    buffer.merge(i, from, count, data + done);
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

void Commands::choose_line(BufferAllocation& allocation, std::uint64_t unit, const HostCommand& command) {
  if (flusher.buffer().lines() == 1 || std::exchange(allocation.asked, true)) return;
  const std::uint8_t line = line_of(unit, command);
  if (line != allocation.line)
    flusher.space().give_back(std::exchange(allocation.granted, 0), allocation.line);
  allocation.line = line;
}

std::uint8_t Commands::line_of(std::uint64_t unit, const HostCommand& command) {
  const Hooks::List& lines = core.hooks.write_line;
  return lines.empty() ? 0 : lines.front()->write_line(static_cast<Lpn>(unit), command);
}

Task<bool> Commands::accept(HeldCommand& self, std::uint64_t lba, std::uint64_t blocks, const Stamp* data,
                            Durable* durable, BufferAllocation allocation) {
  std::uint64_t done = insert(self.command, lba, blocks, data, durable, allocation);
  BufferSpace::Reservation room(flusher.space(), 0, allocation.line);
  while (done < blocks) {
    self.waits_for = "room in the write buffer";
    const UnitRange left = units_of(lba + done, blocks - done);
    room.want(static_cast<std::uint32_t>(std::min<std::uint64_t>(left.last - left.first + 1, 0xFFFFFFFFU)),
              allocation.line);
    co_await room;
    charge_full_wait(self.command.ledger, Cause::buffer_wait, room.collection_wait(), hw.event_queue.now());
    allocation.granted = room.granted();
    if (core.read_only || allocation.granted == 0) {
      flusher.space().give_back(allocation.granted, allocation.line);
      co_return false;
    }
    done += insert(self.command, lba + done, blocks - done, data + done, durable, allocation);
    flusher.space().give_back(std::exchange(allocation.granted, 0), allocation.line);
  }
  room.end_turn();
  co_return true;
}

}  // namespace tlmssd::firmware
