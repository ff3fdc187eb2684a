// What a die refuses: the rules of silicon (die_state.h), and the text that says which was broken.
#include <string>

#include "models/nand/die_state.h"

namespace tlmssd {

void DieState::check_address(const FlashOp& op) const {
  if (op.die != die_) refuse(op, op.page, "operation sent to die " + std::to_string(index(die_)));
  if (op.planes == 0 || std::uint64_t{index(op.plane)} + op.planes > geometry_.planes ||
      index(op.block) >= geometry_.blocks || op.pages == 0 ||
      std::uint64_t{index(op.page)} + op.pages > pages_in(op.mode)) {
    refuse(
        op, op.page,
        op.mode == BlockMode::slc && slc_pages_ == 0 ? "this part has no SLC mode" : "address out of range");
  }
  if (op.planes > 1 && !part_.multi_plane)
    refuse(op, op.page, "multi-plane operation on a part that has none");
  if (op.pages != 1 && (op.command == FlashCommand::read || op.command == FlashCommand::erase))
    refuse(op, op.page, "more than one page in an operation");
  if (op.next_plane != nullptr && op.command != FlashCommand::read)
    refuse(op, op.page, "pages of different blocks in an operation that is not a read");
}

/// What a part may sense with one command in several planes (ONFI 4.2, multi-plane read): pages of
/// the same number, each in a plane of its own, read in the same way; blocks of the same number
/// where the part wants that.
void DieState::check_planes(const FlashOp& first) const {
  if (!part_.multi_plane) refuse(first, first.page, "multi-plane operation on a part that has none");
  std::uint64_t planes = 0;
  for (const FlashOp* op = &first; op != nullptr; op = op->next_plane) {
    check_address(*op);
    const std::uint64_t its = (~std::uint64_t{0} >> (64U - op->planes)) << index(op->plane);
    if ((planes & its) != 0) refuse(*op, op->page, "multi-plane read of two pages of one plane");
    planes |= its;
    if (op->page != first.page) refuse(*op, op->page, "multi-plane read of pages of different numbers");
    if (op->block != first.block && part_.reads_same_blocks())
      refuse(*op, op->page, "multi-plane read of blocks of different numbers, which this part cannot");
    if (op->command != first.command || op->mode != first.mode || op->code != first.code ||
        op->retry_level != first.retry_level || op->pass_voltage != first.pass_voltage) {
      refuse(*op, op->page, "multi-plane read of pages that are to be read in different ways");
    }
  }
}

void DieState::refuse_mode(const FlashOp& op, BlockMode mode, std::uint32_t plane, BlockId block) const {
  refuse(op, op.page,
         std::string(name_of(mode)) + " asked of block " + std::to_string(index(block)) + " of plane " +
             std::to_string(plane) + ", which is in " +
             std::string(name_of(blocks_[at(plane, index(block))].mode())));
}

void DieState::check_program(const FlashOp& op) const {
  const std::uint32_t unit = program_pages_in(op.mode);
  if (op.pages != unit || (unit > 1 && index(op.page) % unit != 0)) {
    refuse(op, op.page,
           "program of " + std::to_string(op.pages) + " pages; this part programs " + std::to_string(unit) +
               " at a time, aligned" + (op.mode == BlockMode::slc ? ", in SLC mode" : ""));
  }
  if (op.slots != op.planes * op.pages * units_per_page_ || op.first_slot != 0) {
    refuse(op, op.page, "program that does not fill its pages");
  }
  const std::uint32_t next = blocks_[at(index(op.plane), index(op.block))].next_page;
  for (std::uint32_t p = 0; p < op.planes; ++p) {
    const Block& block = blocks_[at(index(op.plane) + p, index(op.block))];
    if (block.failed != 0) refuse(op, op.page, "program of a block whose erase has failed");
    check_mode(op, op.mode, index(op.plane) + p, op.block);
    if (block.next_page >= index(op.page) + op.pages)
      refuse(op, op.page, "program of a page that is not erased");
    if (block.next_page < index(op.page) || block.next_page != next) {
      refuse(op, op.page,
             "program out of order: page " + std::to_string(block.next_page) + " of plane " +
                 std::to_string(index(op.plane) + p) + " is next");
    }
  }
}

/// What copyback `op` copies must be there, in every plane, down to its last page.
void DieState::check_source(const FlashOp& op) const {
  if (index(op.source_block) >= geometry_.blocks ||
      index(op.source_page) + op.pages > pages_in(op.source_mode)) {
    refuse(op, op.page, "source out of range");
  }
  for (std::uint32_t plane = index(op.plane); plane < index(op.plane) + op.planes; ++plane) {
    check_mode(op, op.source_mode, plane, op.source_block);
    if (index(op.source_page) + op.pages > blocks_[at(plane, index(op.source_block))].next_page) {
      refuse(op, op.page, "copy of a page that is not programmed, in plane " + std::to_string(plane));
    }
  }
}

void DieState::remember(FlashCommand command, const FlashOp& op, BlockMode mode, BlockId block, PageId page,
                        std::uint32_t pages, Picoseconds now) {
  history_[events_++ % k_history] = {static_cast<std::uint8_t>(command),
                                     static_cast<std::uint8_t>(mode),
                                     op.planes,
                                     static_cast<std::uint16_t>(pages),
                                     static_cast<std::uint16_t>(index(op.plane)),
                                     index(block),
                                     index(page),
                                     now};
}

void DieState::refuse(const FlashOp& op, PageId page, const std::string& what) const {
  const auto number = [](const char* name, std::uint64_t value) {
    return std::string(name) + std::to_string(value);
  };
  std::string text = number("die ", index(op.die)) + number(" plane ", index(op.plane)) +
                     (op.planes > 1 ? number(" to ", index(op.plane) + op.planes - 1) : std::string()) +
                     number(" block ", index(op.block)) + number(" page ", index(page)) +
                     (op.command == FlashCommand::copyback ? number(" from block ", index(op.source_block)) +
                                                                 number(" page ", index(op.source_page))
                                                           : std::string()) +
                     ": " + std::string(name_of(op.command)) + " for " + std::string(name_of(op.purpose)) +
                     " refused: " + what;
  const std::size_t at_plane = index(op.plane);
  if (at_plane < geometry_.planes && index(op.block) < geometry_.blocks) {
    const Block& block = blocks_[at(index(op.plane), index(op.block))];
    text +=
        number("; the block has been erased ", block.erases) + number(" times, next page ", block.next_page);
    if (block.slc != 0) text += ", in SLC mode";
  }
  text += "; latest operations of the die:";
  if (events_ == 0) text += " none";
  const std::uint64_t first = events_ > k_history ? events_ - k_history : 0;
  for (std::uint64_t i = first; i < events_; ++i) {
    const Event& e = history_[i % k_history];
    text += (i == first ? " " : ", ") +
            std::string(static_cast<BlockMode>(e.mode) == BlockMode::slc ? "SLC " : "") +
            std::string(name_of(static_cast<FlashCommand>(e.command))) + number(" plane ", e.plane) +
            (e.planes > 1 ? number("-", e.plane + e.planes - 1) : std::string()) +
            number(" block ", e.block) + number(" page ", e.page) +
            (e.pages > 1 ? number("-", e.page + e.pages - 1) : std::string()) +
            number(" at ", static_cast<std::uint64_t>(e.instant)) + " ps";
  }
  throw NandViolation(text);
}

}  // namespace tlmssd
