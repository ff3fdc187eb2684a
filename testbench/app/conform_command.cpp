// `tlmssd conform timing acme`: the conformance kit from the command line.
#include <algorithm>
#include <array>
#include <filesystem>
#include <fmt/format.h>
#include <iostream>

#include "models/base/input_error.h"
#include "models/base/suggest.h"
#include "models/nand/reliability/reliability_model.h"
#include "models/nand/timing/timing_model.h"
#include "platform/plugins/loader.h"
#include "platform/ssd_config.h"
#include "testbench/app/commands.h"
#include "testbench/app/scenario_catalogue.h"
#include "testbench/app/scenarios_folder.h"
#include "testbench/conform/conform_victims.h"
#include "testbench/conform/whole_run.h"

namespace tlmssd {

namespace {

/// The scenario's section in which a policy of the family is chosen.
struct Family {
  const char* name;
  const char* section;
  const char* key;
  const char* also;  ///< a setting without which the policy has nothing to do; or ""
  Conformance (*of_its_own)(const Scenario& scenario, const std::string& policy);  ///< null: whole runs only
};

Conformance of_timing(const Scenario& scenario, const std::string& policy) {
  const NandPart part = SsdConfig::from(scenario).part;
  const ParameterValues& values = scenario.values("ssd.flash.part");
  return conform_timing([&] { return timing_models().make(policy, values, part); }, part, scenario.seed());
}

Conformance of_reliability(const Scenario& scenario, const std::string& policy) {
  const NandPart part = SsdConfig::from(scenario).part;
  const ParameterValues& values = scenario.values("ssd.flash.reliability");
  return conform_reliability([&] { return reliability_models().make(policy, values, part); }, part,
                             scenario.seed());
}

Conformance of_victims(const Scenario& scenario, const std::string& policy) {
  const ParameterValues& values = scenario.values("firmware.gc");
  return conform_victims(
      [&](const firmware::VictimContext& context) {
        return firmware::victim_family().make(policy, values, context);
      },
      scenario.seed());
}

constexpr std::array<Family, 11> k_families{{
    {"timing", "ssd.flash.part", "timing", "", of_timing},
    {"reliability", "ssd.flash.reliability", "model", "firmware.ecc.policy=conventional", of_reliability},
    {"victim", "firmware.gc", "policy", "", of_victims},
    {"wear", "firmware.wear", "policy", "", nullptr},
    {"cache", "firmware.cache", "policy", "", nullptr},
    {"scheduling", "ssd.flash.scheduling", "policy", "", nullptr},
    {"mapping", "firmware.mapping", "scheme", "", nullptr},
    {"ecc", "firmware.ecc", "policy", "", nullptr},
    {"refresh", "firmware.refresh", "policy", "firmware.ecc.policy=conventional", nullptr},
    {"pass-voltage", "firmware.pass_voltage", "policy", "firmware.ecc.policy=conventional", nullptr},
    {"pslc", "firmware.pslc", "policy", "", nullptr},
}};

const Family& family_of(const std::string& name) {
  std::vector<std::string> names;
  for (const Family& family : k_families) {
    if (name == family.name) return family;
    names.emplace_back(family.name);
  }
  const std::string hint = did_you_mean(name, names);
  throw InputError("conform knows no family " + in_quotes(name) +
                   (hint.empty() ? "; there is " + any_of(names) : hint));
}

std::vector<std::string> settings_of(const Family& family, const ConformOptions& options) {
  std::vector<std::string> settings;
  if (!options.part.empty()) settings.push_back("ssd.flash.part.file=" + options.part);
  if (*family.also != '\0') settings.emplace_back(family.also);
  settings.push_back(fmt::format("{}.{}={}", family.section, family.key, options.policy));
  settings.insert(settings.end(), options.overrides.begin(), options.overrides.end());
  return settings;
}

/// The program that is running, which may be one that links the library.
std::string program_file() {
  return std::filesystem::read_symlink("/proc/self/exe").string();
}

}  // namespace

int conform_command(const ConformOptions& options) {
  const Family& family = family_of(options.family);
  const std::vector<std::string> settings = settings_of(family, options);
  ReadOptions reading;
  reading.folders = {scenarios_folder().string()};
  // The family's own contract first: it says more clearly what is wrong than a drive would.
  const Scenario scenario = parse_scenario("title: conform\nload: {rw: read}\n", "conform",
                                           scenario_catalogue(), settings, reading);
  Conformance found;
  if (family.of_its_own != nullptr) found = family.of_its_own(scenario, options.policy);
  if (found.passed() && !options.quick) {
    WholeRunOptions runs{program_file(), {}, settings};
    for (const LoadedPlugin& plugin : loaded_plugins()) runs.plugins.push_back(plugin.file);
    found.add(conform_whole_runs(runs));
  }
  std::cout << found.text();
  const auto wrong =
      std::count_if(found.findings().begin(), found.findings().end(),
                    [](const Conformance::Finding& finding) { return !finding.wrong.empty(); });
  std::cout << fmt::format("{} {}: {} of {} checks failed\n", options.family, options.policy, wrong,
                           found.findings().size());
  return found.passed() ? k_exit_ok : k_exit_internal;
}

}  // namespace tlmssd
