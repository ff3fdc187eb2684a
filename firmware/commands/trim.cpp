// Trim and write zeroes: whole units lose their place, and of others it is remembered what is gone.
#include <algorithm>

#include "firmware/commands/commands.h"

namespace tlmssd::firmware {

Task<> Commands::trim(HostCommand& command) {
  Active self(*this, command);
  const LbaRange single{command.lba, command.blocks};
  const std::span<const LbaRange> ranges = command.opcode == HostOpcode::trim && !command.ranges().empty()
                                               ? command.ranges()
                                               : std::span(&single, 1);
  std::uint64_t count = 0;
  for (const LbaRange& range : ranges) {
    if (range.blocks == 0) continue;
    const UnitRange units = units_of(range.lba, range.blocks);
    order.enter(self.ticket, units.first, units.last, true);
    count += units.last - units.first + 1;
  }
  co_await dispatch(self, Stage::translate,
                    static_cast<std::uint32_t>(std::min<std::uint64_t>(count, 0xFFFFFFFFU)));

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
    if (accepted) clear(range);
  }
  order.leave(self.ticket);
  flusher.pump_if_due();
  if (!accepted) command.status = HostStatus::write_protected;
  co_await RunStage(hw, Stage::complete, &command.ledger);
  end(self);
}

bool Commands::holds_data(Lpn unit) {
  return core.lookup(unit) != k_nowhere || flusher.buffer().find(unit) != WriteBuffer::k_none ||
         (front != nullptr && front->holds(unit));
}

void Commands::clear(LbaRange range) {
  const std::uint32_t sectors = core.layout.sectors;
  const std::uint64_t end_lba = range.lba + range.blocks;
  const UnitRange units = units_of(range.lba, range.blocks);
  // The last unit of the drive is whole when the range reaches the drive's end.
  const bool head = range.lba % sectors != 0;
  const bool tail = end_lba % sectors != 0 && end_lba != shape.logical_blocks;
  std::uint64_t whole_first = units.first;
  std::uint64_t whole_end = units.last + 1;
  if (head || (tail && units.first == units.last)) {
    ++whole_first;
    deallocate_part(units.first, range);
  }
  if (tail && units.last > units.first) {
    --whole_end;
    deallocate_part(units.last, range);
  }
  if (whole_first < whole_end) deallocate(whole_first, whole_end);
}

// Nothing is written for a part: of what lies in DRAM or SCM it is dropped, of what lies in flash
// it is remembered. With the last part the unit goes.
void Commands::deallocate_part(std::uint64_t at, LbaRange range) {
  const auto unit = static_cast<Lpn>(at);
  if (!holds_data(unit)) return;
  ++core.stats.partial_trims;
  const std::uint64_t all = core.layout.all_sectors();
  const std::uint64_t end_lba = range.lba + range.blocks;
  std::uint64_t sectors = core.layout.sectors_of(at, range.lba, end_lba);
  // What of the last unit lies beyond the drive's end goes with the last block of the drive.
  if (end_lba == shape.logical_blocks) sectors |= all & ~core.layout.sectors_of(at, 0, end_lba);
  const bool none_left = core.partial_trims.add(unit, sectors) == all;
  if (front != nullptr) front->trim(unit, sectors);
  flusher.trim(unit, sectors);
  const Ppn where = core.lookup(unit);
  if (none_left && where != k_nowhere) {
    core.deallocate(unit, where);
    if (!core.poisoned.empty()) core.poisoned.erase(unit);
  }
  core.post_map_update(unit, 1);
  if (!holds_data(unit)) {
    core.partial_trims.forget(at, at + 1);
    ++core.stats.units_trimmed;
    ++core.stats.units_emptied_in_parts;
  }
  if (front != nullptr) front->pump();
}

void Commands::deallocate(std::uint64_t first_unit, std::uint64_t end_unit) {
  if (front != nullptr) core.stats.units_trimmed += front->discard(first_unit, end_unit);
  core.stats.units_trimmed += flusher.discard(first_unit, end_unit);
  if (front != nullptr) front->pump();
  core.partial_trims.forget(first_unit, end_unit);
  if (core.layout.map_units > 0) core.map->deallocation(first_unit, end_unit);
  for (std::uint64_t u = core.next_touched(first_unit, end_unit); u < end_unit;
       u = core.next_touched(u + 1, end_unit)) {
    const auto unit = static_cast<Lpn>(u);
    const Ppn where = core.lookup(unit);
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

}  // namespace tlmssd::firmware
