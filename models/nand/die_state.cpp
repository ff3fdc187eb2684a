#include "models/nand/die_state.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "models/base/input_error.h"
#include "models/base/mixing.h"
#include "models/base/random.h"

namespace tlmssd {

namespace {

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
      program_pages_(part.unit_of_program() == ProgramUnit::block ? geometry.pages
                                                                  : part.pages_per_program()),
      step_pages_(part.pages_per_step()),
      shape_(part),
      slc_pages_(part.has_slc_mode() ? geometry.pages / part.bits() : 0),
      seed_(seed),
      blocks_(std::size_t{geometry.planes} * geometry.blocks),
      slc_erases_(part.has_slc_mode() ? blocks_.size() : 0),
      contents_(std::move(contents)),
      fill_first_(geometry.planes) {
  if (!contents_) contents_ = std::make_shared<ContentStore>(geometry, units_per_page_, index(die), 1);
  part.check();
  if (unit_bytes == 0 || geometry.page_bytes % unit_bytes != 0) {
    throw InputError("the mapping page of " + std::to_string(unit_bytes) +
                     " bytes does not divide the flash page of " + std::to_string(geometry.page_bytes) +
                     " bytes");
  }
  if (stamps_per_unit == 0) throw InputError("a mapping page must hold at least one logical block");
  if (program_pages_ == 0 || geometry.pages % program_pages_ != 0) {
    throw InputError("blocks of " + std::to_string(geometry.pages) +
                     " pages are not a whole number of program units of " + std::to_string(program_pages_) +
                     " pages");
  }
}

// -------------------------------------------------------------------------------------------------------------- operations

void DieState::read(FlashOp& op, Picoseconds now) {
  if (op.next_plane != nullptr) {
    check_planes(op);
  } else {
    check_address(op);
  }
  for (const FlashOp* link = &op; link != nullptr; link = link->next_plane) {
    sense(*link);
    remember(op.command, *link, op.mode, link->block, sensed_page(op), 1, now);
    if (std::uint64_t{link->first_slot} + link->slots > link->planes * units_per_page_)
      refuse(*link, op.page, "read of slots beyond its pages");
  }
  if (++op.sense_count < op.senses) return;
  for (FlashOp* link = &op; link != nullptr; link = link->next_plane) {
    if (link->errors != nullptr) count_errors(*link, now);
    load(*link);
  }
}

/// The pages of one link of a read, whose address has been checked, come into the page registers.
void DieState::sense(const FlashOp& op) {
  const std::uint64_t disturb = disturb_of(op);
  for (std::uint32_t plane = index(op.plane); plane < index(op.plane) + op.planes; ++plane) {
    Block& block = blocks_[at(plane, index(op.block))];
    check_mode(op, op.mode, plane, op.block);
    if (index(op.page) >= block.next_page) refuse(op, op.page, "read of a page that is not programmed");
    ++block.reads;
    block.disturb += disturb;
  }
  counts_.senses += op.planes;
  if (op.mode == BlockMode::slc) counts_.slc_senses += op.planes;
}

/// Hands out spare area and content of the slots of one link of a read.
void DieState::load(const FlashOp& op) const {
  std::uint32_t done = 0;
  std::uint32_t in_page = op.first_slot;
  for (std::uint32_t plane = index(op.plane); done < op.slots; ++plane, in_page -= units_per_page_) {
    if (in_page >= units_per_page_) continue;
    const Block& block = blocks_[at(plane, index(op.block))];
    const std::uint32_t units = std::min(units_per_page_ - in_page, op.slots - done);
    load_units(block, contents_->block(die_, plane, index(op.block)),
               index(op.page) * units_per_page_ + in_page, units, op, done);
    done += units;
    in_page += units;
  }
}

Lpn DieState::spare(const FlashOp& op, std::uint32_t slot) const {
  const bool copies = op.command == FlashCommand::copyback;
  const std::uint32_t first = copies ? 0 : op.first_slot;
  const std::uint32_t pages = copies ? op.pages : 1;
  const std::uint32_t page = (first + slot) / units_per_page_;
  return spare(PlaneId{index(op.plane) + page / pages}, copies ? op.source_block : op.block,
               PageId{index(copies ? op.source_page : op.page) + page % pages},
               (first + slot) % units_per_page_);
}

void DieState::disturb(std::uint32_t reads) {
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    if (blocks_[i].next_page == 0) continue;
    const std::uint64_t more = std::uint64_t{reads} * blocks_[i].next_page;
    const std::uint64_t sum = blocks_[i].reads + more;
    blocks_[i].disturb += more * k_whole_read;
    blocks_[i].reads = static_cast<std::uint32_t>(std::min<std::uint64_t>(sum, 0xFFFFFFFFU));
  }
}

/// What one sense of `op` does to the pages of its block.
std::uint64_t DieState::disturb_of(const FlashOp& op) const {
  if (op.pass_voltage == 1) return k_whole_read;
  if (!(op.pass_voltage > 0 && op.pass_voltage < 1)) refuse(op, op.page, "pass voltage out of range");
  if (errors_.bits == nullptr) return k_whole_read;
  return static_cast<std::uint64_t>(
      std::llround(errors_.bits->disturb_weight(op.pass_voltage) * static_cast<double>(k_whole_read)));
}

PageId DieState::sensed_page(const FlashOp& op) const {
  if (!op.word_line || op.mode == BlockMode::slc) return op.page;
  const std::uint32_t first = index(op.page) / part_.bits() * part_.bits();
  const std::uint32_t pages = std::min(part_.bits(), geometry_.pages - first);
  if (op.sense_count >= pages) return op.page;
  return PageId{first + (index(op.page) - first + op.sense_count) % pages};
}

BitErrors::Place DieState::place(std::uint32_t plane, BlockId block, PageId page) const {
  return {die_, PlaneId{plane}, block, page, blocks_[at(plane, index(block))].erases};
}

double DieState::rber(PlaneId plane, BlockId number, PageId page, std::uint32_t retry_level, Picoseconds now,
                      double pass_voltage) const {
  if (errors_.bits == nullptr) return 0;
  ArrayOperation stress;
  describe_data(stress, plane, number, now);
  shape_.place(stress, page);
  stress.retry_level = retry_level;
  stress.pass_voltage = pass_voltage;
  if (errors_.variation != nullptr) errors_.variation->vary(stress);
  return errors_.bits->rber(place(index(plane), number, page), stress, retry_level, pass_voltage);
}

void DieState::describe(ArrayOperation& op, PlaneId plane, BlockId number) const {
  op.die = die_;
  op.plane = plane;
  op.block = number;
  op.cycles = cycles(plane, number);
}

void DieState::describe_data(ArrayOperation& op, PlaneId plane, BlockId number, Picoseconds now) const {
  describe(op, plane, number);
  const Block& block = blocks_[at(index(plane), index(number))];
  op.mode = block.mode();
  op.reads = block.reads;
  op.reads_per_page =
      static_cast<double>(block.disturb) / static_cast<double>(k_whole_read) / pages_in(block.mode());
  if (errors_.clock == nullptr) return;
  op.age_days = errors_.clock->days_since(block.programmed_at, now);
  op.temperature = errors_.clock->temperature();
}

/// Wrong bits of the frames of the slots, plane by plane, and how many were to be expected.
void DieState::count_errors(FlashOp& op, Picoseconds now) const {
  op.error_rate = 0;
  if (errors_.bits == nullptr) {
    std::fill_n(op.errors, op.slots * errors_.frames_per_unit, std::uint32_t{0});
    return;
  }
  std::uint32_t done = 0;
  std::uint32_t in_page = op.first_slot;
  for (std::uint32_t plane = index(op.plane); done < op.slots; ++plane, in_page -= units_per_page_) {
    if (in_page >= units_per_page_) continue;
    const std::uint32_t units = std::min(units_per_page_ - in_page, op.slots - done);
    const double rate = rber(PlaneId{plane}, op.block, op.page, op.retry_level, now, op.pass_voltage);
    errors_.bits->draw(place(plane, op.block, op.page), rate, in_page * errors_.frames_per_unit,
                       units * errors_.frames_per_unit, op.errors + done * errors_.frames_per_unit);
    op.error_rate += static_cast<float>(rate * units / op.slots);
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
  remember(op.command, op, op.mode, op.block, PageId{first}, pages, now);
  for (std::uint32_t p = 0; p < op.planes; ++p) {
    Block& block = blocks_[at(index(op.plane) + p, index(op.block))];
    if (block.next_page == 0) block.programmed_at = clock(now);
    const std::uint32_t slot = (p * op.pages + done) * units_per_page_;
    UnitContent* const units = contents_->block_to_write(die_, index(op.plane) + p, index(op.block));
    if (program_fails(op, index(op.plane) + p)) {
      fail_pages(op, units, first * units_per_page_, pages * units_per_page_);
    } else {
      store_pages(block, units, first * units_per_page_, op, slot, pages * units_per_page_);
    }
    block.next_page = first + pages;
  }
  counts_.programs += std::uint64_t{pages} * op.planes;
  if (op.mode == BlockMode::slc) counts_.slc_programs += std::uint64_t{pages} * op.planes;
  return pages;
}

std::uint32_t DieState::pass(const FlashOp& op, Picoseconds now) {
  check_address(op);
  check_program(op);
  remember(op.command, op, op.mode, op.block, op.page, op.pages, now);
  return op.pages;
}

std::uint32_t DieState::copyback(FlashOp& op, Picoseconds now) {
  check_address(op);
  check_program(op);
  check_source(op);
  const std::uint32_t first = blocks_[at(index(op.plane), index(op.block))].next_page;
  const std::uint32_t done = first - index(op.page);
  const std::uint32_t pages = std::min<std::uint32_t>(step_pages_, op.pages - done);
  if (op.sense_count < pages) {
    sense_source(op, done + op.sense_count++, now);
    return 0;
  }
  op.sense_count = 0;
  remember(op.command, op, op.mode, op.block, PageId{first}, pages, now);
  for (std::uint32_t plane = index(op.plane); plane < index(op.plane) + op.planes; ++plane) {
    const Block& from = blocks_[at(plane, index(op.source_block))];
    Block& block = blocks_[at(plane, index(op.block))];
    if (block.next_page == 0) block.programmed_at = clock(now);
    UnitContent* const units = contents_->block_to_write(die_, plane, index(op.block));
    if (program_fails(op, plane)) {
      fail_pages(op, units, first * units_per_page_, pages * units_per_page_);
    } else {
      copy_pages(from, contents_->block(die_, plane, index(op.source_block)), block, units,
                 (index(op.source_page) + done) * units_per_page_, first * units_per_page_,
                 pages * units_per_page_);
    }
    block.next_page = first + pages;
  }
  const std::uint64_t copied = std::uint64_t{pages} * op.planes;
  counts_.programs += copied;
  counts_.copies += copied;
  if (op.mode == BlockMode::slc) {
    counts_.slc_programs += copied;
  } else if (op.source_mode == BlockMode::slc) {
    counts_.folds += copied;
  }
  return pages;
}

/// Page `number` of copyback `op`, counted from 0, comes into the page register; hands out its
/// spare area and content.
void DieState::sense_source(FlashOp& op, std::uint32_t number, Picoseconds now) {
  const std::uint32_t page = index(op.source_page) + number;
  remember(FlashCommand::read, op, op.source_mode, op.source_block, PageId{page}, 1, now);
  for (std::uint32_t p = 0; p < op.planes; ++p) {
    const std::uint32_t plane = index(op.plane) + p;
    Block& block = blocks_[at(plane, index(op.source_block))];
    ++block.reads;
    block.disturb += k_whole_read;
    load_units(block, contents_->block(die_, plane, index(op.source_block)), page * units_per_page_,
               units_per_page_, op, (p * op.pages + number) * units_per_page_);
  }
  counts_.senses += op.planes;
  if (op.source_mode == BlockMode::slc) counts_.slc_senses += op.planes;
}

PageId DieState::copied_page(const FlashOp& op) const {
  const std::uint32_t done = block(op.plane, op.block).next_page - index(op.page);
  return PageId{index(op.source_page) + done + op.sense_count - 1};
}

void DieState::erase(FlashOp& op, Picoseconds now) {
  check_address(op);
  for (std::uint32_t p = 0; p < op.planes; ++p) {
    if (blocks_[at(index(op.plane) + p, index(op.block))].failed != 0) {
      refuse(op, op.page, "erase of a block whose erase has failed");
    }
  }
  remember(op.command, op, op.mode, op.block, PageId{0}, pages_in(op.mode), now);
  for (std::uint32_t p = 0; p < op.planes; ++p) {
    const std::uint32_t plane = index(op.plane) + p;
    Block& block = blocks_[at(plane, index(op.block))];
    drop_mixed(block);
    block.filled = 0;
    block.next_page = 0;
    block.reads = 0;
    block.disturb = 0;
    block.programmed_at = 0;
    block.slc = op.mode == BlockMode::slc ? 1 : 0;
    const std::optional<GrownBad> bad = grown_bad(plane, op.block);
    if ((bad && bad->at_erase) || worn_out(plane, index(op.block), op.mode)) {
      block.failed = 1;
      op.status = FlashStatus::erase_failed;
      ++counts_.erase_failures;
    } else {
      ++block.erases;
      ++counts_.erases;
      if (op.mode == BlockMode::slc) {
        ++slc_erases_[at(plane, index(op.block))];
        ++counts_.slc_erases;
      }
    }
  }
}

void DieState::fill(const FlashOp& op, Picoseconds now) {
  check_address(op);
  if (op.planes == 0 || op.mode != BlockMode::native) refuse(op, op.page, "fill in SLC mode");
  for (std::uint32_t p = 0; p < op.planes; ++p) {
    const Block& block = blocks_[at(index(op.plane) + p, index(op.block))];
    if (block.next_page != 0 || block.slc != 0) refuse(op, op.page, "fill of a block that is not erased");
  }
  remember(op.command, op, op.mode, op.block, PageId{0}, geometry_.pages, now);
  fill_ = *op.fill;
  for (std::uint32_t p = 0; p < op.planes; ++p) {
    Block& block = blocks_[at(index(op.plane) + p, index(op.block))];
    block.programmed_at = clock(now);
    block.next_page = geometry_.pages;
    block.filled = 1;
    fill_first_[index(op.plane) + p] = op.fill->first + p * units_per_page_;
  }
  counts_.programs += std::uint64_t{geometry_.pages} * op.planes;
}

void DieState::execute(FlashOp& op, Picoseconds now) {
  if (op.command == FlashCommand::program && op.fill != nullptr) {
    fill(op, now);
    return;
  }
  switch (op.command) {
    case FlashCommand::read:
      for (op.sense_count = 0; op.sense_count < op.senses;) read(op, now);
      break;
    case FlashCommand::program:
      program(op, op.pages, now);
      break;
    case FlashCommand::erase:
      erase(op, now);
      break;
    case FlashCommand::copyback:
      op.sense_count = 0;
      for (std::uint32_t done = 0; done < op.pages;) done += copyback(op, now);
      break;
  }
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

/// The program of these units has failed: there is nothing in them.
void DieState::fail_pages(FlashOp& op, UnitContent* units, std::uint32_t first_unit, std::uint32_t count) {
  op.status = FlashStatus::program_failed;
  counts_.program_failures += count / units_per_page_;
  for (std::uint32_t i = first_unit; i < first_unit + count; ++i) {
    units[i].spare = k_no_unit;
    units[i].stamp = k_zeros;
  }
}

/// `count` units from number `first_source` of one block to number `first_unit` of another, or of
/// the same.
void DieState::copy_pages(const Block& from, const UnitContent* source, Block& to, UnitContent* units,
                          std::uint32_t first_source, std::uint32_t first_unit, std::uint32_t count) {
  for (std::uint32_t i = 0; i < count; ++i) units[first_unit + i] = content(from, source, first_source + i);
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
    block.mixed = free_mixed_.back() & 0x1FFF'FFFFU;
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
    // Not copied as a whole: its parts are of odd sizes, which the processor stores one by one.
    UnitContent computed{};
    if (block.filled != 0) computed = filled_content(block, first_unit + i);
    const UnitContent& unit = block.filled != 0 ? computed : units[first_unit + i];
    if (op.spare != nullptr) op.spare[slot + i] = unit.spare;
    if (op.stamps == nullptr) continue;
    Stamp* const stamps = op.stamps + std::size_t{slot + i} * stamps_per_unit_;
    if (block.mixed != 0 && load_mixed(block, first_unit + i, stamps)) continue;
    Stamp next = unit.stamp;
    for (std::uint32_t b = 0; b < stamps_per_unit_; ++b, next = following_stamp(next)) stamps[b] = next;
  }
}

UnitContent DieState::filled_content(const Block& block, std::uint32_t unit) const {
  const auto number = static_cast<std::uint32_t>(&block - &blocks_[0]);
  const std::uint32_t plane = number / geometry_.blocks;
  const std::uint32_t page = unit / units_per_page_;
  const std::uint32_t program = page / program_pages_;
  const Lpn first = fill_first_[plane] + (number - plane * geometry_.blocks) * fill_.block_step +
                    program * fill_.program_step + (page - program * program_pages_) * fill_.page_step;
  const Lpn logical = first + (unit - page * units_per_page_);
  return {logical, make_stamp(logical, fill_.sequence)};
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

std::uint32_t DieState::erases(PlaneId plane, BlockId block, BlockMode mode) const {
  const std::size_t i = at(index(plane), index(block));
  const std::uint32_t slc = slc_erases_.size() == 0 ? 0 : slc_erases_[i];
  return mode == BlockMode::slc ? slc : blocks_[i].erases - slc;
}

/// Erases of block number `i`, those into SLC mode for as much as they wear.
std::uint32_t DieState::weighted_erases(std::size_t i) const {
  const std::uint32_t slc = slc_erases_[i];
  const std::uint32_t native = blocks_[i].erases - slc;
  if (part_.endurance == 0) return native + slc;  // no saying how they compare
  return native +
         static_cast<std::uint32_t>(std::uint64_t{slc} * part_.endurance / part_.endurance_in_slc_mode());
}

RandomStream DieState::draws(std::uint32_t plane, BlockId block, std::string_view of) const {
  const std::uint64_t place = (std::uint64_t{index(die_)} << 40U) ^ at(plane, index(block));
  return {seed_ ^ (place * k_golden), of};
}

std::uint32_t DieState::endurance(PlaneId plane, BlockId block, BlockMode mode) const {
  const std::uint32_t mean = mode == BlockMode::slc ? part_.endurance_in_slc_mode() : part_.endurance;
  if (mean == 0 || part_.endurance_spread == 0) return mean;
  RandomStream stream = draws(index(plane), block, "block endurance");
  const double deviation =
      std::clamp(stream.normal(), -NandPart::k_spread_cut_off, NandPart::k_spread_cut_off) *
      part_.endurance_spread;
  return std::max(1U, static_cast<std::uint32_t>(std::lround(mean * (1 + deviation))));
}

double DieState::wear(PlaneId plane, BlockId block) const {
  if (part_.endurance == 0) return 0;
  const auto native =
      static_cast<double>(std::uint64_t{cycles_before_} + erases(plane, block, BlockMode::native));
  return native / endurance(plane, block) +
         static_cast<double>(erases(plane, block, BlockMode::slc)) / endurance(plane, block, BlockMode::slc);
}

/// Whether one more cycle, of `mode`, is more than the block bears.
bool DieState::worn_out(std::uint32_t plane, std::uint32_t block, BlockMode mode) const {
  if (part_.endurance == 0) return false;
  const PlaneId p{plane};
  const BlockId b{block};
  std::uint64_t slc = erases(p, b, BlockMode::slc);
  std::uint64_t native = std::uint64_t{cycles_before_} + erases(p, b, BlockMode::native);
  ++(mode == BlockMode::slc ? slc : native);
  // Where the spread may reach, the block's own limit must be looked at.
  if (slc == 0 && static_cast<double>(native) <
                      part_.endurance * (1 - NandPart::k_spread_cut_off * part_.endurance_spread))
    return false;
  const std::uint64_t endurance_native = endurance(p, b);
  if (slc == 0) return native > endurance_native;
  const std::uint64_t endurance_slc = endurance(p, b, BlockMode::slc);
  return native * endurance_slc + slc * endurance_native > endurance_native * endurance_slc;
}

std::optional<DieState::GrownBad> DieState::grown_bad(std::uint32_t plane, BlockId block) const {
  if (part_.grown_bad_blocks == 0 || part_.endurance == 0) return {};
  RandomStream stream = draws(plane, block, "grown bad blocks");
  if (stream.uniform() >= part_.grown_bad_blocks) return {};
  const double from = stream.uniform();  // of its life
  const bool at_erase = stream.uniform() < 0.5;
  const double page = stream.uniform();
  const bool replaced = from * endurance(PlaneId{plane}, block) < cycles_before_;
  if (replaced || wear(PlaneId{plane}, block) < from) return {};
  return GrownBad{at_erase, page};
}

/// Whether the block has gone bad, and the program `op` of it fails.
bool DieState::is_bad_page(const FlashOp& op, std::uint32_t plane) const {
  const std::optional<GrownBad> bad = grown_bad(plane, op.block);
  return bad && !bad->at_erase && index(op.page) + op.pages > bad->page * pages_in(op.mode);
}

}  // namespace tlmssd
