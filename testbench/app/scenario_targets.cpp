#include "testbench/app/scenario_targets.h"

#include <fmt/format.h>

#include "models/base/chosen_policy.h"
#include "models/base/input_error.h"
#include "testbench/app/scenario_catalogue.h"

namespace tlmssd {

std::vector<Target> read_targets(const Scenario& scenario, const std::vector<Load>& loads,
                                 const SsdConfig& drive, const SimulationConfig& simulation) {
  TargetRun run;
  for (const Load& load : loads) run.loads.push_back({load.name, load.job, load.operations});
  run.timed = RunSection::parameters().read(scenario.values("run")).timed;
  run.pslc = drive.foreign_firmware() || is_chosen(drive.firmware.pslc.policy);
  run.relayed = simulation.log_structured.has_value() || simulation.file_cache.has_value();
  std::vector<Target> targets;
  ErrorList errors;
  for (std::size_t i = 0; i < scenario.count("targets"); ++i) {
    const std::string path = fmt::format("targets.{}", i);
    const TargetSection section = TargetSection::parameters().read(scenario.values(path));
    errors.attempt([&] { located(scenario, path, [&] { targets.emplace_back(section, run); }); });
  }
  errors.throw_if_any();
  return targets;
}

}  // namespace tlmssd
