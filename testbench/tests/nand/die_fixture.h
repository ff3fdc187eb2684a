// A die without a kernel, with buffers for its operations.
#pragma once

#include <catch2/catch.hpp>
#include <vector>

#include "models/nand/die_state.h"

namespace tlmssd::test {

inline NandPart small_part() {
  NandPart part;
  part.cell = "tlc";
  part.planes = 2;
  part.blocks_per_plane = 5;
  part.pages_per_block = 9;
  part.page_size = 16384;
  return part;
}

/// The same, with an SLC mode.
inline NandPart part_with_slc() {
  NandPart part = small_part();
  part.slc_read_latency = 20'000'000;
  part.slc_program_latency = 100'000'000;
  part.slc_erase_latency = 1'000'000'000;
  return part;
}

/// A die with buffers for its operations.
struct Die {
  explicit Die(const NandPart& p, Bytes unit = 4096, std::uint32_t stamps = 8, std::uint64_t seed = 1)
      : part(p), state(part, part.geometry(1, 1, 1), DieId{0}, unit, stamps, seed), stamps_per_unit(stamps) {}
  FlashOp op(FlashCommand command, std::uint32_t plane, std::uint32_t block, std::uint32_t page,
             std::uint32_t planes = 1, std::uint32_t pages = 1) {
    FlashOp o;
    o.command = command;
    o.plane = PlaneId{plane};
    o.block = BlockId{block};
    o.page = PageId{page};
    o.planes = static_cast<std::uint16_t>(planes);
    o.pages = static_cast<std::uint16_t>(pages);
    if (command != FlashCommand::erase) o.slots = planes * pages * state.units_per_page();
    spare.assign(o.slots, k_no_unit);
    content.assign(std::size_t{o.slots} * stamps_per_unit, k_zeros);
    o.spare = spare.data();
    o.stamps = content.data();
    return o;
  }
  void program(std::uint32_t plane, std::uint32_t block, std::uint32_t page, std::uint32_t planes = 1,
               std::uint32_t pages = 1) {
    FlashOp o = op(FlashCommand::program, plane, block, page, planes, pages);
    state.execute(o, 0);
  }
  FlashStatus erase(std::uint32_t plane, std::uint32_t block, std::uint32_t planes = 1) {
    FlashOp o = op(FlashCommand::erase, plane, block, 0, planes);
    state.execute(o, 0);
    return o.status;
  }
  FlashOp copy_op(std::uint32_t plane, std::uint32_t source_block, std::uint32_t source_page,
                  std::uint32_t block, std::uint32_t page, std::uint32_t planes = 1,
                  std::uint32_t pages = 1) {
    FlashOp o = op(FlashCommand::copyback, plane, block, page, planes, pages);
    o.source_block = BlockId{source_block};
    o.source_page = PageId{source_page};
    return o;
  }
  void copy(std::uint32_t plane, std::uint32_t source_block, std::uint32_t source_page, std::uint32_t block,
            std::uint32_t page, std::uint32_t planes = 1, std::uint32_t pages = 1) {
    FlashOp o = copy_op(plane, source_block, source_page, block, page, planes, pages);
    state.execute(o, 0);
  }
  void read(std::uint32_t plane, std::uint32_t block, std::uint32_t page, std::uint32_t planes = 1) {
    FlashOp o = op(FlashCommand::read, plane, block, page, planes);
    state.execute(o, 0);
  }
  NandPart part;
  DieState state;
  std::uint32_t stamps_per_unit;
  std::vector<Lpn> spare;
  std::vector<Stamp> content;
};

}  // namespace tlmssd::test
