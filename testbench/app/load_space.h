// What loads are laid onto: the drive, or what the host's software leaves of it. Known before
// anything is built.
#pragma once

#include "platform/ssd_config.h"
#include "testbench/app/simulation.h"
#include "testbench/host/drive_port.h"
#include "testbench/loads/requests/placement.h"

namespace tlmssd {

/// The drive as software of the host sees it.
AttachedDrive attached_drive(const SsdConfig& config, const firmware::DriveShape& shape);

struct LoadSpace {
  DriveSize drive;           ///< what loads see as their drive
  DriveSize files;           ///< the network's files; empty without a file cache
  std::uint32_t queues = 1;  ///< of the drive, for the host
  Bytes unit = 0;  ///< what is written as a whole: the mapping page, or a log-structured host layer's grain
  bool idle_work = false;  ///< firmware has something to do in idle time
};
/// Throws InputError when the host's software does not fit the drive.
LoadSpace load_space(const SsdConfig& config, const SimulationConfig& simulation);

}  // namespace tlmssd
