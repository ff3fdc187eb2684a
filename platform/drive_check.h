// What can be said against a drive before it is built. The drive checks itself by the same functions when it is built.
#pragma once

#include <memory>

#include "models/nand/reliability/bit_errors.h"
#include "platform/ssd_config.h"

namespace tlmssd {

/// Throws the InputError that building such a drive would throw, without SystemC.
void check_drive(const SsdConfig& config);

// ---- its parts

/// The wrong bits of the dies; null when every bit is read as it was programmed.
std::unique_ptr<BitErrors> make_bit_errors(const SsdConfig& config);
/// Throws InputError when reads may have wrong bits that nothing corrects, or frames do not fit the mapping unit.
void check_decoders(const SsdConfig& config, const firmware::DriveShape& shape);
/// Throws InputError when the DRAM does not hold what firmware needs and one transfer. `cache`: firmware's cache lies there too.
void check_dram(const SsdConfig& config, Bytes firmware, bool cache);

}  // namespace tlmssd
