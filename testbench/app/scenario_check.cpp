#include "testbench/app/scenario_check.h"

#include <algorithm>
#include <fmt/format.h>
#include <string_view>

#include "models/base/chosen_policy.h"
#include "models/base/input_error.h"
#include "models/base/input_file.h"
#include "platform/drive_check.h"
#include "platform/plugins/loader.h"
#include "platform/scenario/advice.h"
#include "platform/scenario/overlay.h"
#include "platform/scenario/yaml_text.h"
#include "testbench/app/age.h"
#include "testbench/app/scenario_catalogue.h"
#include "testbench/app/scenario_loads.h"
#include "testbench/app/scenario_targets.h"
#include "testbench/app/scenarios_folder.h"

namespace tlmssd {

namespace {

bool is_log_structured(const Scenario& scenario) {
  return scenario.has("log_structured") &&
         is_chosen(LogStructuredChoice::parameters().read(scenario.values("log_structured")).policy);
}

/// The section `log_structured`; nothing when there is none.
std::optional<LogStructuredConfig> read_log_structured(const Scenario& scenario) {
  if (!is_log_structured(scenario)) return {};
  return LogStructuredConfig::parameters().read(scenario.values("log_structured"));
}

/// The section `file_cache`; nothing when there is none.
std::optional<FileCacheConfig> read_file_cache(const Scenario& scenario) {
  if (!scenario.has("file_cache")) return {};
  FileCacheConfig config = FileCacheConfig::parameters().read(scenario.values("file_cache"));
  config.admission = scenario.policy("file_cache");
  config.admission_policy = borrowed(scenario.values("file_cache"));
  if (scenario.has("file_cache.apps"))
    config.apps = AppFilesConfig::parameters().read(scenario.values("file_cache.apps"));
  config.seed = scenario.seed();
  return config;
}

/// The section `contents`; nothing when all data differ.
std::optional<ContentsConfig> read_contents(const Scenario& scenario) {
  if (!scenario.has("contents")) return {};
  ContentsConfig config = ContentsConfig::parameters().read(scenario.values("contents"));
  config.seed = scenario.seed();
  if (config.duplicates == 0) return {};
  for (const char* software : {"log_structured", "file_cache"}) {
    if (!scenario.has(software) ||
        (software == std::string_view("log_structured") && !is_log_structured(scenario)))
      continue;
    throw scenario.complaint(
        "contents",
        refusal("duplicates", fmt::format("{} writes data of its own, which are never the same", software),
                "0"));
  }
  return config;
}

/// Blocks cannot have more cycles behind them than their erases: an age beyond the endurance is
/// none.
void check_age(const Scenario& scenario, std::uint32_t endurance) {
  const std::uint32_t cycles = AgeConfig::parameters().read(scenario.values("age")).cycles;
  if (endurance == 0 || cycles <= endurance) return;
  throw scenario.complaint(
      "age", refusal("cycles",
                     fmt::format("{} are more than the {} after which a block's erase fails and it is taken "
                                 "out of use (ssd.flash.part.endurance; 0: never)",
                                 cycles, endurance),
                     std::to_string(endurance)));
}

/// What building the run would throw, without building it.
std::vector<InputError> refusals(const Scenario& scenario, const RunOptions& options, bool loads) {
  ErrorList errors;
  std::optional<SsdConfig> drive;
  std::optional<SimulationConfig> simulation;
  errors.attempt([&] { drive = read_drive(scenario, options); });
  errors.attempt([&] { simulation = read_simulation(scenario); });
  if (drive) errors.attempt([&] { located(scenario, "ssd", [&] { check_drive(*drive); }); });
  if (!errors.empty()) return errors.errors();
  std::optional<LoadSpace> space;
  errors.attempt([&] { located(scenario, "ssd", [&] { space = load_space(*drive, *simulation); }); });
  if (!space || !loads) return errors.errors();
  const ScenarioLoads made(scenario, *space, options.short_form);
  if (options.from_snapshot.empty()) errors.attempt([&] { made.check_steps(); });
  std::vector<Load> all;
  errors.attempt([&] { all = made.make_all().loads; });
  errors.attempt([&] { static_cast<void>(read_targets(scenario, all, *drive, *simulation)); });
  return errors.errors();
}

std::string yaml_list(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "[" : ", ") + yaml_text(name);
  return list + "]";
}

/// Those that the scenario names, and those that were loaded without it; empty: there are none of
/// these. The resolved scenario names all of them, without folders: a report is the same wherever
/// they lie.
std::string all_plugins(const std::vector<std::string>& named) {
  std::vector<std::string> all = named;
  for (const LoadedPlugin& plugin : loaded_plugins()) {
    const std::string file = name_in_reports(plugin.file);
    const bool known = std::any_of(named.begin(), named.end(),
                                   [&](const std::string& name) { return name_in_reports(name) == file; });
    if (!known) all.push_back(file);
  }
  return all.size() == named.size() ? std::string() : yaml_list(all);
}

}  // namespace

ScenarioSource::ScenarioSource(const RunOptions& options)
    : options_(options), texts_(std::make_shared<std::map<std::string, std::optional<std::string>>>()) {}

Scenario ScenarioSource::read(const std::vector<std::string>& settings) const {
  ReadOptions reading;
  reading.folders = {scenarios_folder().string()};
  reading.on_disk = true;
  reading.open = [texts = texts_](const std::string& path) {
    auto known = texts->find(path);
    if (known == texts->end()) known = texts->emplace(path, read_text_file(path)).first;
    return known->second;
  };
  std::vector<std::string> overrides = options_.overrides;
  overrides.insert(overrides.end(), settings.begin(), settings.end());
  const auto read_it = [&] {
    if (options_.scenario_text.empty())
      return read_scenario(options_.scenario, scenario_catalogue(), overrides, reading);
    return parse_scenario(options_.scenario_text, options_.scenario, scenario_catalogue(), overrides,
                          reading);
  };
  Scenario scenario = read_it();
  const std::string plugins = all_plugins(scenario.plugins());
  if (plugins.empty()) return scenario;
  overrides.push_back("plugins=" + plugins);
  return read_it();
}

std::vector<std::string> ScenarioSource::files() const {
  std::vector<std::string> files;
  for (const auto& [path, text] : *texts_) {
    if (text) files.push_back(path);
  }
  return files;
}

std::string ScenarioSource::resolved_yaml(const Scenario& scenario, FileNames names) const {
  std::vector<std::string> settings;
  std::vector<std::string> plugins;
  for (const LoadedPlugin& plugin : loaded_plugins()) {
    plugins.push_back(names == FileNames::portable ? name_in_reports(plugin.file) : plugin.file);
  }
  if (!plugins.empty()) settings.push_back("plugins=" + yaml_list(plugins));
  if (names == FileNames::full) {
    for (const LoadFile& file : files_beside(scenario))
      settings.push_back(file.key + "=" + yaml_text(file.path));
  }
  return settings.empty() ? scenario.resolved_yaml() : read(settings).resolved_yaml();
}

SsdConfig read_drive(const Scenario& scenario, const RunOptions& options) {
  SsdConfig config = SsdConfig::from(scenario);
  if (!options.from_snapshot.empty()) return config;
  check_age(scenario, config.part.endurance);
  for (std::size_t i = 0; i < scenario.count("precondition"); ++i) {
    const PreconditionStep step = read_step(scenario, i);
    if (step.to_steady_state() && !is_log_structured(scenario))  // which would write it
      config.steady_after = AgeConfig::parameters().read(scenario.values("age")).cycles;
  }
  return config;
}

SimulationConfig read_simulation(const Scenario& scenario) {
  const RunSection run = RunSection::parameters().read(scenario.values("run"));
  if (SteadyConfig::read(scenario.values("run")).wanted() && !run.timed) {
    throw scenario.complaint(
        "run", refusal("until", "takes simulated time, which run.timed: false does without", "end"));
  }
  SimulationConfig config;
  config.quantum = run.quantum;
  config.stall_after = run.stall_after;
  config.log_structured = read_log_structured(scenario);
  config.file_cache = read_file_cache(scenario);
  config.contents = read_contents(scenario);
  located(scenario, "file_cache", [&] { config.check(); });
  return config;
}

void throw_advised(const ScenarioSource& source, const InputError& original) {
  for (const InputError& error : errors_of(original)) {
    if (error.complaint().blame != Blame::input) throw InputError(error);
  }
  const Scenario scenario = source.read();
  const auto examine = [&](const std::vector<std::string>& settings, bool loads) {
    try {
      return refusals(source.read(settings), source.options(), loads);
    } catch (const InputError& error) {
      return errors_of(error);
    }
  };
  ErrorList errors;
  for (const InputError& error : advised_errors(scenario, examine)) errors.add(error);
  errors.throw_if_any();
  throw InputError(original);
}

}  // namespace tlmssd
