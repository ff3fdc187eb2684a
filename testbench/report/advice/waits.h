// What waits without a cause of their own come from: for room, in a queue, for a load's own limit.
#pragma once

#include <string>
#include <vector>

#include "testbench/report/advice/remedies.h"

namespace tlmssd {

/// The remedies of a "buffer wait", "cache wait", "load limit", "submission" or "LBA hazard wait":
/// what keeps the busiest resource busy, and what the wait is for itself, the more of that the more
/// time the resource has left.
std::vector<Remedy> of_wait(const std::string& cause, const MeasuredDrive& drive, const Asker& asker);

}  // namespace tlmssd
