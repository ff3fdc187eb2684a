// The memory of the host that a drive takes at least, compared with what there is before anything
// of it is made.
#pragma once

#include "models/base/geometry.h"

namespace tlmssd {

/// Bytes that a drive of this shape takes once it is made: its channels and dies. What pages hold
/// comes on top.
Bytes memory_of_drive(const Geometry& geometry);
/// Bytes that so many mapping pages take that have been written, and so many that flash holds of
/// them, valid or not.
Bytes memory_of_units(double mapped, double programmed);
/// Bytes that this process can have: what the machine or its container (cgroup v2) has left, with
/// swap; the largest number there is when that cannot be found out.
Bytes memory_available();

/// Throws InputError, which says what is needed and what is available, when a drive of this shape
/// does not fit.
void check_memory(const Geometry& geometry);
/// The same of mapping pages that will be written, on a drive that is made.
void check_memory_of_units(double mapped, double programmed);

}  // namespace tlmssd
