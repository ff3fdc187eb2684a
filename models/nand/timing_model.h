// How long a die's array works: the interface of timing models.
//
// A model answers for one plane; a multi-plane operation takes as long as its slowest plane. It gets the block's P/E count, so
// that a richer model can slow reads or speed programs up with wear. It must be a pure function of its arguments: the same
// question gives the same answer, in timed and untimed mode. What it does not say of blocks in SLC mode is taken from the data sheet.
#pragma once

#include <memory>

#include "models/common/parameters.h"
#include "models/nand/part.h"

namespace tlmssd {

class TimingModel {
 public:
  virtual ~TimingModel() = default;
  /// Array to page register (tR) of `page` in a block erased `cycles` times.
  [[nodiscard]] virtual Picoseconds sense(PageId page, std::uint32_t cycles) const = 0;
  /// Page register to array (tPROG) of `pages` consecutive pages from `first`: a page, a word line or part of a block.
  [[nodiscard]] virtual Picoseconds program(PageId first, std::uint32_t pages,
                                            std::uint32_t cycles) const = 0;
  /// Block erase (tBERS).
  [[nodiscard]] virtual Picoseconds erase(std::uint32_t cycles) const = 0;

  // The same of a block in SLC mode, of a part that has one; a page is a word line of its own. `cycles` are those of the native mode that
  // wear as much as what the block has been through.
  [[nodiscard]] virtual Picoseconds slc_sense(const NandPart& part, PageId /*page*/,
                                              std::uint32_t /*cycles*/) const {
    return part.slc_read_latency;
  }
  [[nodiscard]] virtual Picoseconds slc_program(const NandPart& part, PageId /*page*/,
                                                std::uint32_t /*cycles*/) const {
    return part.slc_program_latency;
  }
  /// Into SLC mode, whatever the block was in before.
  [[nodiscard]] virtual Picoseconds slc_erase(const NandPart& part, std::uint32_t /*cycles*/) const {
    return part.slc_erase_latency;
  }
};

/// All timing models by name; timing_models.cpp is the one file that lists them.
const PolicyFamily<TimingModel, const NandPart&>& timing_models();

/// The model that `part.timing` names; InputError when there is none. The part must outlive it.
std::unique_ptr<TimingModel> make_timing_model(const NandPart& part,
                                               const ParameterValues& values = NoValues{});

}  // namespace tlmssd
