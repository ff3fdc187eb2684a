// The conformance kit for error correcting codes.
#pragma once

#include "models/flash/ecc/ecc_config.h"
#include "testbench/conform/conformance.h"

namespace tlmssd {

/// Of a code as a scenario has it, for frames of so many bits: its probability of failure is one,
/// depends on the number of wrong bits alone, never falls with it, and goes from nearly 0 to nearly
/// 1; its decoder gets somewhere.
Conformance conform_ecc_code(const CodeConfig& code, std::uint32_t frame_bits);

}  // namespace tlmssd
