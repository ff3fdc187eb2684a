// Instants at which a load issues: sums that cannot overflow, and the last that can be counted.
#pragma once

#include <vector>

#include "testbench/loads/load.h"

namespace tlmssd {

/// `when` and `by` together; k_never where that is beyond all instants.
inline Picoseconds later(Picoseconds when, Picoseconds by) {
  return by > k_never - when ? k_never : when + by;
}

/// Requests come no later, so that sums of two times stay numbers: 53 days.
constexpr Picoseconds k_last_request = (Picoseconds{1} << 62) - 1;

/// Throws InputError when `load` would issue later than k_last_request.
void check_instant(const Load& load, Picoseconds when);

/// Throws what HostDriver::start() would throw in time about loads that go on longer than time can
/// be counted, as far as it follows from the loads alone: on a drive that takes no time. Draws
/// their requests: afterwards they cannot be run.
void look_ahead(std::vector<Load>& loads);

}  // namespace tlmssd
