// Of what commands spend on the host link and on memory, what is no matter of bandwidth.
#pragma once

#include <string>
#include <vector>

#include "testbench/report/advice/remedies.h"

namespace tlmssd {

/// `rest`, which is the remedy of `cause`, behind the latencies that are a part of that; the
/// `share` of each.
std::vector<Remedy> with_latencies(const std::string& cause, Remedy rest, const MeasuredDrive& drive,
                                   const Asker& asker);

}  // namespace tlmssd
