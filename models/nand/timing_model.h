// How long a die's array works: the interface of timing models.
//
// A model answers for one plane; a multi-plane operation takes as long as its slowest plane. It gets the block's P/E count, so
// that a richer model can slow reads or speed programs up with wear. It must be a pure function of its arguments: the same
// question gives the same answer, in timed and untimed mode.
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
};

/// All timing models by name; timing_models.cpp is the one file that lists them.
const PolicyFamily<TimingModel, const NandPart&>& timing_models();

/// The model that `part.timing` names; InputError when there is none. The part must outlive it.
std::unique_ptr<TimingModel> make_timing_model(const NandPart& part,
                                               const ParameterValues& values = NoValues{});

}  // namespace tlmssd
