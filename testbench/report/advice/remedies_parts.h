// Remedies of what is busy, of which those of waits are made.
#pragma once

#include <initializer_list>
#include <string_view>
#include <vector>

#include "testbench/report/advice/remedies.h"

namespace tlmssd {

/// What is busy under `label`, and what is as busy on the same path.
Remedy with_ties(std::string_view label, const MeasuredDrive& drive);

/// The busiest of these, which are known.
Remedy of_busiest(const MeasuredDrive& drive, std::initializer_list<std::string_view> labels);

/// Channels, or the lines that some of them share.
Remedy of_channels(const MeasuredDrive& drive);

/// What dies do.
struct Work {
  Remedy remedy;
  double time = 0;            ///< of the run
  bool takes_its_own = true;  ///< as in Remedy
};

std::vector<Work> works_of_dies(const MeasuredDrive& drive, const Asker& asker);

/// A wait for dies that do these works, shared out among them, and what moves their data.
std::vector<Remedy> shared_out(const MeasuredDrive& drive, const std::vector<Work>& works);

}  // namespace tlmssd
