// What all host commands have in common: how they come and go, and what is wrong with them. Each is
// one coroutine that reads from top to bottom, in a file of its own.
#include <stdexcept>

#include "firmware/ftl_parts.h"

namespace tlmssd::firmware {

Ftl::Parts::Active::Active(Parts& owner, HostCommand& host_command) : HeldCommand{host_command} {
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
    hit = front != nullptr ? front->covers(command.lba, command.blocks)
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

}  // namespace tlmssd::firmware
