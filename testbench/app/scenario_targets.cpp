#include "testbench/app/scenario_targets.h"

#include <fmt/format.h>

#include "models/base/input_error.h"
#include "testbench/app/scenario_catalogue.h"

namespace tlmssd {

std::vector<Target> read_targets(const Scenario& scenario, const std::vector<Load>& loads) {
  std::vector<TargetLoad> names;
  for (const Load& load : loads) names.push_back({load.name, load.job});
  const bool timed = RunSection::parameters().read(scenario.values("run")).timed;
  std::vector<Target> targets;
  ErrorList errors;
  for (std::size_t i = 0; i < scenario.count("targets"); ++i) {
    const std::string path = fmt::format("targets.{}", i);
    const TargetSection section = TargetSection::parameters().read(scenario.values(path));
    errors.attempt([&] { located(scenario, path, [&] { targets.emplace_back(section, names, timed); }); });
  }
  errors.throw_if_any();
  return targets;
}

}  // namespace tlmssd
