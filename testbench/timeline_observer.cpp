#include "testbench/timeline_observer.h"

#include <fmt/format.h>

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

}  // namespace

void TimelineObserver::bus(ChannelId channel, DieId die, const FlashOp& op, Picoseconds start,
                           Picoseconds end, BusUse use) {
  if (outside(start, end)) return;
  writer_.span(Track::channel, index(channel),
               fmt::format("{} ({}, die {})", tlmssd::name_of(use), tlmssd::name_of(op.purpose), index(die)),
               start, end);
}

void TimelineObserver::array(DieId die, const FlashOp& op, Picoseconds start, Picoseconds end) {
  if (outside(start, end)) return;
  if (op.copying()) {
    writer_.span(Track::die, index(die),
                 fmt::format("{} copyback senses block {} page {}{}", tlmssd::name_of(op.purpose),
                             index(op.source_block), index(op.source_page), suffix(op.source_mode)),
                 start, end);
    return;
  }
  writer_.span(Track::die, index(die),
               fmt::format("{} {} block {} page {}{}", tlmssd::name_of(op.purpose), name_of(op.command),
                           index(op.block), index(op.page), suffix(op.mode)),
               start, end);
}

void TimelineObserver::ran(std::uint32_t core, Stage stage, Picoseconds start, Picoseconds end) {
  if (outside(start, end)) return;
  writer_.span(Track::core, core, tlmssd::name_of(stage), start, end);
}

void TimelineObserver::transferred(LinkDirection direction, Picoseconds start, Picoseconds end,
                                   Bytes payload) {
  if (outside(start, end)) return;
  const bool in = direction == LinkDirection::to_device;
  writer_.span(Track::link, in ? 0 : 1, fmt::format("{} {} B", in ? "in" : "out", payload), start, end);
}

void TimelineObserver::command(const Completed& command) {
  if (outside(command.submitted, command.completed)) return;
  writer_.span(Track::queue, command.queue,
               fmt::format("{} LBA {}", tlmssd::name_of(command.opcode), command.lba), command.submitted,
               command.completed);
}

}  // namespace tlmssd
