// What a drive has been through before the measurement that no simulation could live through: wear
// and time.
//
// Cycles count before the drive is preconditioned, so that its data are written to worn blocks;
// rest and reads come after it, so that the data age. One scenario is one point on a life-time
// curve. Rests between writes are steps of preconditioning (PreconditionStep::rest).
#pragma once

#include <string>

#include "models/base/parameters.h"

namespace tlmssd {

/// The scenario's section `age`.
struct AgeConfig {
  std::uint32_t cycles = 0;                                  ///< P/E cycles of every block
  double retention = 0;                                      ///< seconds
  double temperature = 40;                                   ///< degrees Celsius, of that time
  bool powered = false;                                      ///< the firmware patrols and refreshes meanwhile
  std::uint32_t reads = 0;                                   ///< of every page that holds data
  static constexpr double k_longest = 100 * 365.0 * 86'400;  ///< seconds of rest
  static constexpr std::uint32_t k_most_reads = 100'000'000;
  static const ParameterTable<AgeConfig>& parameters();
};

/// The same in one line ("2000 cycles, 6 d at 40 C"); empty when there is nothing to tell.
std::string age_text(const AgeConfig& age);

}  // namespace tlmssd
