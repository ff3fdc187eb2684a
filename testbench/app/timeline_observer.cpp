#include "testbench/app/timeline_observer.h"

#include <algorithm>
#include <fmt/format.h>

#include "firmware/blocks/block_pool.h"
#include "testbench/app/drive_view.h"

namespace tlmssd {

namespace {

std::string_view suffix(BlockMode mode) {
  return mode == BlockMode::slc ? " in SLC mode" : "";
}

bool moves_data(Purpose purpose) {
  return purpose != Purpose::host && purpose != Purpose::map;
}

}  // namespace

TimelineObserver::TimelineObserver(const std::string& path, const TimelineWindow& window, const Ssd& ssd,
                                   std::function<std::uint64_t()> outstanding)
    : timeline_(path, window), ssd_(ssd), layout_(layout_of(ssd)), outstanding_(std::move(outstanding)) {}

// ---- what an operation is about

std::uint32_t TimelineObserver::pu_of(const FlashOp& op) const {
  const firmware::Layout& layout = layout_;
  return layout.pu_at(op.die, layout.pus_per_die == 1 ? 0 : index(op.plane));
}

/// Of the operation's first unit.
std::uint64_t TimelineObserver::ppn_of(const FlashOp& op) const {
  const firmware::Layout& layout = layout_;
  const std::uint32_t pu = pu_of(op);
  std::uint32_t stripe_die = 0;
  while (stripe_die + 1 < layout.stripe_dies && layout.die_of(pu, stripe_die) != op.die) ++stripe_die;
  const std::uint32_t run = index(op.page) / layout.program_pages;
  const std::uint32_t mp_page =
      (run * layout.stripe_dies + stripe_die) * layout.program_pages + index(op.page) % layout.program_pages;
  const std::uint64_t block = std::uint64_t{pu} * layout.blocks + index(op.block);
  const std::uint32_t plane = index(op.plane) - index(layout.plane_of(pu));
  return block * layout.block_units + std::uint64_t{mp_page} * layout.mp_page_units +
         plane * layout.units_per_page + (op.command == FlashCommand::read ? op.first_slot : 0);
}

/// The first logical unit that the operation programs or reads; k_no_unit: none. What it reads is
/// looked up in the die: `spare` is filled in by the last sense.
Lpn TimelineObserver::first_unit(const FlashOp& op) const {
  const DieState& die = ssd_.flash().die(op.die).state();
  for (std::uint32_t i = 0; op.spare != nullptr && i < op.slots; ++i) {
    const Lpn unit = op.command == FlashCommand::program ? op.spare[i] : die.spare(op, i);
    if (unit != k_no_unit) return unit;
  }
  return k_no_unit;
}

void TimelineObserver::add_place(const FlashOp& op, TraceSlice& slice) const {
  slice.arguments.push_back({"cause", std::string(tlmssd::name_of(op.purpose))});
  if (op.command != FlashCommand::erase) {
    if (ssd_.own_ftl() != nullptr) slice.arguments.push_back({"PPN", ppn_of(op)});
    slice.arguments.push_back({"units", std::uint64_t{op.all_slots()}});
    if (const Lpn unit = first_unit(op); unit != k_no_unit)
      slice.arguments.push_back({"LPN", std::uint64_t{unit}});
  }
  slice.arguments.push_back({"planes", std::uint64_t{op.all_planes()}});
}

/// What tells apart the operations that an object carries out one after another for a command.
std::uint64_t TimelineObserver::place_of(const FlashOp& op) {
  return std::uint64_t{index(op.die)} << 48U | std::uint64_t{index(op.plane)} << 40U |
         std::uint64_t{index(op.block)} << 16U | index(op.page);
}

/// Of the arrow from the command whose ledger the operation is charged to, and back; null: there is
/// none. A read that is done again after a decoding failure is charged to no ledger.
const TimelineObserver::Way* TimelineObserver::way_of(const FlashOp& op) {
  const auto known = ways_.find(&op);
  const bool same = known != ways_.end() && known->second.place == place_of(op);
  if (op.ledger == nullptr) {
    const bool again = same && op.command == FlashCommand::read && op.on_done_self != &op;
    return again && flows_of_.count(known->second.command) != 0 ? &known->second : nullptr;
  }
  const std::uint32_t command = op.ledger->command();
  if (command == 0) return nullptr;
  if (same && known->second.command == command) return &known->second;
  flows_of_[command].push_back(++last_flow_);
  return &(ways_[&op] = {command, place_of(op), last_flow_});
}

void TimelineObserver::add_command(const FlashOp& op, TraceSlice& slice) {
  const Way* const way = way_of(op);
  if (way == nullptr) return;
  slice.arguments.push_back({"command", std::uint64_t{way->command}});
  slice.flows.push_back(way->flow);
}

/// Of arrows from those whose data the operation programs: one that has completed knows of an arrow
/// for each unit, of which the operation takes the first, and one that will complete later finds
/// the operation's.
std::vector<std::uint64_t> TimelineObserver::writers_of(const FlashOp& op, Picoseconds start) {
  std::vector<std::uint64_t> flows;
  std::vector<std::uint32_t> writers;
  std::uint64_t own = 0;
  for (std::uint32_t i = 0; i < op.slots; ++i) {
    if (op.spare[i] == k_no_unit) continue;
    const auto written = written_by_.find(std::uint64_t{op.spare[i]});
    if (written == written_by_.end()) {
      if (own == 0) flows.push_back(own = ++last_flow_);
      programmed_[std::uint64_t{op.spare[i]}] = {own, start};
      continue;
    }
    const Written by = written->second;
    written_by_.erase(written);
    if (std::find(writers.begin(), writers.end(), by.command) != writers.end()) continue;
    writers.push_back(by.command);
    flows.push_back(by.flow);
  }
  return flows;
}

/// From the command that waits for the operation, and from those whose data it programs, however
/// many steps that takes.
void TimelineObserver::add_flows(const FlashOp& op, TraceSlice& slice) {
  add_command(op, slice);
  if (op.command != FlashCommand::program || op.purpose != Purpose::host || op.spare == nullptr) return;
  Program& program = programs_[&op];
  if (std::exchange(program.place, place_of(op)) != place_of(op)) program.flows = writers_of(op, slice.start);
  slice.flows.insert(slice.flows.end(), program.flows.begin(), program.flows.end());
}

/// The write's data are on their way to flash, or there already.
void TimelineObserver::add_programs(const Completed& command, TraceSlice& slice) {
  const Bytes unit = ssd_.shape().mapping_page_bytes;
  const Bytes first = command.lba * ssd_.shape().lba_bytes;
  for (Bytes lpn = first / unit; lpn * unit < first + command.bytes; ++lpn) {
    const auto found = programmed_.find(lpn);
    const Programmed there = found != programmed_.end() ? found->second : Programmed{};
    if (found != programmed_.end()) programmed_.erase(found);
    if (there.flow == 0 || there.start < command.submitted) {
      written_by_[lpn] = {command.ledger->command(), ++last_flow_};
      slice.flows_on.push_back(last_flow_);
    } else if (std::find(slice.flows.begin(), slice.flows.end(), there.flow) == slice.flows.end()) {
      slice.flows.push_back(there.flow);
      slice.flows_back.push_back(there.flow);
    }
  }
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

void TimelineObserver::command(const Completed& command, const std::string& load, bool measured) {
  const std::uint32_t number = command.ledger->command();
  const auto flows = flows_of_.extract(number);
  if (outside(command.submitted, command.completed)) return;
  count(command.completed);
  outstanding_changed(command.completed);
  TraceSlice slice{
      .track = {TrackKind::queue, command.queue, 0},
      .name = fmt::format("{} LBA {}", tlmssd::name_of(command.opcode), command.lba),
      .start = command.submitted,
      .end = command.completed,
      .arguments = {{"load", load},
                    {"command", std::uint64_t{number}},
                    {"LBA", command.lba},
                    {"bytes", command.bytes},
                    {"latency (ps)", static_cast<std::uint64_t>(command.completed - command.submitted)}}};
  for (std::size_t i = 0; i < k_causes; ++i) {
    const auto cause = static_cast<Cause>(i);
    if (const Picoseconds part = command.ledger->spent(cause); part > 0)
      slice.arguments.push_back({tlmssd::name_of(cause).data(), static_cast<std::uint64_t>(part)});
  }
  if (!flows.empty()) slice.flows = slice.flows_back = flows.mapped();
  if (command.opcode == HostOpcode::write) add_programs(command, slice);
  timeline_.add(std::move(slice));
  if (measured) timeline_.completed(command.submitted, command.completed);
}

// ---- counts

void TimelineObserver::count(const char* name, Picoseconds now, std::int64_t value) {
  const auto [last, fresh] = counted_.try_emplace(name, value);
  if (!fresh && std::exchange(last->second, value) == value) return;
  timeline_.add({.name = name, .when = now, .value = value});
}

void TimelineObserver::count(Picoseconds now) {
  const DriveSample state = sample(ssd_, now);
  if (state.inside_known) {
    count("free blocks", now, static_cast<std::int64_t>(state.free_blocks));
    count("units in the write buffer", now, static_cast<std::int64_t>(state.buffered));
  }
}

void TimelineObserver::outstanding_changed(Picoseconds now) {
  if (!outside(now, now)) count("commands outstanding", now, static_cast<std::int64_t>(outstanding_()));
}

}  // namespace tlmssd
