#include "testbench/app/timeline_observer.h"

#include <algorithm>
#include <fmt/format.h>

#include "firmware/base/flash_io.h"
#include "firmware/blocks/block_pool.h"
#include "testbench/app/drive_view.h"

namespace tlmssd {

namespace {

std::string_view name_of(FlashCommand command) {
  switch (command) {
    case FlashCommand::read:
      return "read";
    case FlashCommand::program:
      return "program";
    case FlashCommand::erase:
      return "erase";
    case FlashCommand::copyback:
      return "copyback";
  }
  return "?";
}

std::string_view suffix(BlockMode mode) {
  return mode == BlockMode::slc ? " in SLC mode" : "";
}

// Two arrows may begin at a command: through the drive and back, and on from its end.
std::uint64_t flow_of(std::uint64_t command) {
  return command * 2;
}
std::uint64_t flow_on_from(std::uint64_t command) {
  return command * 2 + 1;
}

bool moves_data(Purpose purpose) {
  return purpose != Purpose::host && purpose != Purpose::map;
}

}  // namespace

TimelineObserver::TimelineObserver(const std::string& path, const TimelineWindow& window, const Ssd& ssd,
                                   std::function<std::uint64_t()> outstanding)
    : timeline_(path, window), ssd_(ssd), outstanding_(std::move(outstanding)) {}

// ---- what an operation is about

std::uint32_t TimelineObserver::pu_of(const FlashOp& op) const {
  const firmware::Layout& layout = ssd_.ftl().blocks().layout();
  return layout.pu_at(op.die, layout.pus_per_die == 1 ? 0 : index(op.plane));
}

/// Of the operation's first unit.
std::uint64_t TimelineObserver::ppn_of(const FlashOp& op) const {
  const firmware::Layout& layout = ssd_.ftl().blocks().layout();
  const std::uint32_t pu = pu_of(op);
  std::uint32_t lane = 0;
  while (lane + 1 < layout.lanes && layout.die_of(pu, lane) != op.die) ++lane;
  const std::uint32_t run = index(op.page) / layout.program_pages;
  const std::uint32_t mp_page =
      (run * layout.lanes + lane) * layout.program_pages + index(op.page) % layout.program_pages;
  const std::uint64_t block = std::uint64_t{pu} * layout.blocks + index(op.block);
  const std::uint32_t plane = index(op.plane) - index(layout.plane_of(pu));
  return block * layout.block_units + std::uint64_t{mp_page} * layout.mp_page_units +
         plane * layout.units_per_page + (op.command == FlashCommand::read ? op.first_slot : 0);
}

void TimelineObserver::add_place(const FlashOp& op, TraceSlice& slice) const {
  slice.arguments.push_back({"cause", std::string(tlmssd::name_of(op.purpose))});
  if (op.command != FlashCommand::erase) {
    slice.arguments.push_back({"PPN", ppn_of(op)});
    slice.arguments.push_back({"units", std::uint64_t{op.all_slots()}});
    for (std::uint32_t i = 0; op.spare != nullptr && i < op.slots; ++i) {
      if (op.spare[i] == k_no_unit) continue;
      slice.arguments.push_back({"LPN", std::uint64_t{op.spare[i]}});
      break;
    }
  }
  slice.arguments.push_back({"planes", std::uint64_t{op.all_planes()}});
}

/// The command that waits for the operation, if it is charged to the command's own ledger.
void TimelineObserver::add_command(const FlashOp& op, TraceSlice& slice) {
  if (op.command != FlashCommand::read || op.purpose != Purpose::host || op.ledger == nullptr) return;
  if (op.on_done_self == &op && op.ledger == &static_cast<const firmware::ReadOp*>(op.on_done_self)->ledger)
    return;  // one of several, with a ledger of its own
  const std::uint64_t number = number_of(*op.ledger);
  slice.arguments.push_back({"command", number});
  slice.flows.push_back(flow_of(number));
}

std::uint64_t TimelineObserver::number_of(const Ledger& ledger) {
  const auto [at, fresh] = numbers_.try_emplace(&ledger, last_number_ + 1);
  if (fresh) ++last_number_;
  return at->second;
}

/// From the command that waits for the operation, and from those whose data it programs.
void TimelineObserver::add_flows(const FlashOp& op, TraceSlice& slice) {
  add_command(op, slice);
  if (op.command != FlashCommand::program || op.purpose != Purpose::host || op.spare == nullptr) return;
  for (std::uint32_t i = 0; i < op.slots; ++i) {
    const auto writer = written_by_.find(std::uint64_t{op.spare[i]});
    if (writer == written_by_.end()) continue;
    slice.flows.push_back(writer->second);
    written_by_.erase(writer);
  }
  std::sort(slice.flows.begin(), slice.flows.end());
  slice.flows.erase(std::unique(slice.flows.begin(), slice.flows.end()), slice.flows.end());
}

// ---- flash

void TimelineObserver::bus(ChannelId channel, DieId die, const FlashOp& op, Picoseconds start,
                           Picoseconds end, BusUse use) {
  if (outside(start, end)) return;
  TraceSlice slice{.track = {TrackKind::channel, index(channel), 0},
                   .name = fmt::format("{} (die {})", tlmssd::name_of(use), index(die)),
                   .start = start,
                   .end = end};
  slice.arguments.push_back({"cause", std::string(tlmssd::name_of(op.purpose))});
  slice.arguments.push_back({"operation", std::string(name_of(op.command))});
  add_command(op, slice);
  timeline_.add(std::move(slice));
}

void TimelineObserver::array(DieId die, const FlashOp& op, Picoseconds start, Picoseconds end) {
  if (moves_data(op.purpose)) {
    for (const FlashOp* one = &op; one != nullptr; one = one->next_plane) collect(*one, start, end);
  }
  if (outside(start, end)) return;
  count(end);
  TraceSlice slice{.track = {TrackKind::die, index(die), 0}, .start = start, .end = end};
  slice.name = op.copying()
                   ? fmt::format("{} copyback senses block {} page {}{}", tlmssd::name_of(op.purpose),
                                 index(op.source_block), index(op.source_page), suffix(op.source_mode))
                   : fmt::format("{} {} block {} page {}{}", tlmssd::name_of(op.purpose), name_of(op.command),
                                 index(op.block), index(op.page), suffix(op.mode));
  for (const FlashOp* one = &op; one != nullptr; one = one->next_plane) {
    for (std::uint32_t plane = 0; plane < one->planes; ++plane) {
      timeline_.add({.track = {TrackKind::plane, index(die), index(one->plane) + plane},
                     .name = fmt::format("{} {}", tlmssd::name_of(op.purpose), name_of(op.command)),
                     .start = start,
                     .end = end});
    }
  }
  add_place(op, slice);
  add_flows(op, slice);
  timeline_.add(std::move(slice));
}

/// Collection, and what else moves data: from the first read of a block to its erase.
void TimelineObserver::collect(const FlashOp& op, Picoseconds start, Picoseconds end) {
  const std::pair key{pu_of(op), index(op.block)};
  if (op.command == FlashCommand::read) {
    Victim& victim = victims_.try_emplace(key, Victim{start, 0, 0}).first->second;
    ++victim.reads;
    victim.units += op.slots;
    return;
  }
  if (op.command != FlashCommand::erase) return;
  const auto found = victims_.find(key);
  const Victim victim = found != victims_.end() ? found->second : Victim{start, 0, 0};
  if (found != victims_.end()) victims_.erase(found);
  if (outside(victim.since, end)) return;
  timeline_.add({.track = {TrackKind::worker, key.first, 0},
                 .name = fmt::format("{} empties block {}", tlmssd::name_of(op.purpose), key.second),
                 .start = victim.since,
                 .end = end,
                 .arguments = {{"cause", std::string(tlmssd::name_of(op.purpose))},
                               {"reads", victim.reads},
                               {"units moved", victim.units},
                               {"erase (ps)", static_cast<std::uint64_t>(end - start)}}});
}

// ---- the rest of the drive

void TimelineObserver::ran(std::uint32_t core, Stage stage, Picoseconds start, Picoseconds end) {
  if (outside(start, end)) return;
  timeline_.add({.track = {TrackKind::core, core, 0},
                 .name = std::string(tlmssd::name_of(stage)),
                 .start = start,
                 .end = end});
}

void TimelineObserver::transferred(LinkDirection direction, Picoseconds start, Picoseconds end,
                                   Bytes payload) {
  if (outside(start, end)) return;
  const bool in = direction == LinkDirection::to_device;
  timeline_.add({.track = {TrackKind::link, in ? 0U : 1U, 0},
                 .name = fmt::format("{} {} B", in ? "in" : "out", payload),
                 .start = start,
                 .end = end});
}

void TimelineObserver::command(const Completed& command, const std::string& load) {
  const std::uint64_t number = number_of(*command.ledger);
  numbers_.erase(command.ledger);
  if (outside(command.submitted, command.completed)) return;
  count(command.completed);
  TraceSlice slice{
      .track = {TrackKind::queue, command.queue, 0},
      .name = fmt::format("{} LBA {}", tlmssd::name_of(command.opcode), command.lba),
      .start = command.submitted,
      .end = command.completed,
      .arguments = {{"load", load},
                    {"command", number},
                    {"LBA", command.lba},
                    {"bytes", command.bytes},
                    {"latency (ps)", static_cast<std::uint64_t>(command.completed - command.submitted)}}};
  for (std::size_t i = 0; i < k_causes; ++i) {
    const auto cause = static_cast<Cause>(i);
    if (const Picoseconds part = command.ledger->spent(cause); part > 0)
      slice.arguments.push_back({tlmssd::name_of(cause).data(), static_cast<std::uint64_t>(part)});
  }
  slice.flows.push_back(flow_of(number));
  slice.flow_back = flow_of(number);
  if (command.opcode == HostOpcode::write) {
    slice.flow_on = flow_on_from(number);
    const Bytes unit = ssd_.shape().mapping_unit_bytes;
    const Bytes first = command.lba * ssd_.shape().lba_bytes;
    for (Bytes lpn = first / unit; lpn * unit < first + command.bytes; ++lpn)
      written_by_[lpn] = flow_on_from(number);
  }
  timeline_.add(std::move(slice));
  timeline_.completed(command.submitted, command.completed);
}

// ---- counts

void TimelineObserver::count(const char* name, Picoseconds now, std::int64_t value) {
  const auto [last, fresh] = counted_.try_emplace(name, value);
  if (!fresh && std::exchange(last->second, value) == value) return;
  timeline_.add({.name = name, .when = now, .value = value});
}

void TimelineObserver::count(Picoseconds now) {
  const DriveSample state = sample(ssd_, now);
  count("free blocks", now, static_cast<std::int64_t>(state.free_blocks));
  count("units in the write buffer", now, static_cast<std::int64_t>(state.buffered));
  count("commands outstanding", now, static_cast<std::int64_t>(outstanding_()));
}

}  // namespace tlmssd
