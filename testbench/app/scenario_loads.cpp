#include "testbench/app/scenario_loads.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <utility>

#include "models/base/input_error.h"
#include "models/base/suggest.h"
#include "testbench/host/load_instants.h"
#include "testbench/report/steadiness.h"

namespace tlmssd {

namespace {

/// Requests of a load, and writes of a preconditioning step as a share of its region, in the short
/// form.
constexpr std::uint64_t k_short_requests = 20'000;
constexpr double k_short_overwrite = 0.1;
constexpr double k_short_round = 0.02;
/// Overwrites that settle a drive, as a share of its capacity.
constexpr double k_settling_overwrites = 2;

namespace fs = std::filesystem;

/// The file or folder that a load names, and by which word; empty: none.
struct NamedFile {
  const char* key;
  const std::string& name;
};
NamedFile file_of(const LoadConfig& load) {
  if (!load.kind.trace.empty()) return {"trace", load.kind.trace};
  if (!load.kind.fio.empty()) return {"fio", load.kind.fio};
  return {"traces_folder", load.profile.traces_folder};
}

/// The folder in which `file` lies: `folder`, or the one that TLMSSD_TRACES names.
std::string folder_with(const std::string& folder, const std::string& file, const char* key) {
  const auto missing = [key](const std::string& text) { return objection(key, text); };
  const fs::path own = fs::path(folder) / file;
  if (file.empty() || fs::path(file).is_absolute() || fs::exists(own)) return folder;
  const char* traces = std::getenv("TLMSSD_TRACES");
  if (traces == nullptr || *traces == '\0') {
    throw missing(fmt::format("there is no file {}; TLMSSD_TRACES may name a folder of traces to look in",
                              own.string()));
  }
  if (fs::exists(fs::path(traces) / file)) return traces;
  throw missing(fmt::format("there is no file {}, nor {} (where TLMSSD_TRACES points)", own.string(),
                            (fs::path(traces) / file).string()));
}

std::string folder_of(const LoadConfig& load, const Scenario& scenario) {
  const auto [key, file] = file_of(load);
  return folder_with(scenario.folder(), file, key);
}

/// The phase that comes after all loads there are so far.
std::uint32_t phase_after(const std::vector<Load>& loads) {
  std::uint32_t phase = 0;
  for (const Load& load : loads) phase = std::max(phase, load.phase + 1);
  return phase;
}

}  // namespace

std::string found_file(const std::string& folder, const std::string& file, const char* key) {
  return (fs::path(folder_with(folder, file, key)) / file).string();
}

PreconditionStep read_step(const Scenario& scenario, std::size_t number) {
  return PreconditionStep::read(scenario.values(fmt::format("precondition.{}", number)));
}

LoadConfig read_load(const Scenario& scenario, std::size_t number) {
  const std::string path = fmt::format("load.{}", number);
  const std::string columns = path + ".columns";
  return LoadConfig::read(scenario.values(path), scenario.has(columns) ? &scenario.values(columns) : nullptr);
}

std::vector<LoadFile> files_beside(const Scenario& scenario) {
  std::vector<LoadFile> files;
  for (std::size_t i = 0; i < scenario.count("load"); ++i) {
    const LoadConfig load = read_load(scenario, i);
    const auto [key, name] = file_of(load);
    const fs::path file = fs::path(scenario.folder()) / name;
    if (name.empty() || fs::path(name).is_absolute() || !fs::exists(file)) continue;
    files.push_back({fmt::format("load.{}.{}", i, key), fs::absolute(file).lexically_normal().string()});
  }
  return files;
}

/// What the load's addresses are.
const DriveSize& ScenarioLoads::addresses_of(const LoadConfig& load) const {
  if (load.kind.target == "drive") return space_.drive;
  if (space_.files.bytes == 0)
    throw refusal("target", "there are no files without the section file_cache", "drive");
  return space_.files;
}

void ScenarioLoads::shorten(Load& load) const {
  if (!short_form_) return;
  load.requests = load.requests == 0 ? k_short_requests : std::min(load.requests, k_short_requests);
  load.warm_up = std::min(load.warm_up, k_short_requests);
  load.ramp_time = 0;
  load.ramp_requests = 0;
}

/// The loads of one entry. Their names stand for their random streams, too: a default name that an
/// entry before has is numbered, so that two entries without a name do not ask for the same
/// addresses in step. A given name may be given once.
std::vector<Load> ScenarioLoads::named_apart(LoadConfig config, const std::vector<Load>& before) const {
  const std::string folder = folder_of(config, scenario_);
  const bool named = !config.kind.name.empty();
  std::string base;
  const auto taken = [&before](const Load& load) {
    return std::any_of(before.begin(), before.end(), [&](const Load& l) { return l.name == load.name; });
  };
  for (int number = 2;; ++number) {
    std::vector<Load> loads = make_loads(config, addresses_of(config), scenario_.seed(), folder);
    const auto twice = std::find_if(loads.begin(), loads.end(), taken);
    if (twice == loads.end()) {
      if (!named || number == 2) return loads;
      throw refusal("name",
                    in_quotes(base) + " is the name of an earlier load, whose random stream it would share",
                    config.kind.name);
    }
    if (base.empty() && named) {
      base = config.kind.name;
    } else if (base.empty()) {
      const bool recorded = !config.kind.trace.empty() || !config.kind.profile.empty();
      base = recorded || config.source != nullptr ? loads.front().name
             : config.kind.fio.empty()            ? "load"
                                                  : "jobs";
    }
    config.kind.name = fmt::format("{} {}", base, number);
  }
}

/// How many requests fit into a `size` is not known before they are drawn, when their lengths are:
/// draws those that the warm-up would take from loads of their own, up to a limit; a longer one is
/// found out when it is carried out.
void ScenarioLoads::check_warm_up(const LoadConfig& config) const {
  for (Load& load :
       make_loads(config, addresses_of(config), scenario_.seed(), folder_of(config, scenario_))) {
    shorten(load);
    std::uint64_t drawn = 0;
    PlacedRequest request;
    const std::uint64_t looked_at = std::min(load.warm_up, k_drawn_ahead);
    while (drawn < looked_at && load.source->next(request)) ++drawn;
    if (drawn < looked_at) throw warm_up_takes_all(load.warm_up, drawn);
  }
}

/// A made load that says nothing of its end goes on as long as it is asked for.
void ScenarioLoads::let_go_on(LoadConfig& config) const {
  GeneratorConfig& made = config.generator;
  const bool generator = config.kind.trace.empty() && config.kind.fio.empty() &&
                         config.kind.profile.empty() && config.source == nullptr;
  if (until_steady_ && generator && made.number_ios == 0 && made.io_size.empty() && !made.time_based)
    made.loops = std::max(made.loops, k_endless_loops);
}

void ScenarioLoads::make_entry(std::size_t number, std::uint32_t& phase, Made& made) const {
  LoadConfig config = read_load(scenario_, number);
  if (config.kind.queue >= static_cast<std::int64_t>(space_.queues)) {
    throw refusal("queue",
                  fmt::format("{} is not a queue of the drive, which has {}, numbered from 0",
                              config.kind.queue, space_.queues),
                  std::to_string(space_.queues - 1));
  }
  let_go_on(config);
  if (config.kind.stonewall) phase = phase_after(made.loads);
  std::vector<Load> loads = named_apart(config, made.loads);
  const bool counted = !config.kind.trace.empty() || !config.kind.profile.empty();
  if (!counted && std::any_of(loads.begin(), loads.end(), [](const Load& load) { return load.warm_up > 0; }))
    check_warm_up(config);
  const bool job_file = !config.kind.fio.empty();  // its warnings have a line, and may be of any job
  for (Load& load : loads) {
    for (const std::string& warning : load.warnings)
      made.warnings.push_back(job_file ? warning : load.name + ": " + warning);
    shorten(load);
    if (load.endless() && !timed_) {
      throw refusal("time_based",
                    load.name + " would never end, because no time passes with run.timed: false", "false");
    }
    load.phase += phase;
    made.loads.push_back(std::move(load));
    made.entries.push_back(number);
  }
}

ScenarioLoads::Made ScenarioLoads::make_all() const {
  Made made;
  ErrorList errors;
  std::uint32_t phase = 0;  // in which an entry begins; a job file counts phases of its own from there
  for (std::size_t i = 0; i < scenario_.count("load"); ++i) {
    errors.attempt(
        [&] { located(scenario_, fmt::format("load.{}", i), [&] { make_entry(i, phase, made); }); });
  }
  errors.throw_if_any();
  return made;
}

std::vector<std::string> ScenarioLoads::files() const {
  std::vector<std::string> files;
  for (std::size_t i = 0; i < scenario_.count("load"); ++i) {
    const LoadConfig load = read_load(scenario_, i);
    const std::string& file = load.kind.trace.empty() ? load.kind.fio : load.kind.trace;
    if (!file.empty()) files.push_back((std::filesystem::path(folder_of(load, scenario_)) / file).string());
  }
  return files;
}

PreconditionStep ScenarioLoads::read_step(std::size_t number) const {
  PreconditionStep step = tlmssd::read_step(scenario_, number);
  if (!short_form_) return step;
  step.overwrite = std::min(step.overwrite, k_short_overwrite);
  step.steady.round = std::min(step.steady.round, k_short_round);
  step.steady.most_rounds = k_pts_rounds;
  return step;
}

std::vector<Load> ScenarioLoads::make_steady(std::size_t number) const {
  return make_steady_load(read_step(number), number, space_.drive, space_.unit, scenario_.seed());
}

double ScenarioLoads::settling_overwrites() const {
  return short_form_ ? k_short_overwrite : k_settling_overwrites;
}

std::vector<Load> ScenarioLoads::make_settling(std::size_t number) const {
  return make_settling_loads(settling_overwrites(), number, space_.drive, space_.unit, scenario_.seed());
}

std::vector<Load> ScenarioLoads::make_step(std::size_t number) const {
  const PreconditionStep step = read_step(number);
  return located(scenario_, fmt::format("precondition.{}", number), [&] {
    if (step.idle && !space_.idle_work) {
      PreconditionStep busy = step;
      busy.idle = false;
      const std::string key = fmt::format("precondition.{}.idle", number);
      throw refusal(
          key, "the firmware does nothing in idle time (firmware.gc.idle_after is 0)",
          busy.does_something() ? Proposal{key, "false"} : Proposal{"firmware.gc.idle_after", "100 ms"});
    }
    if (step.idle && step.sustained) {
      throw refusal(fmt::format("precondition.{}.sustained", number),
                    "the host never pauses, and with idle: true it does", "false");
    }
    if (step.rest > 0 && step.sustained) {
      throw refusal(fmt::format("precondition.{}.sustained", number),
                    "the host never pauses, and with a rest it does", "false");
    }
    if (step.to_steady_state() && space_.files.bytes > 0) {
      throw refusal_of_state(
          step, number,
          "steady is that of a drive that is overwritten at random, and the file cache writes it");
    }
    if (step.steady.wanted() && step.steady.looks_at_reads()) {
      throw refusal(fmt::format("precondition.{}.metric", number),
                    "a step does not read, so that no round would ever be steady", "write_bandwidth");
    }
    return make_precondition_loads(step, number, space_.drive, space_.unit, scenario_.seed());
  });
}

void ScenarioLoads::check_steps() const {
  ErrorList errors;
  for (std::size_t i = 0; i < scenario_.count("precondition"); ++i)
    errors.attempt([&] {
      static_cast<void>(make_step(i));
      located(scenario_, fmt::format("precondition.{}", i), [&] { static_cast<void>(make_steady(i)); });
    });
  errors.throw_if_any();
}

}  // namespace tlmssd
