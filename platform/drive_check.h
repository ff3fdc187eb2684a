// What can be said against a drive before it is built. The drive checks itself by the same
// functions when it is built.
#pragma once

#include <memory>

#include "firmware/base/firmware.h"
#include "models/nand/reliability/bit_errors.h"
#include "platform/ssd_config.h"

namespace tlmssd {

/// Throws InputError, with keys, when values of a configuration that was filled in by hand are out
/// of their parameters' ranges or do not fit each other. A scenario's have been looked at before.
void check_values(const SsdConfig& config);

/// Throws the InputError that building such a drive would throw, without SystemC.
void check_drive(const SsdConfig& config);

// ---- its parts

/// The timing model of `part`, which must outlive it. Throws InputError.
std::unique_ptr<TimingModel> make_timing(const SsdConfig& config, const NandPart& part);
/// The wrong bits of the dies; null when every bit is read as it was programmed.
std::unique_ptr<BitErrors> make_bit_errors(const SsdConfig& config);
/// Our own firmware, or another with a guard in front of it. `hardware` and `shape` must outlive
/// it. Throws InputError.
std::unique_ptr<firmware::Firmware> make_firmware(const SsdConfig& config, firmware::Hardware& hardware,
                                                  const firmware::DriveShape& shape);
/// Why the drive cannot be brought into steady state but by writing it; empty: its firmware can
/// draw it.
[[nodiscard]] std::string steady_only_by_writing(const SsdConfig& config, const firmware::Firmware& firmware);
/// Throws InputError when blocks that have been through `cycles` P/E cycles would wear out in being
/// brought into steady state.
void check_steady(const SsdConfig& config, const firmware::Firmware& firmware, std::uint32_t cycles);

}  // namespace tlmssd
