// The memory of the host that a drive takes at least, compared with what there is before anything
// of it is made.
#pragma once

#include "models/base/geometry.h"

namespace tlmssd {

/// Bytes that a drive of this shape takes once it is made: its channels and dies. What pages hold
/// comes on top.
Bytes memory_of_drive(const Geometry& geometry);
/// Bytes that so many mapping pages take when they have been written: content, map entry and what
/// the host knows of them.
Bytes memory_of_units(std::uint64_t units);
/// Bytes that this process can have: what the machine or its container (cgroup v2) has left, with
/// swap; the largest number there is when that cannot be found out.
Bytes memory_available();

/// Throws InputError, which says what is needed and what is available, when a drive of this shape
/// of which `units` will be written does not fit.
void check_memory(const Geometry& geometry, std::uint64_t units);

}  // namespace tlmssd
