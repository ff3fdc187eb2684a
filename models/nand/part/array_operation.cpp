#include "models/nand/part/array_operation.h"

#include <array>
#include <fmt/format.h>

#include "models/base/mixing.h"
#include "models/base/normal.h"
#include "models/base/random.h"

namespace tlmssd {

PageShape::PageShape(const NandPart& part)
    : bits_(part.bits()), layers_(part.layers), word_lines_(part.word_lines()) {}

std::string to_text(const ArrayOperation& op) {
  static constexpr std::array<const char*, 3> k_names = {"sense", "program", "erase"};
  std::string text = fmt::format(
      "{}{} of die {} plane {} block {} page {} (type {}, word line {}, layer {}), {} cycles, {} reads, data "
      "{} days "
      "old at {} C, retry level {}",
      op.slc() ? "SLC " : "", k_names[static_cast<std::size_t>(op.command)], index(op.die), index(op.plane),
      index(op.block), index(op.page), op.type, op.word_line, op.layer, op.cycles, op.reads, op.age_days,
      op.temperature, op.retry_level);
  if (op.pass_voltage != 1) text += fmt::format(", pass voltage {}", op.pass_voltage);
  if (op.planes != 1) text += fmt::format(", {} planes", op.planes);
  if (op.resumed) text += ", resumed";
  return text;
}

ArrayOperation sense_operation(const NandPart& part, PageId page, double cycles) {
  ArrayOperation op;
  op.cycles = cycles;
  PageShape(part).place(op, page);
  return op;
}

ArrayOperation program_operation(const NandPart& part, PageId first, std::uint32_t pages, double cycles) {
  ArrayOperation op = sense_operation(part, first, cycles);
  op.command = ArrayCommand::program;
  op.pages = pages;
  return op;
}

ArrayOperation erase_operation(double cycles) {
  ArrayOperation op;
  op.command = ArrayCommand::erase;
  op.cycles = cycles;
  return op;
}

Picoseconds data_sheet_latency(const NandPart& part, const ArrayOperation& op) {
  switch (op.command) {
    case ArrayCommand::sense:
      return op.slc() ? part.slc_read_latency : part.read_time(op.page);
    case ArrayCommand::erase:
      return op.slc() ? part.slc_erase_latency : part.erase_latency;
    case ArrayCommand::program:
      break;
  }
  if (op.slc()) return part.slc_program_latency;
  Picoseconds total = 0;
  for (std::uint32_t i = 0; i < op.pages; ++i) total += part.program_time(PageId{index(op.page) + i});
  return total;
}

// ------------------------------------------------------------------------------------------------------------ variation

NandVariation::NandVariation(std::uint64_t seed) : seed_(RandomStream(seed, "nand variation")()) {}

double NandVariation::deviate(std::uint64_t kind, std::uint64_t number) const {
  return normal_deviate(mixed(seed_ + kind + (number + 1) * k_golden));
}

double NandVariation::die(DieId die) const {
  return deviate(0x100, index(die));
}

double NandVariation::block(DieId die, PlaneId plane, BlockId block) const {
  const std::uint64_t in_die = (std::uint64_t{index(plane)} << 24U) ^ index(block);
  return deviate(0x200, (std::uint64_t{index(die)} << 32U) ^ in_die);
}

double NandVariation::layer(std::uint32_t layer) const {
  return deviate(0x300, layer);
}

}  // namespace tlmssd
