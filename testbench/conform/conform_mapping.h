// The conformance kit for mapping schemes.
#pragma once

#include "firmware/mapping/mapping.h"
#include "testbench/conform/conformance.h"

namespace tlmssd {

using MakeMapping = std::function<std::unique_ptr<firmware::MappingScheme>(const firmware::Layout&)>;

/// Random updates and look-ups of a scheme that keeps a place for every unit in DRAM, beside a
/// table of one's own: nothing is lost or mixed up, across a snapshot and the loss of power, and a
/// look-up costs little. Schemes that place runs of units, have log blocks or keep their table in
/// flash act only together with the rest of the firmware: of these it checks what they say of
/// themselves, and whole drives are their test.
Conformance conform_mapping(const MakeMapping& make, std::uint64_t seed = 1);

}  // namespace tlmssd
