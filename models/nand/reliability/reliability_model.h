// How often a cell is read wrongly: the interface of reliability models.
//
// A model gives the raw bit error rate (RBER, wrong bits per bit read, before any correction) of an
// average page, read with the default read voltages, as a function of what the page has been
// through. BitErrors adds what all models have in common: the page type's share, the variation from
// block to block and page to page, the gain of a read retry, and how many bits of a frame are wrong
// at that rate. A model must be a pure function of its argument, which is what a timing model is
// given for the sense of this one page (array_operation.h).
//
// What all of them leave out: program disturb, open blocks, recovery of charge while a block rests,
// the value that is stored.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>

#include "models/base/parameters.h"
#include "models/nand/part/array_operation.h"
#include "models/nand/part/part.h"

namespace tlmssd {

class ReliabilityModel {
 public:
  virtual ~ReliabilityModel() = default;
  /// Raw bit error rate with default read voltages, 0 to 0.5. Nothing in the stress may be
  /// negative.
  [[nodiscard]] virtual double rber(const ArrayOperation& stress) const = 0;
  /// Whether rber() looks at stress.slc(). If not, a page in SLC mode has a fixed share of the
  /// errors that it says.
  [[nodiscard]] virtual bool knows_slc_mode() const { return false; }
  /// Whether rber() looks at the deviates of die, block and layer. If not, dies leave them at 0,
  /// which saves the time to work them out.
  [[nodiscard]] virtual bool looks_at_variation() const { return true; }

 protected:
  /// Half of the bits are wrong when a page says nothing any more.
  static double at_most_half(double rate) { return std::min(rate, 0.5); }
};

using ReliabilityFamily = PolicyFamily<ReliabilityModel, const NandPart&>;
/// All reliability models by name; reliability_models.cpp lists those of the program.
ReliabilityFamily& reliability_models();

/// The model of that name; InputError when there is none.
std::unique_ptr<ReliabilityModel> make_reliability_model(const std::string& name, const NandPart& part,
                                                         const ParameterValues& values);

}  // namespace tlmssd
