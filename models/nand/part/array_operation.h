// One operation of a die's array as models of timing and reliability see it, and what a timing
// model answers.
//
// One plain struct for all of them: a model looks at what it knows of and leaves the rest. Every
// field depends on the state of the die and on the seed alone, so the same operation of the same
// drive is described alike in timed and untimed mode.
//
// Variation: the deviates are standard normal, drawn from the stream "nand variation" of the
// scenario's seed; a die's, a block's and a layer's stay the same for good. A layer's is the same
// in all dies: it comes from the etching of the channel holes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/base/flash_op.h"
#include "models/base/types.h"
#include "models/nand/part/part.h"

namespace tlmssd {

enum class ArrayCommand : std::uint8_t { sense, program, erase };

struct ArrayOperation {
  ArrayCommand command = ArrayCommand::sense;
  BlockMode mode = BlockMode::native;  ///< of the block; erase: which it is put into
  bool resumed = false;                ///< program, erase: it goes on after a suspension
  DieId die{};
  PlaneId plane{};
  BlockId block{};
  PageId page{};                  ///< first page
  std::uint32_t planes = 1;       ///< operated together; the model answers for one of them
  std::uint32_t pages = 1;        ///< program: consecutive pages, one or those of a word line
  std::uint32_t type = 0;         ///< page type of the first page, 0 to bits - 1; 0 in SLC mode
  std::uint32_t word_line = 0;    ///< of the first page
  std::uint32_t layer = 0;        ///< of that word line, counted in the order of programming
  std::uint32_t retry_level = 0;  ///< sense: step of the read-retry levels, 0: default voltages
  double pass_voltage = 1;        ///< sense: of the other word lines, as a share of the nominal one
  /// Program/erase cycles of the block, as cycles of the native mode; an erase counts itself.
  double cycles = 0;
  /// Sense: days since the block's oldest data were programmed, all temperatures since then brought
  /// to the reference temperature by Arrhenius' law (retention_clock.h).
  double age_days = 0;
  double reads = 0;  ///< senses of the block since it was erased; a sense counts itself
  /// The same per page that the block can hold, each weighted by its pass voltage: of a full block
  /// read evenly, of each page.
  double reads_per_page = 0;
  double temperature = 40;   ///< now, degrees Celsius
  double die_deviate = 0;    ///< standard normal
  double block_deviate = 0;  ///< standard normal
  double layer_deviate = 0;  ///< standard normal

  [[nodiscard]] bool slc() const { return mode == BlockMode::slc; }
};

/// How long the array works, and what else a model may say of it.
struct ArrayAnswer {
  Picoseconds duration = 0;  ///< of one plane; above 0, at most k_longest_work (timing_model.h)
  double energy = 0;         ///< joules; 0: the model does not say
  /// Program, erase: instants after the start at which the operation can be suspended (ends of its
  /// pulses), ascending, below the duration. Empty: at any instant.
  std::vector<Picoseconds> suspend_points = {};
};

/// "program of page 5 (type 2, layer 1) after 1000 cycles ...", for messages. Pass voltage, planes
/// and resumed are named where they are not 1, 1 and false.
std::string to_text(const ArrayOperation& op);

/// Where pages are in a block, worked out once for a part.
class PageShape {
 public:
  PageShape(const NandPart& part);  // NOLINT(google-explicit-constructor): a part says where its pages are
  /// Sets page, type, word line and layer of an operation whose mode is set.
  void place(ArrayOperation& op, PageId page) const {
    op.page = page;
    op.type = op.slc() ? 0 : index(page) % bits_;
    op.word_line = op.slc() ? index(page) : index(page) / bits_;
    op.layer = layers_ == 0 ? op.word_line : layer(op.word_line);
  }

 private:
  [[nodiscard]] std::uint32_t layer(std::uint32_t word_line) const {
    return static_cast<std::uint32_t>(std::uint64_t{word_line} * layers_ / word_lines_);
  }
  std::uint32_t bits_;
  std::uint32_t layers_;  // 0: each word line is a layer of its own
  std::uint32_t word_lines_;
};

// Operations on a block in native mode, for tests and for those who only want to ask.
ArrayOperation sense_operation(const NandPart& part, PageId page, double cycles = 0);
ArrayOperation program_operation(const NandPart& part, PageId first, std::uint32_t pages, double cycles = 0);
ArrayOperation erase_operation(double cycles = 0);

/// Latency on the data sheet: tR, tPROG of all its pages or tBERS, of its mode.
Picoseconds data_sheet_latency(const NandPart& part, const ArrayOperation& op);

/// Where the deviates of a drive come from.
class NandVariation {
 public:
  explicit NandVariation(std::uint64_t seed);
  [[nodiscard]] double die(DieId die) const;
  [[nodiscard]] double block(DieId die, PlaneId plane, BlockId block) const;
  [[nodiscard]] double layer(std::uint32_t layer) const;
  /// Sets the deviates of an operation whose place is set.
  void vary(ArrayOperation& op) const {
    op.die_deviate = die(op.die);
    op.block_deviate = block(op.die, op.plane, op.block);
    op.layer_deviate = layer(op.layer);
  }

 private:
  [[nodiscard]] double deviate(std::uint64_t kind, std::uint64_t number) const;
  std::uint64_t seed_;
};

}  // namespace tlmssd
