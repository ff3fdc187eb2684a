// What a NAND die holds and what it refuses: blocks, pages, wear, and the rules of silicon. Plain
// C++, no time of its own.
//
// Models per block the erase count, the next page to program, the instant of the first program and
// the reads since erase; per programmed mapping page the logical unit in its spare area and the
// stamps that stand for its data. Refuses (NandViolation) programming a page that is not erased,
// out of order within the block or other than the part's program unit, reading or copying a page
// that is not programmed, operations in another mode than the block is in, addresses out of range,
// multi-plane operation where the part has none or with addresses that may not go together, and any
// use of a block after its erase has failed.
// Where the drive has a reliability model, a read tells how many bits of each frame it got wrong;
// the flash controller spoils the data of those that it cannot decode. A copyback moves content and
// spare area as they were written: that wrong bits of the source stay wrong in the copy, and pile
// up from copy to copy, is left out, as is any rule about odd and even pages.
//
// Modes: where the part has an SLC mode, an erase puts the block into native or SLC mode, until the
// next one. In SLC mode a block has a page for each of its word lines and programs them one by one.
// An erase and what is programmed after it are a cycle of the mode that it puts the block into; the
// block's life is over when cycles / endurance, summed over both modes, exceeds 1 (A: linear
// damage, as Palmgren and Miner's rule has it for fatigue).
//
// Blocks go bad before that where the part has `grown_bad_blocks`: so large a share of the blocks,
// each at a point of its life that is uniform between its beginning and its end (A), one half at
// an erase, the other at the program of a page that is drawn as well (A). From then on that erase
// fails, or the programs of that page and those behind it. A program that fails leaves nothing in
// its pages that could be read; the pages before it stay readable. Blocks whose point lies before
// the cycles that the drive is aged by are good: age() stands for a drive that has replaced them.
//
// Memory: 6 bytes per unit of a block that has ever held data (content_store.h), 32 bytes per such
// block (36 where the part has an SLC mode), nothing for the others. A unit whose blocks were not
// written together (512-byte writes) costs 4 + 2 bytes per stamp more. The units of a block that a
// sequential fill has written cost nothing until it is erased and programmed again.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/archive.h"
#include "models/base/flash_op.h"
#include "models/base/random.h"
#include "models/base/sparse_array.h"
#include "models/base/statistics.h"
#include "models/nand/content_store.h"
#include "models/nand/part/part.h"
#include "models/nand/reliability/bit_errors.h"
#include "models/nand/reliability/retention_clock.h"
#include "models/nand/violation.h"

namespace tlmssd {

/// What a die needs to get bits wrong; the objects are shared by all dies of a drive.
struct DieErrors {
  const BitErrors* bits = nullptr;           ///< null: every bit is right
  const RetentionClock* clock = nullptr;     ///< null: data do not age; needed when there are `bits`
  std::uint32_t frames_per_unit = 1;         ///< ECC frames of a mapping page
  const NandVariation* variation = nullptr;  ///< null: `bits` do not look at it, or all places are alike
};

class DieState {
 public:
  /// `part` must outlive the die; the shape comes from `geometry`. The mapping page must divide the
  /// page (InputError). `contents`: where page contents are kept, shared by the dies of a drive;
  /// null: its own.
  DieState(const NandPart& part, const Geometry& geometry, DieId die, Bytes unit_bytes,
           std::uint32_t stamps_per_unit, std::uint64_t seed, std::shared_ptr<ContentStore> contents = {});

  /// From now on reads have errors.
  void attach(const DieErrors& errors) { errors_ = errors; }
  /// All blocks have been through `cycles` more program/erase cycles.
  void age(std::uint32_t cycles) { cycles_before_ += cycles; }
  /// P/E cycles that every block has had by age().
  [[nodiscard]] std::uint32_t cycles_before() const { return cycles_before_; }

  /// Every page that holds data is read so many times.
  void disturb(std::uint32_t reads);

  /// Makes the next sense of `op`; the last one hands out spare, content and wrong bits of its
  /// slots.
  void read(FlashOp& op, Picoseconds now);
  /// The page that the next sense of `op` is of.
  [[nodiscard]] PageId sensed_page(const FlashOp& op) const;
  /// Programs the next pages of `op` that are still to be programmed, at most `limit` in each
  /// plane. Returns how many.
  std::uint32_t program(FlashOp& op, std::uint32_t limit, Picoseconds now);
  /// A pass of program `op` before the last: it must be legal, but nothing can be read until the
  /// last. Returns the pages in each plane.
  std::uint32_t pass(const FlashOp& op, Picoseconds now);
  /// Makes the next step of copyback `op`: senses one more of its source pages into the page
  /// register, or programs those that are there, once they are as many as the part programs at a
  /// time. Returns how many it programmed in each plane, 0: it sensed. Both sensing (read disturb)
  /// and programming (wear) count as in reads and programs.
  std::uint32_t copyback(FlashOp& op, Picoseconds now);
  /// The page of the source block that copyback `op` has sensed last.
  [[nodiscard]] PageId copied_page(const FlashOp& op) const;
  /// Erases the block of `op` in each plane. A block past its endurance fails (op.status) and is
  /// unusable from then on.
  void erase(FlashOp& op, Picoseconds now);
  /// All of the block of `op` in each plane, which must be erased, holds what `op.fill` says.
  void fill(const FlashOp& op, Picoseconds now);
  /// Whichever of these `op` asks for, whole.
  void execute(FlashOp& op, Picoseconds now);

  /// Has the processor fetch what a read of these slots will touch.
  void prefetch(const FlashOp& op) const {
    std::size_t unit = std::size_t{index(op.page)} * units_per_page_ + op.first_slot;
    for (std::uint32_t plane = index(op.plane); plane < index(op.plane) + op.planes; ++plane) {
      prefetch_line(&blocks_[at(plane, index(op.block))]);
      contents_->prefetch(die_, plane, index(op.block), unit);
      unit = std::size_t{index(op.page)} * units_per_page_;
    }
  }

  /// Has it fetch what every operation touches.
  void prefetch() const {
    prefetch_lines<256>(&geometry_);
    prefetch_line(&history_[events_ % k_history]);
    prefetch_lines<sizeof events_ + sizeof counts_>(&events_);
  }

  /// Disturb of one sense at the nominal pass voltage.
  static constexpr std::uint64_t k_whole_read = 65536;
  /// What is known of a block.
  struct Block {
    std::int64_t programmed_at =
        0;  ///< nanoseconds on the retention clock at the first program since erase: the oldest data decide
    std::uint64_t disturb = 0;     ///< senses since erase, each weighted by its pass voltage; in k_whole_read
    std::uint32_t erases = 0;      ///< in this simulation, into whichever mode
    std::uint32_t reads = 0;       ///< senses since erase
    std::uint32_t next_page = 0;   ///< pages below hold data
    std::uint32_t mixed : 29 = 0;  ///< number of its table of mixed units, counted from 1; 0: none
    std::uint32_t filled : 1 = 0;  ///< its content follows from a SequentialFill
    std::uint32_t slc : 1 = 0;     ///< it is in SLC mode
    std::uint32_t failed : 1 = 0;  ///< its erase failed
    [[nodiscard]] BlockMode mode() const { return slc != 0 ? BlockMode::slc : BlockMode::native; }
  };
  [[nodiscard]] const Block& block(PlaneId plane, BlockId block) const {
    return blocks_[at(index(plane), index(block))];
  }
  /// Erases in this simulation that have put a block into `mode`.
  [[nodiscard]] std::uint32_t erases(PlaneId plane, BlockId block, BlockMode mode) const;
  /// Program/erase cycles of a block, those from before the simulation included, as cycles of the
  /// native mode: one in SLC mode counts as much as it wears (whole cycles, rounded down).
  [[nodiscard]] std::uint32_t cycles(PlaneId plane, BlockId block) const {
    const std::size_t i = at(index(plane), index(block));
    return cycles_before_ + (slc_erases_.size() == 0 ? blocks_[i].erases : weighted_erases(i));
  }
  /// Share of a block's life that is over; above 1 its next erase fails. 0 when it has no end.
  [[nodiscard]] double wear(PlaneId plane, BlockId block) const;
  /// Raw bit error rate of a programmed page, read at step `retry_level` of the read-retry levels
  /// and with this pass voltage (share of the nominal one); 0 without a reliability model.
  [[nodiscard]] double rber(PlaneId plane, BlockId block, PageId page, std::uint32_t retry_level,
                            Picoseconds now, double pass_voltage = 1) const;
  /// What a model may know of a block: where it is, and its cycles.
  void describe(ArrayOperation& op, PlaneId plane, BlockId block) const;
  /// The same, and of the data in it: its mode, reads, age and temperature.
  void describe_data(ArrayOperation& op, PlaneId plane, BlockId block, Picoseconds now) const;
  /// Erase cycles, all of `mode`, after which this block's erase fails; 0: never.
  [[nodiscard]] std::uint32_t endurance(PlaneId plane, BlockId block,
                                        BlockMode mode = BlockMode::native) const;
  /// What the spare area of a page's `unit`-th unit says; k_no_unit when the page is not
  /// programmed, or the unit is padding. For inspection: nothing is sensed.
  [[nodiscard]] Lpn spare(PlaneId plane, BlockId number, PageId page, std::uint32_t unit) const {
    if (index(page) >= block(plane, number).next_page) return k_no_unit;
    const std::uint32_t at_page = index(page) * units_per_page_ + unit;
    return content(block(plane, number), contents_of(at(index(plane), index(number))), at_page).spare;
  }
  /// The same of slot `slot` of what a read or copyback reads, whether it has read that yet or not.
  [[nodiscard]] Lpn spare(const FlashOp& op, std::uint32_t slot) const;
  [[nodiscard]] const PageShape& shape() const { return shape_; }
  /// Pages of one plane that a program in this mode takes at a time.
  [[nodiscard]] std::uint32_t step_pages(BlockMode mode) const {
    return mode == BlockMode::slc ? 1 : step_pages_;
  }
  [[nodiscard]] DieId id() const { return die_; }
  [[nodiscard]] std::uint32_t units_per_page() const { return units_per_page_; }

  /// Throws a NandViolation about `op`: its address, `what`, and the die's latest operations.
  [[noreturn]] void refuse(const FlashOp& op, PageId page, const std::string& what) const;

  void archive(Archive& a);

  struct Counts {
    std::uint64_t senses = 0;    ///< pages sensed, counted per plane
    std::uint64_t programs = 0;  ///< pages programmed
    std::uint64_t copies = 0;    ///< pages sensed and programmed by copybacks, which count among the above
    std::uint64_t erases = 0;    ///< blocks erased
    std::uint64_t erase_failures = 0;
    std::uint64_t program_failures = 0;  ///< pages whose program failed
    // Of these, in SLC mode; folds: copies from SLC to native mode.
    std::uint64_t slc_senses = 0;
    std::uint64_t slc_programs = 0;
    std::uint64_t slc_erases = 0;
    std::uint64_t folds = 0;
  };
  [[nodiscard]] const Counts& counts() const { return counts_; }
  void report(StatisticsSink& sink) const;
  void reset_statistics() { counts_ = {}; }

 private:
  /// Stamps of the units whose blocks were not written together, in the order of their slots.
  struct Mixed {
    std::vector<std::uint32_t> slots;
    std::vector<Stamp> stamps;
  };
  struct Event {
    std::uint8_t command;  // a FlashCommand
    std::uint8_t mode;     // a BlockMode
    std::uint16_t planes;
    std::uint16_t pages;
    std::uint16_t plane;
    std::uint32_t block;
    std::uint32_t page;
    Picoseconds instant;
  };
  static constexpr std::size_t k_history = 16;

  [[nodiscard]] std::size_t at(std::uint32_t plane, std::uint32_t block) const {
    return std::size_t{plane} * geometry_.blocks + block;
  }
  /// Unit number `unit` of a block; `units`: where its contents are kept.
  [[nodiscard]] UnitContent content(const Block& block, const UnitContent* units, std::uint32_t unit) const {
    return block.filled != 0 ? filled_content(block, unit) : units[unit];
  }
  [[nodiscard]] UnitContent filled_content(const Block& block, std::uint32_t unit) const;
  /// Contents of block number `i` of blocks_.
  [[nodiscard]] const UnitContent* contents_of(std::uint64_t i) const {
    return contents_->block(die_, plane_of(i), number_of(i));
  }
  [[nodiscard]] std::uint32_t plane_of(std::uint64_t i) const {
    return static_cast<std::uint32_t>(i / geometry_.blocks);
  }
  [[nodiscard]] std::uint32_t number_of(std::uint64_t i) const {
    return static_cast<std::uint32_t>(i % geometry_.blocks);
  }
  [[nodiscard]] std::int64_t clock(Picoseconds now) const {
    return errors_.clock != nullptr ? errors_.clock->at(now) : now / 1000;
  }
  [[nodiscard]] std::uint32_t pages_in(BlockMode mode) const {
    return mode == BlockMode::native ? geometry_.pages : slc_pages_;
  }
  [[nodiscard]] std::uint32_t program_pages_in(BlockMode mode) const {
    return mode == BlockMode::native ? program_pages_ : 1;
  }
  [[nodiscard]] BitErrors::Place place(std::uint32_t plane, BlockId block, PageId page) const;
  void count_errors(FlashOp& op, Picoseconds now) const;
  [[nodiscard]] std::uint64_t disturb_of(const FlashOp& op) const;
  void sense(const FlashOp& op);
  void load(const FlashOp& op) const;
  void check_address(const FlashOp& op) const;
  void check_planes(const FlashOp& first) const;
  void check_mode(const FlashOp& op, BlockMode mode, std::uint32_t plane, BlockId block) const {
    if (blocks_[at(plane, index(block))].mode() != mode) refuse_mode(op, mode, plane, block);
  }
  [[noreturn]] void refuse_mode(const FlashOp& op, BlockMode mode, std::uint32_t plane, BlockId block) const;
  void check_program(const FlashOp& op) const;
  void check_source(const FlashOp& op) const;
  void sense_source(FlashOp& op, std::uint32_t number, Picoseconds now);
  void remember(FlashCommand command, const FlashOp& op, BlockMode mode, BlockId block, PageId page,
                std::uint32_t pages, Picoseconds now);
  void store_pages(Block& block, UnitContent* units, std::uint32_t first_unit, const FlashOp& op,
                   std::uint32_t slot, std::uint32_t count);
  void fail_pages(FlashOp& op, UnitContent* units, std::uint32_t first_unit, std::uint32_t count);
  void copy_pages(const Block& from, const UnitContent* source, Block& to, UnitContent* units,
                  std::uint32_t first_source, std::uint32_t first_unit, std::uint32_t count);
  Mixed& mixed_of(Block& block);
  void load_units(const Block& block, const UnitContent* units, std::uint32_t first_unit, std::uint32_t count,
                  const FlashOp& op, std::uint32_t slot) const;
  bool load_mixed(const Block& block, std::uint32_t unit, Stamp* stamps) const;
  void drop_mixed(Block& block);
  void archive_content(Archive& a, std::uint64_t i);
  void archive_fill(Archive& a);
  [[nodiscard]] bool worn_out(std::uint32_t plane, std::uint32_t block, BlockMode mode) const;
  /// How a block that has gone bad before its endurance is used up fails.
  struct GrownBad {
    bool at_erase;  ///< its erases fail; else programs
    double page;    ///< of these, the ones of pages from here on, as a share of the block
  };
  /// Draws for a block, the same whenever they are asked for: `of` names what.
  [[nodiscard]] RandomStream draws(std::uint32_t plane, BlockId block, std::string_view of) const;
  [[nodiscard]] std::optional<GrownBad> grown_bad(std::uint32_t plane, BlockId block) const;
  /// Whether the program `op` fails in this plane.
  [[nodiscard]] bool program_fails(const FlashOp& op, std::uint32_t plane) const {
    return part_.grown_bad_blocks > 0 && is_bad_page(op, plane);
  }
  [[nodiscard]] bool is_bad_page(const FlashOp& op, std::uint32_t plane) const;
  [[nodiscard]] std::uint32_t weighted_erases(std::size_t i) const;
  void report_modes(StatisticsSink& sink) const;

  const NandPart& part_;
  Geometry geometry_;
  DieId die_;
  std::uint32_t units_per_page_;
  std::uint32_t stamps_per_unit_;
  std::uint32_t program_pages_;
  std::uint32_t step_pages_;  // of these, programmed at a time
  PageShape shape_;
  std::uint32_t slc_pages_;  // of a block in SLC mode; 0: there is no such mode
  std::uint64_t seed_;
  DieErrors errors_;
  std::uint32_t cycles_before_ = 0;
  ZeroPages<Block> blocks_;
  ZeroPages<std::uint32_t>
      slc_erases_;  // of the blocks' erases, those into SLC mode; empty: there is no such mode
  std::shared_ptr<ContentStore> contents_;
  SequentialFill fill_;          // of all filled blocks, but for the first unit
  std::vector<Lpn> fill_first_;  // by plane
  std::vector<std::unique_ptr<Mixed>> mixed_;
  std::vector<std::uint32_t> free_mixed_;
  std::array<Event, k_history> history_{};
  std::uint64_t events_ = 0;
  Counts counts_;
};

}  // namespace tlmssd
