// Static allocation orders: in which order consecutive host program units go round the parallel
// units.
//
// An order is a permutation of the letters C (channel), W (way), D (die), P (plane); the first
// letter varies fastest (Hu et al., ICS 2011; Tavakkol et al., ToMPECS 2016). With multi-plane
// operation the planes are inside the parallel unit and P has no effect.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "firmware/base/layout.h"

namespace tlmssd::firmware {

/// All 24 orders, sorted.
const std::vector<std::string>& allocation_orders();

/// Parallel unit numbers in the order in which they take program units; each appears once. Throws
/// InputError on an unknown order.
std::vector<std::uint32_t> allocation_sequence(std::string_view order, const Geometry& geometry,
                                               const Layout& layout);

}  // namespace tlmssd::firmware
