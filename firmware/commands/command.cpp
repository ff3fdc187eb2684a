// What all host commands have in common: how they come and go, and what is wrong with them. Each is
// one coroutine that reads from top to bottom, in a file of its own.
#include <stdexcept>

#include "firmware/commands/commands.h"

namespace tlmssd::firmware {

Commands::Commands(Core& shared, const DriveShape& drive, Flusher& to_flash, Layer* front_layer)
    : hw(shared.hw),
      core(shared),
      shape(drive),
      flusher(to_flash),
      front(front_layer),
      order(shared.hw.event_queue),
      write_through(shared.config.buffer.is_write_through()) {
  if (drive.multi_plane_reads && drive.geometry.planes > 1) joiner.emplace(drive.same_blocks);
}

void Commands::submit(HostCommand& command) {
  for (Feature* const feature : core.hooks.arrival) feature->on_arrival();
  command.status = check(command);
  if (command.status != HostStatus::success) {
    tasks.start(reject(command, command.status));
    return;
  }
  switch (command.opcode) {
    case HostOpcode::read:
      tasks.start(read(command));
      break;
    case HostOpcode::write:
      tasks.start(write(command));
      break;
    case HostOpcode::flush:
      tasks.start(flush(command));
      break;
    case HostOpcode::trim:
    case HostOpcode::write_zeroes:
      tasks.start(trim(command));
      break;
  }
}

Commands::Active::Active(Commands& owner, HostCommand& host_command) : HeldCommand{host_command} {
  ticket.ledger = &host_command.ledger;
  owner.active.push(*this);
}

// The command is handed back and gone afterwards.
void Commands::end(Active& done) {
  active.erase(done);
  ++core.stats.commands;
  hw.host.complete(done.command);
  if (hw.host.outstanding() == 0) core.events.host_idle();
  for (Feature* const feature : core.hooks.command_end) feature->on_command_end();
  core.events.work_ended();
}

HostStatus Commands::check(const HostCommand& command) const {
  const auto beyond = [this](std::uint64_t lba, std::uint64_t blocks) {
    return lba > shape.logical_blocks || blocks > shape.logical_blocks - lba;
  };
  switch (command.opcode) {
    case HostOpcode::read:
    case HostOpcode::write:
      if (command.blocks == 0) return HostStatus::invalid_field;
      if (command.data().size() < command.blocks)
        throw std::logic_error("firmware: a command came without a place for its data");
      break;
    case HostOpcode::write_zeroes:
      if (command.blocks == 0) return HostStatus::invalid_field;
      break;
    case HostOpcode::trim:
      for (const LbaRange& range : command.ranges()) {
        if (beyond(range.lba, range.blocks)) return HostStatus::lba_out_of_range;
      }
      if (!command.ranges().empty()) return HostStatus::success;
      break;
    case HostOpcode::flush:
      return HostStatus::success;
  }
  return beyond(command.lba, command.blocks) ? HostStatus::lba_out_of_range : HostStatus::success;
}

void Commands::enter(Active& self, UnitRange units, bool changes) {
  const auto unit = static_cast<Lpn>(units.first);
  core.map->prefetch(unit);  // of a write, too: untimed, its unit leaves the buffer at once
  flusher.buffer().prefetch(unit);
  if (front != nullptr) front->prefetch(unit);
  for (Feature* const feature : core.hooks.host_command) feature->on_host_command(self.command);
  order.enter(self.ticket, units.first, units.last, changes);
  if (front != nullptr) front->prefetch_data(unit);
}

void Commands::describe(Stage stage, const HostCommand& command) {
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
    hit = front != nullptr ? front->covers(command.lba, command.blocks)
                           : flusher.buffer().find(unit) != WriteBuffer::k_none;
  }
  work.cached = hit ? Cached::hit : Cached::miss;
  hw.cpu.describe(stage, work);
}

Task<> Commands::dispatch(Active& self, Stage next, std::uint32_t times) {
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

Task<> Commands::reject(HostCommand& command, HostStatus status) {
  Active self(*this, command);
  co_await RunStage(hw, Stage::command, &command.ledger);
  command.status = status;
  co_await RunStage(hw, Stage::complete, &command.ledger);
  end(self);
}

}  // namespace tlmssd::firmware
