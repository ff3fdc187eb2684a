#include "models/nand/die_state.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "models/common/input_error.h"
#include "models/common/random.h"

namespace tlmssd {

namespace {

std::string_view name_of(FlashCommand command) {
  static constexpr std::array<std::string_view, 4> k_names = {"read", "program", "erase", "copyback"};
  return k_names[static_cast<std::size_t>(command)];
}

/// One write's stamps, or zeros throughout: the first stamp tells the rest.
bool written_together(const Stamp* stamps, std::uint32_t count) {
  for (std::uint32_t i = 1; i < count; ++i) {
    if (stamps[i] != following_stamp(stamps[i - 1])) return false;
  }
  return true;
}

}  // namespace

DieState::DieState(const NandPart& part, const Geometry& geometry, DieId die, Bytes unit_bytes,
                   std::uint32_t stamps_per_unit, std::uint64_t seed, std::shared_ptr<ContentStore> contents)
    : part_(part),
      geometry_(geometry),
      die_(die),
      units_per_page_(unit_bytes == 0 ? 0 : static_cast<std::uint32_t>(geometry.page_bytes / unit_bytes)),
      stamps_per_unit_(stamps_per_unit),
      program_pages_(part.program_unit == "block" ? geometry.pages : part.pages_per_program()),
      step_pages_(part.pages_per_step()),
      seed_(seed),
      blocks_(std::size_t{geometry.planes} * geometry.blocks),
      contents_(std::move(contents)) {
  if (!contents_) contents_ = std::make_shared<ContentStore>(geometry, units_per_page_, index(die), 1);
  part.check();
  if (unit_bytes == 0 || geometry.page_bytes % unit_bytes != 0) {
    throw InputError("the mapping unit of " + std::to_string(unit_bytes) +
                     " bytes does not divide the flash page of " + std::to_string(geometry.page_bytes) +
                     " bytes");
  }
  if (stamps_per_unit == 0) throw InputError("a mapping unit must hold at least one logical block");
  if (program_pages_ == 0 || geometry.pages % program_pages_ != 0) {
    throw InputError("blocks of " + std::to_string(geometry.pages) +
                     " pages are not a whole number of program units of " + std::to_string(program_pages_) +
                     " pages");
  }
}

// -------------------------------------------------------------------------------------------------------------- operations

void DieState::read(FlashOp& op, Picoseconds now) {
  check_address(op);
  const std::uint32_t first_plane = index(op.plane);
  const std::uint32_t page = index(op.page);
  for (std::uint32_t p = 0; p < op.planes; ++p) {
    Block& block = blocks_[at(first_plane + p, index(op.block))];
    if (page >= block.next_page) refuse(op, op.page, "read of a page that is not programmed");
    ++block.reads;
  }
  remember(op.command, op, op.block, sensed_page(op), 1, now);
  counts_.senses += op.planes;
  if (op.first_slot + op.slots > op.planes * units_per_page_)
    refuse(op, op.page, "read of slots beyond its pages");
  if (++op.sensed < op.senses) return;
  if (op.errors != nullptr) count_errors(op, now);
  std::uint32_t done = 0;
  std::uint32_t in_page = op.first_slot;
  for (std::uint32_t p = 0; done < op.slots; ++p, in_page -= units_per_page_) {
    if (in_page >= units_per_page_) continue;
    const Block& block = blocks_[at(first_plane + p, index(op.block))];
    const std::uint32_t units = std::min(units_per_page_ - in_page, op.slots - done);
    load_units(block, contents_->block(die_, first_plane + p, index(op.block)),
               page * units_per_page_ + in_page, units, op, done);
    done += units;
    in_page += units;
  }
}

void DieState::disturb(std::uint32_t reads) {
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    if (blocks_[i].next_page == 0) continue;
    const std::uint64_t sum = blocks_[i].reads + std::uint64_t{reads} * blocks_[i].next_page;
    blocks_[i].reads = static_cast<std::uint32_t>(std::min<std::uint64_t>(sum, 0xFFFFFFFFU));
  }
}

PageId DieState::sensed_page(const FlashOp& op) const {
  if (!op.word_line) return op.page;
  const std::uint32_t first = index(op.page) / part_.bits() * part_.bits();
  const std::uint32_t pages = std::min(part_.bits(), geometry_.pages - first);
  return PageId{first + (index(op.page) - first + op.sensed) % pages};
}

BitErrors::Place DieState::place(std::uint32_t plane, BlockId block, PageId page) const {
  return {die_, PlaneId{plane}, block, page, blocks_[at(plane, index(block))].erases};
}

double DieState::rber(PlaneId plane, BlockId number, PageId page, std::uint32_t ladder,
                      Picoseconds now) const {
  if (errors_.bits == nullptr) return 0;
  const Block& block = blocks_[at(index(plane), index(number))];
  PageStress stress;
  stress.cycles = cycles(block);
  stress.days = errors_.clock->days_since(block.programmed_at, now);
  stress.reads = static_cast<double>(block.reads) / std::max<std::uint32_t>(block.next_page, 1);
  stress.type = index(page) % part_.bits();
  return errors_.bits->rber(place(index(plane), number, page), stress, ladder);
}

/// Wrong bits of the frames of the slots, plane by plane.
void DieState::count_errors(const FlashOp& op, Picoseconds now) const {
  if (errors_.bits == nullptr) {
    std::fill_n(op.errors, op.slots * errors_.frames_per_unit, std::uint16_t{0});
    return;
  }
  std::uint32_t done = 0;
  std::uint32_t in_page = op.first_slot;
  for (std::uint32_t plane = index(op.plane); done < op.slots; ++plane, in_page -= units_per_page_) {
    if (in_page >= units_per_page_) continue;
    const std::uint32_t units = std::min(units_per_page_ - in_page, op.slots - done);
    const double rate = rber(PlaneId{plane}, op.block, op.page, op.ladder, now);
    errors_.bits->draw(place(plane, op.block, op.page), rate, in_page * errors_.frames_per_unit,
                       units * errors_.frames_per_unit, op.errors + done * errors_.frames_per_unit);
    done += units;
    in_page += units;
  }
}

std::uint32_t DieState::program(FlashOp& op, std::uint32_t limit, Picoseconds now) {
  check_address(op);
  check_program(op);
  const std::uint32_t first = blocks_[at(index(op.plane), index(op.block))].next_page;
  const std::uint32_t done = first - index(op.page);
  const std::uint32_t pages = std::min<std::uint32_t>(limit, op.pages - done);
  remember(op.command, op, op.block, PageId{first}, pages, now);
  for (std::uint32_t p = 0; p < op.planes; ++p) {
    Block& block = blocks_[at(index(op.plane) + p, index(op.block))];
    if (block.next_page == 0) block.programmed_at = clock(now);
    const std::uint32_t slot = (p * op.pages + done) * units_per_page_;
    store_pages(block, contents_->block(die_, index(op.plane) + p, index(op.block)), first * units_per_page_,
                op, slot, pages * units_per_page_);
    block.next_page = first + pages;
  }
  counts_.programs += std::uint64_t{pages} * op.planes;
  return pages;
}

std::uint32_t DieState::copyback(FlashOp& op, Picoseconds now) {
  check_address(op);
  check_program(op);
  check_source(op);
  const std::uint32_t first = blocks_[at(index(op.plane), index(op.block))].next_page;
  const std::uint32_t done = first - index(op.page);
  const std::uint32_t pages = std::min<std::uint32_t>(step_pages_, op.pages - done);
  if (op.sensed < pages) {
    sense_source(op, done + op.sensed++, now);
    return 0;
  }
  op.sensed = 0;
  remember(op.command, op, op.block, PageId{first}, pages, now);
  for (std::uint32_t plane = index(op.plane); plane < index(op.plane) + op.planes; ++plane) {
    const Block& from = blocks_[at(plane, index(op.source_block))];
    Block& block = blocks_[at(plane, index(op.block))];
    if (block.next_page == 0) block.programmed_at = clock(now);
    copy_pages(from, contents_->block(die_, plane, index(op.source_block)), block,
               contents_->block(die_, plane, index(op.block)),
               (index(op.source_page) + done) * units_per_page_, first * units_per_page_,
               pages * units_per_page_);
    block.next_page = first + pages;
  }
  counts_.programs += std::uint64_t{pages} * op.planes;
  counts_.copies += std::uint64_t{pages} * op.planes;
  return pages;
}

/// Page `number` of copyback `op`, counted from 0, comes into the page register; hands out its spare area and content.
void DieState::sense_source(FlashOp& op, std::uint32_t number, Picoseconds now) {
  const std::uint32_t page = index(op.source_page) + number;
  remember(FlashCommand::read, op, op.source_block, PageId{page}, 1, now);
  for (std::uint32_t p = 0; p < op.planes; ++p) {
    const std::uint32_t plane = index(op.plane) + p;
    Block& block = blocks_[at(plane, index(op.source_block))];
    ++block.reads;
    load_units(block, contents_->block(die_, plane, index(op.source_block)), page * units_per_page_,
               units_per_page_, op, (p * op.pages + number) * units_per_page_);
  }
  counts_.senses += op.planes;
}

PageId DieState::copied_page(const FlashOp& op) const {
  const std::uint32_t done = block(op.plane, op.block).next_page - index(op.page);
  return PageId{index(op.source_page) + done + op.sensed - 1};
}

void DieState::erase(FlashOp& op, Picoseconds now) {
  check_address(op);
  for (std::uint32_t p = 0; p < op.planes; ++p) {
    if (blocks_[at(index(op.plane) + p, index(op.block))].failed != 0) {
      refuse(op, op.page, "erase of a block whose erase has failed");
    }
  }
  remember(op.command, op, op.block, PageId{0}, geometry_.pages, now);
  for (std::uint32_t p = 0; p < op.planes; ++p) {
    const std::uint32_t plane = index(op.plane) + p;
    Block& block = blocks_[at(plane, index(op.block))];
    drop_mixed(block);
    block.next_page = 0;
    block.reads = 0;
    block.programmed_at = 0;
    if (worn_out(plane, index(op.block), cycles(block))) {
      block.failed = 1;
      op.status = FlashStatus::erase_failed;
      ++counts_.erase_failures;
    } else {
      ++block.erases;
      ++counts_.erases;
    }
  }
}

void DieState::execute(FlashOp& op, Picoseconds now) {
  switch (op.command) {
    case FlashCommand::read:
      for (op.sensed = 0; op.sensed < op.senses;) read(op, now);
      break;
    case FlashCommand::program:
      program(op, op.pages, now);
      break;
    case FlashCommand::erase:
      erase(op, now);
      break;
    case FlashCommand::copyback:
      op.sensed = 0;
      for (std::uint32_t done = 0; done < op.pages;) done += copyback(op, now);
      break;
  }
}

// --------------------------------------------------------------------------------------------------------------- legality

void DieState::check_address(const FlashOp& op) const {
  if (op.die != die_) refuse(op, op.page, "operation sent to die " + std::to_string(index(die_)));
  if (op.planes == 0 || index(op.plane) + op.planes > geometry_.planes ||
      index(op.block) >= geometry_.blocks || op.pages == 0 || index(op.page) + op.pages > geometry_.pages) {
    refuse(op, op.page, "address out of range");
  }
  if (op.planes > 1 && !part_.multi_plane)
    refuse(op, op.page, "multi-plane operation on a part that has none");
  if (op.pages != 1 && (op.command == FlashCommand::read || op.command == FlashCommand::erase))
    refuse(op, op.page, "more than one page in an operation");
}

void DieState::check_program(const FlashOp& op) const {
  if (op.pages != program_pages_ || index(op.page) % program_pages_ != 0) {
    refuse(op, op.page,
           "program of " + std::to_string(op.pages) + " pages; this part programs " +
               std::to_string(program_pages_) + " at a time, aligned");
  }
  if (op.slots != op.planes * op.pages * units_per_page_ || op.first_slot != 0) {
    refuse(op, op.page, "program that does not fill its pages");
  }
  const std::uint32_t next = blocks_[at(index(op.plane), index(op.block))].next_page;
  for (std::uint32_t p = 0; p < op.planes; ++p) {
    const Block& block = blocks_[at(index(op.plane) + p, index(op.block))];
    if (block.failed != 0) refuse(op, op.page, "program of a block whose erase has failed");
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
  if (index(op.source_block) >= geometry_.blocks || index(op.source_page) + op.pages > geometry_.pages)
    refuse(op, op.page, "source out of range");
  for (std::uint32_t plane = index(op.plane); plane < index(op.plane) + op.planes; ++plane) {
    if (index(op.source_page) + op.pages > blocks_[at(plane, index(op.source_block))].next_page) {
      refuse(op, op.page, "copy of a page that is not programmed, in plane " + std::to_string(plane));
    }
  }
}

void DieState::remember(FlashCommand command, const FlashOp& op, BlockId block, PageId page,
                        std::uint32_t pages, Picoseconds now) {
  history_[events_++ % k_history] = {static_cast<std::uint16_t>(command),
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
                     ": " + std::string(name_of(op.command)) + " for " +
                     std::string(tlmssd::name_of(op.purpose)) + " refused: " + what;
  const std::size_t at_plane = index(op.plane);
  if (at_plane < geometry_.planes && index(op.block) < geometry_.blocks) {
    const Block& block = blocks_[at(index(op.plane), index(op.block))];
    text +=
        number("; the block has been erased ", block.erases) + number(" times, next page ", block.next_page);
  }
  text += "; latest operations of the die:";
  if (events_ == 0) text += " none";
  const std::uint64_t first = events_ > k_history ? events_ - k_history : 0;
  for (std::uint64_t i = first; i < events_; ++i) {
    const Event& e = history_[i % k_history];
    text += (i == first ? " " : ", ") + std::string(name_of(static_cast<FlashCommand>(e.command))) +
            number(" plane ", e.plane) +
            (e.planes > 1 ? number("-", e.plane + e.planes - 1) : std::string()) +
            number(" block ", e.block) + number(" page ", e.page) +
            (e.pages > 1 ? number("-", e.page + e.pages - 1) : std::string()) +
            number(" at ", static_cast<std::uint64_t>(e.instant)) + " ps";
  }
  throw NandViolation(text);
}

// ---------------------------------------------------------------------------------------------------------------- content

void DieState::store_pages(Block& block, UnitContent* units, std::uint32_t first_unit, const FlashOp& op,
                           std::uint32_t slot, std::uint32_t count) {
  for (std::uint32_t i = 0; i < count; ++i) {
    UnitContent& unit = units[first_unit + i];
    unit.spare = op.spare != nullptr ? op.spare[slot + i] : k_no_unit;
    unit.stamp = k_zeros;
    if (op.stamps == nullptr) continue;
    const Stamp* const stamps = op.stamps + std::size_t{slot + i} * stamps_per_unit_;
    unit.stamp = stamps[0];
    if (written_together(stamps, stamps_per_unit_)) continue;
    Mixed& mixed = mixed_of(block);
    mixed.slots.push_back(first_unit + i);  // pages are programmed in order, so slots ascend
    mixed.stamps.insert(mixed.stamps.end(), stamps, stamps + stamps_per_unit_);
  }
}

/// `count` units from number `first_source` of one block to number `first_unit` of another, or of the same.
void DieState::copy_pages(const Block& from, const UnitContent* source, Block& to, UnitContent* units,
                          std::uint32_t first_source, std::uint32_t first_unit, std::uint32_t count) {
  std::copy_n(source + first_source, count, units + first_unit);
  if (from.mixed == 0) return;
  std::vector<Stamp> stamps(stamps_per_unit_);
  for (std::uint32_t i = 0; i < count; ++i) {
    if (!load_mixed(from, first_source + i, stamps.data())) continue;
    Mixed& mixed = mixed_of(to);
    mixed.slots.push_back(first_unit + i);
    mixed.stamps.insert(mixed.stamps.end(), stamps.begin(), stamps.end());
  }
}

/// The block's table of mixed units; made when it has none.
DieState::Mixed& DieState::mixed_of(Block& block) {
  if (block.mixed == 0) {
    if (free_mixed_.empty()) {
      mixed_.emplace_back();
      free_mixed_.push_back(static_cast<std::uint32_t>(mixed_.size()));
    }
    block.mixed = free_mixed_.back() & 0x7FFF'FFFFU;
    free_mixed_.pop_back();
    mixed_[block.mixed - 1] = std::make_unique<Mixed>();
  }
  return *mixed_[block.mixed - 1];
}

void DieState::drop_mixed(Block& block) {
  if (block.mixed == 0) return;
  mixed_[block.mixed - 1].reset();
  free_mixed_.push_back(block.mixed);
  block.mixed = 0;
}

void DieState::load_units(const Block& block, const UnitContent* units, std::uint32_t first_unit,
                          std::uint32_t count, const FlashOp& op, std::uint32_t slot) const {
  for (std::uint32_t i = 0; i < count; ++i) {
    const UnitContent& unit = units[first_unit + i];
    if (op.spare != nullptr) op.spare[slot + i] = unit.spare;
    if (op.stamps == nullptr) continue;
    Stamp* const stamps = op.stamps + std::size_t{slot + i} * stamps_per_unit_;
    if (block.mixed != 0 && load_mixed(block, first_unit + i, stamps)) continue;
    Stamp next = unit.stamp;
    for (std::uint32_t b = 0; b < stamps_per_unit_; ++b, next = following_stamp(next)) stamps[b] = next;
  }
}

bool DieState::load_mixed(const Block& block, std::uint32_t unit, Stamp* stamps) const {
  const Mixed& mixed = *mixed_[block.mixed - 1];
  const auto found = std::lower_bound(mixed.slots.begin(), mixed.slots.end(), unit);
  if (found == mixed.slots.end() || *found != unit) return false;
  const auto position = static_cast<std::size_t>(found - mixed.slots.begin());
  std::copy_n(mixed.stamps.data() + position * stamps_per_unit_, stamps_per_unit_, stamps);
  return true;
}

// ------------------------------------------------------------------------------------------------------------------- wear

std::uint32_t DieState::endurance(PlaneId plane, BlockId block) const {
  if (part_.endurance == 0 || part_.endurance_spread == 0) return part_.endurance;
  const std::uint64_t place = (std::uint64_t{index(die_)} << 40U) ^ at(index(plane), index(block));
  RandomStream stream(seed_ ^ (place * 0x9E3779B97F4A7C15U), "block endurance");
  const double deviation = std::clamp(stream.normal(), -4.0, 4.0) * part_.endurance_spread;
  return std::max(1U, static_cast<std::uint32_t>(std::lround(part_.endurance * (1 + deviation))));
}

bool DieState::worn_out(std::uint32_t plane, std::uint32_t block, std::uint32_t erases) const {
  if (part_.endurance == 0) return false;
  // Within 4 sigma of the mean the block's own limit must be looked at.
  if (erases + 1 < part_.endurance * (1 - 4 * part_.endurance_spread)) return false;
  return erases >= endurance(PlaneId{plane}, BlockId{block});
}

// ---------------------------------------------------------------------------------------------------------------- archive

void DieState::archive(Archive& a) {
  std::uint64_t size = blocks_.size();
  std::uint64_t units = std::uint64_t{units_per_page_} * geometry_.pages;
  std::uint32_t stamps = stamps_per_unit_;
  a(size);
  a(units);
  a(stamps);
  if (size != blocks_.size() || units != std::uint64_t{units_per_page_} * geometry_.pages ||
      stamps != stamps_per_unit_) {
    throw ArchiveError("snapshot does not fit: the dies have other shapes or mapping units");
  }
  a(history_);
  a(events_);
  a(cycles_before_);
  if (a.saving()) {
    for (std::uint64_t i = 0; i < blocks_.size(); ++i) {
      Block& block = blocks_[i];
      if (block.erases == 0 && block.next_page == 0 && block.failed == 0) continue;
      a(i);
      a(block);
      archive_content(a, block, contents_of(i));
    }
    a(size);
    return;
  }
  blocks_ = ZeroPages<Block>(size);
  mixed_.clear();
  free_mixed_.clear();
  for (;;) {
    std::uint64_t i = 0;
    a(i);
    if (i == size) return;
    if (i > size) throw ArchiveError("snapshot is damaged: a block beyond its die");
    a(blocks_[i]);
    if (blocks_[i].next_page > geometry_.pages)
      throw ArchiveError("snapshot is damaged: a page beyond its block");
    archive_content(a, blocks_[i], contents_of(i));
  }
}

void DieState::archive_content(Archive& a, Block& block, UnitContent* units) {
  a.bytes(units, std::size_t{block.next_page} * units_per_page_ * sizeof(UnitContent));
  const bool has_mixed = block.mixed != 0;
  if (!has_mixed) return;
  if (!a.saving()) block.mixed = 0;  // a number of the drive that was saved
  Mixed& mixed = mixed_of(block);
  a(mixed.slots);
  a(mixed.stamps);
  if (mixed.stamps.size() != mixed.slots.size() * stamps_per_unit_) {
    throw ArchiveError("snapshot is damaged: stamps of partly rewritten units");
  }
}

void DieState::report(StatisticsSink& sink) const {
  sink.value("senses", counts_.senses, "pages", "pages sensed, counted per plane");
  sink.value("programs", counts_.programs, "pages", "pages programmed, counted per plane");
  sink.value("copies", counts_.copies, "pages",
             "pages copied within the die, counted per plane; also among senses and programs");
  sink.value("erases", counts_.erases, "blocks", "blocks erased, counted per plane");
  sink.value("erase_failures", counts_.erase_failures, "blocks", "blocks whose erase failed: worn out");
}

}  // namespace tlmssd
