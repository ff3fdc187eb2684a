// The targets that a scenario sets.
#pragma once

#include <vector>

#include "platform/scenario/scenario.h"
#include "platform/ssd_config.h"
#include "testbench/app/simulation.h"
#include "testbench/loads/load.h"
#include "testbench/report/targets.h"

namespace tlmssd {

/// All of them, in the scenario's order. Throws InputError, or InputErrors for several entries.
std::vector<Target> read_targets(const Scenario& scenario, const std::vector<Load>& loads,
                                 const SsdConfig& drive, const SimulationConfig& simulation);

}  // namespace tlmssd
