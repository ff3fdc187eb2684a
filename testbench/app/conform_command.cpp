// `tlmssd conform timing acme`: the conformance kit from the command line.
#include <algorithm>
#include <array>
#include <filesystem>
#include <fmt/format.h>
#include <iostream>
#include <map>
#include <memory>
#include <optional>

#include "firmware/core/feature_info.h"
#include "models/base/input_error.h"
#include "models/base/random.h"
#include "models/base/suggest.h"
#include "models/flash/scheduling/scheduler.h"
#include "models/memory/dram.h"
#include "models/memory/foreign_memory.h"
#include "models/memory/scm.h"
#include "models/nand/reliability/reliability_model.h"
#include "models/nand/timing/timing_model.h"
#include "models/tlm/kernel_time.h"
#include "platform/plugins/loader.h"
#include "platform/ssd_config.h"
#include "testbench/app/commands.h"
#include "testbench/app/scenario_catalogue.h"
#include "testbench/app/scenarios_folder.h"
#include "testbench/app/simulation.h"
#include "testbench/conform/conform_ecc_code.h"
#include "testbench/conform/conform_ecc_policy.h"
#include "testbench/conform/conform_error_prediction.h"
#include "testbench/conform/conform_mapping.h"
#include "testbench/conform/conform_memory.h"
#include "testbench/conform/conform_scheduling.h"
#include "testbench/conform/conform_victims.h"
#include "testbench/conform/whole_run.h"

namespace tlmssd {

namespace {

/// The scenario's section in which a policy of the family is chosen.
struct Family {
  const char* name;
  std::string section;
  const char* key;
  std::vector<std::string> also;  ///< settings without which the policy has nothing to do
  Conformance (*of_its_own)(const Scenario& scenario, const std::string& policy);  ///< null: whole runs only
};

/// Every number of a policy a quarter larger or, at the end of its range, smaller.
class OtherValues final : public ParameterValues {
 public:
  OtherValues(const ParameterValues& values, const PolicyInfo& policy) : values_(values) {
    for (const ParameterSpec& spec : policy.parameters) {
      const Value* const given = values.find(spec.name);
      if (given == nullptr && (spec.required || spec.optional)) continue;
      if (auto other = changed(given != nullptr ? *given : spec.fallback, spec)) changed_[spec.name] = *other;
    }
  }
  [[nodiscard]] const Value* find(std::string_view name) const override {
    const auto found = changed_.find(std::string(name));
    return found != changed_.end() ? &found->second : values_.find(name);
  }

 private:
  static std::optional<Value> changed(const Value& value, const ParameterSpec& spec) {
    const auto fits = [&](double number) { return number >= spec.minimum && number <= spec.maximum; };
    if (const auto* const whole = std::get_if<std::int64_t>(&value)) {
      const std::int64_t step = std::max<std::int64_t>(1, *whole / 4);
      for (const std::int64_t other : {*whole + step, *whole - step})
        if (fits(static_cast<double>(other))) return Value(other);
    } else if (const auto* const real = std::get_if<double>(&value)) {
      for (const double other : {*real * 1.25, *real * 0.75})
        if (other != *real && fits(other)) return Value(other);
    }
    return {};
  }

  const ParameterValues& values_;
  std::map<std::string, Value> changed_;
};

/// The part, everything of it slower.
NandPart slower(NandPart part) {
  for (Picoseconds& time : part.read_latency) time += time / 4;
  for (Picoseconds& time : part.program_latency) time += time / 4;
  part.erase_latency += part.erase_latency / 4;
  return part;
}

Conformance of_timing(const Scenario& scenario, const std::string& policy) {
  const NandPart part = SsdConfig::from(scenario).part;
  const NandPart other_part = slower(part);
  const ParameterValues& values = scenario.values("ssd.flash.part");
  const OtherValues others(values, *timing_models().find(policy));
  return conform_timing([&] { return timing_models().make(policy, values, part); }, part, scenario.seed(),
                        [&] { return timing_models().make(policy, others, other_part); });
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

Conformance of_scheduling(const Scenario& scenario, const std::string& policy) {
  const ParameterValues& values = scenario.values("ssd.flash.scheduling");
  return conform_scheduling([&] { return schedulers().make(policy, values); }, scenario.seed());
}

Conformance of_mapping(const Scenario& scenario, const std::string& policy) {
  const ParameterValues& values = scenario.values("firmware.mapping");
  return conform_mapping(
      [&](const firmware::Layout& layout) { return firmware::mapping_family().make(policy, values, layout); },
      scenario.seed());
}

Conformance of_ecc_policy(const Scenario& scenario, const std::string& policy) {
  const ParameterValues& values = scenario.values("firmware.ecc");
  return conform_ecc_policy(
      [&](const firmware::EccContext& context) {
        return firmware::ecc_family().make(policy, values, context);
      },
      scenario.seed());
}

Conformance of_ecc_code(const Scenario& scenario, const std::string& code) {
  const EccConfig config = SsdConfig::from(scenario).ecc;
  return conform_ecc_code(config.of(ecc_code_called(code)), config.frame_bits());
}

Conformance of_error_prediction(const Scenario& scenario, const std::string& policy) {
  const ParameterValues& values = scenario.values("ssd.flash.ecc");
  return conform_error_prediction(
      [&](const PlainDecoder& plain) { return error_predictions().make(policy, values, plain); },
      SsdConfig::from(scenario).part.bits());
}

/// A part that has an SLC mode, for sections that are about it.
std::vector<std::string> slc_mode() {
  return {"ssd.flash.part.cell=tlc", "ssd.flash.part.pages_per_block=96",
          "ssd.flash.part.slc_read_latency=30 us", "ssd.flash.part.slc_program_latency=200 us",
          "ssd.flash.part.slc_erase_latency=3 ms"};
}

const std::array<Family, 14>& families() {
  static const std::vector<std::string> errors = {"firmware.ecc.policy=conventional"};
  static const std::vector<std::string> wrong_bits = {"ssd.flash.reliability.model=power-law"};
  static const std::vector<std::string> fixed_code = {"firmware.ecc.policy=fixed",
                                                      "ssd.flash.reliability.model=power-law"};
  static const std::vector<std::string> told = {"firmware.ecc.policy=aoa-ecc", "ssd.flash.part.cell=mlc",
                                                "ssd.flash.reliability.model=power-law"};
  static const std::array<Family, 14> all{{
      {"timing", "ssd.flash.part", "timing", {}, of_timing},
      {"reliability", "ssd.flash.reliability", "model", errors, of_reliability},
      {"victim", "firmware.gc", "policy", {}, of_victims},
      {"wear", "firmware.wear", "policy", {}, nullptr},
      {"cache", "firmware.cache", "policy", {"ssd.scm={capacity: 4 MiB}"}, nullptr},
      {"scheduling", "ssd.flash.scheduling", "policy", {}, of_scheduling},
      {"mapping", "firmware.mapping", "scheme", {}, of_mapping},
      {"ecc", "firmware.ecc", "policy", wrong_bits, of_ecc_policy},
      {"ecc-code", "firmware.ecc", "code", fixed_code, of_ecc_code},
      {"error-prediction", "ssd.flash.ecc", "prediction", told, of_error_prediction},
      {"refresh", "firmware.refresh", "policy", errors, nullptr},
      {"pass-voltage", "firmware.pass_voltage", "policy", errors, nullptr},
      {"pslc", "firmware.pslc", "policy", {}, nullptr},
      {"firmware", "firmware", "model", {}, nullptr},
  }};
  return all;
}

/// A feature of the FTL goes by its section, or the last word of that.
Family feature_called(const std::string& name) {
  std::vector<std::string> paths;
  for (const firmware::FeatureInfo& info : firmware::features()) {
    if (name == info.path || info.path.ends_with("." + name))
      return {"feature", info.path, "policy", {}, nullptr};
    paths.push_back(info.path);
  }
  throw InputError("there is no feature " + in_quotes(name) + "; there is " + any_of(paths));
}

Family family_of(const ConformOptions& options) {
  if (options.family == "feature") return feature_called(options.policy);
  std::vector<std::string> names = {"feature", "memory"};
  for (const Family& family : families()) {
    if (options.family == family.name) return family;
    names.emplace_back(family.name);
  }
  const std::string hint = did_you_mean(options.family, names);
  throw InputError("conform knows no family " + in_quotes(options.family) +
                   (hint.empty() ? "; there is " + any_of(names) : hint));
}

/// Of `feature NAME` the first policy that is one; --set chooses another.
std::string policy_of(const Family& family, const ConformOptions& options) {
  if (options.family != "feature") return options.policy;
  return firmware::features().find(family.section)->policies().at(1).name;
}

std::vector<std::string> settings_of(const Family& family, const ConformOptions& options) {
  std::vector<std::string> settings = family.also;
  if (!options.part.empty()) settings.push_back("ssd.flash.part.file=" + options.part);
  if (family.section.starts_with("firmware.pslc")) {
    if (options.part.empty())
      for (std::string& setting : slc_mode()) settings.push_back(std::move(setting));
    settings.insert(settings.end(), {"firmware.pslc.policy=all", "firmware.pslc.static=3 %"});
  }
  // By default there is more of these than the small drive has room for.
  if (family.section == "firmware.replicas") settings.emplace_back("firmware.replicas.capacity=8 MiB");
  if (family.section == "firmware.parity")
    settings.insert(settings.end(), {"firmware.parity.stripe=2", "ssd.flash.over_provisioning=130 %"});
  // Only reads that overtake can suspend what they overtake.
  if (family.section == "ssd.flash.scheduling") {
    const auto scheduler = schedulers().make(options.policy, NoValues{});
    if (scheduler != nullptr && !scheduler->overtakes()) settings.emplace_back("ssd.flash.suspend=none");
  }
  settings.push_back(fmt::format("{}.{}={}", family.section, family.key, policy_of(family, options)));
  settings.insert(settings.end(), options.overrides.begin(), options.overrides.end());
  return settings;
}

/// The program that is running, which may be one that links the library.
std::string program_file() {
  return std::filesystem::read_symlink("/proc/self/exe").string();
}

constexpr std::uint64_t k_round_requests = 3000;

/// What the host writes or reads of the whole drive, for one round of check_power().
std::vector<Load> round_of(Simulation& simulation, const std::string& rw, std::uint64_t requests, int round) {
  LoadConfig config;
  config.kind.name = fmt::format("round {}", round);
  config.generator.rw = rw;
  config.generator.bs = "4k";
  config.generator.iodepth = 16;
  config.generator.number_ios = requests;
  return make_loads(config, simulation.drive_size(), 1);
}

/// Until everything is written out.
void carry_out(Simulation& simulation, std::vector<Load>& loads, bool timed) {
  if (!timed) {
    simulation.run_untimed(loads);
    return;
  }
  Measurement measurement({loads.front().name});
  simulation.run(loads, measurement);
  simulation.drain();
}

/// The power fails again and again when everything has been written out; what was written is read.
std::string power_cycles(Simulation& simulation) {
  constexpr int k_rounds = 8;
  std::vector<Load> fill = round_of(simulation, "write", 0, 0);
  simulation.run_untimed(fill);
  for (int round = 1; round <= k_rounds; ++round) {
    std::vector<Load> loads = round % 3 == 0
                                  ? round_of(simulation, "randtrimwrite", k_round_requests / 2, round)
                                  : round_of(simulation, "randrw", k_round_requests, round);
    carry_out(simulation, loads, round % 2 != 0);
    if (!simulation.ssd().power_cycle()) return {};  // it does not model that
    std::vector<Load> all = round_of(simulation, "read", 0, -round);
    simulation.run_untimed(all);
  }
  return {};
}

/// Random reads and writes of whole units, and now and then what must bring them to flash.
class WritesToFlash final : public RequestSource {
 public:
  enum class By : std::uint8_t { flush, force_unit_access };
  WritesToFlash(By by, Bytes unit, Bytes drive, std::uint64_t seed)
      : by_(by), unit_(unit), drive_(drive), random_(seed, "writes to flash") {}
  bool next(Request& request) override {
    if (made_ == k_round_requests) return false;
    ++made_;
    const bool now = random_.below(16) == 0;
    request = {};
    if (now && by_ == By::flush) {
      request.opcode = HostOpcode::flush;
      return true;
    }
    request.opcode = random_.below(4) == 0 ? HostOpcode::read : HostOpcode::write;
    request.force_unit_access = now && request.opcode == HostOpcode::write;
    request.offset = random_.below(drive_ / unit_) * unit_;
    request.bytes = unit_;
    return true;
  }

 private:
  By by_;
  Bytes unit_;
  Bytes drive_;
  RandomStream random_;
  std::uint64_t made_ = 0;
};

/// Whatever the firmware completes wrongly is thrown. One command at a time and many, timed and
/// not.
std::string writes_to_flash(Simulation& simulation, WritesToFlash::By by) {
  const DriveSize drive = simulation.drive_size();
  for (const std::uint32_t depth : {1, 16}) {
    for (const bool timed : {false, true}) {
      std::vector<Load> loads(1);
      loads.front().name = "to flash";
      loads.front().queue_depth = depth;
      loads.front().source = std::make_unique<PlacedSource>(
          std::make_unique<WritesToFlash>(by, simulation.unit_bytes(), drive.bytes, depth), PlacementConfig{},
          LoadExtent{{drive.bytes}, 0}, drive);
      carry_out(simulation, loads, timed);
    }
  }
  return {};
}

/// What a loss of power must leave, on one drive: a process has no second one.
void check_power(const Scenario& scenario, Conformance& found) {
  std::optional<Simulation> simulation;
  bool durability = false;
  found.check("nothing that was written out is lost with the power", [&] {
    simulation.emplace(SsdConfig::from(scenario));
    durability = simulation->ssd().check_durability();
    return power_cycles(*simulation);
  });
  const auto check = [&](const char* what, WritesToFlash::By by) {
    if (found.passed()) found.check(what, [&] { return writes_to_flash(*simulation, by); });
  };
  if (!durability) return;
  check("a flush completes when all that had been written before is on flash", WritesToFlash::By::flush);
  check("a write with force unit access completes when it is on flash", WritesToFlash::By::force_unit_access);
}

/// A memory from outside, alone. The drive calls it in one way only, so the other is not asked for.
Conformance of_foreign_memory(const Scenario& scenario, const std::string& model) {
  const ParameterValues& values = scenario.values("ssd.dram");
  const MemoryContext context{"dram", DramConfig::parameters().read(values).capacity, scenario.seed()};
  const auto memory = memory_models().make(model, values, context);
  const MemoryTraits traits = memory->traits();
  Conformance found;
  found.check("what it says of itself can be",
              [&] { return ForeignMemory::contradiction(traits, context.capacity); });
  if (!found.passed()) return found;
  MemoryConformance kit("kit", memory->socket(),
                        {.base = traits.base,
                         .capacity = traits.capacity != 0 ? traits.capacity : context.capacity,
                         .keeps_bytes = traits.keeps_bytes,
                         .burst = traits.burst,
                         .blocking = traits.blocking,
                         .phases = !traits.blocking,
                         .debug = false,
                         .at_once = traits.at_once});
  kit.run();
  found.add(kit.found());
  return found;
}

/// One of the drive's own memories, or one from outside, alone.
Conformance of_memory(const ConformOptions& options) {
  std::vector<std::string> settings = options.overrides;
  const bool own = options.policy == "dram" || options.policy == "scm";
  if (!own) settings.insert(settings.begin(), "ssd.dram.model=" + options.policy);
  std::vector<std::string> known = {"dram", "scm"};
  for (const PolicyInfo& info : memory_models().infos()) known.push_back(info.name);
  if (std::find(known.begin(), known.end(), options.policy) == known.end())
    throw InputError("there is no memory " + in_quotes(options.policy) + "; there is " + any_of(known));
  const Scenario scenario =
      parse_scenario("title: conform\nload: {rw: read}\n", "conform", scenario_catalogue(), settings, {});
  if (!own) return of_foreign_memory(scenario, options.policy);
  EventQueue event_queue;
  EventQueueProcess process("event_queue", event_queue);
  if (options.policy == "scm") {
    const ScmConfig config = SsdConfig::from(scenario).scm.value_or(ScmConfig{});
    Scm scm("scm", config, event_queue);
    MemoryConformance kit("kit", scm.bus_tsock,
                          {.base = scm.base(), .capacity = scm.capacity(), .keeps_bytes = false});
    sc_core::sc_start();
    return kit.found();
  }
  DramConfig config = SsdConfig::from(scenario).dram;
  config.storage = true;
  Dram dram("dram", config, event_queue);
  MemoryConformance kit("kit", dram.bus_tsock, {.base = dram.base(), .capacity = dram.capacity()});
  sc_core::sc_start();
  return kit.found();
}

Conformance of_policy(const ConformOptions& options) {
  const Family family = family_of(options);
  const std::vector<std::string> settings = settings_of(family, options);
  ReadOptions reading;
  reading.folders = {scenarios_folder().string()};
  // The family's own contract first: it says more clearly what is wrong than a drive would.
  const Scenario scenario = parse_scenario("title: conform\nload: {rw: read}\n", "conform",
                                           scenario_catalogue(), settings, reading);
  if (options.quick && family.of_its_own == nullptr) {
    throw InputError(
        fmt::format("conform {} {}: all checks of this family are of whole drives, so none is quick; "
                    "leave out --quick",
                    options.family, in_quotes(options.policy)));
  }
  Conformance found;
  if (family.of_its_own != nullptr) found = family.of_its_own(scenario, options.policy);
  if (!found.passed() || options.quick) return found;
  WholeRunOptions runs{program_file(), {}, settings, {}};
  if (family.section == "firmware") runs.foreign = options.policy;
  for (const LoadedPlugin& plugin : loaded_plugins()) runs.plugins.push_back(plugin.file);
  found.add(conform_whole_runs(runs));
  if (!found.passed()) return found;
  check_power(parse_scenario(conform_drive(!runs.foreign.empty()), "conform", scenario_catalogue(), settings,
                             reading),
              found);
  return found;
}

}  // namespace

int conform_command(const ConformOptions& options) {
  const Conformance found = options.family == "memory" ? of_memory(options) : of_policy(options);
  std::cout << found.text();
  const auto wrong =
      std::count_if(found.findings().begin(), found.findings().end(),
                    [](const Conformance::Finding& finding) { return !finding.wrong.empty(); });
  std::cout << fmt::format("{} {}: {} of {} checks failed\n", options.family, options.policy, wrong,
                           found.findings().size());
  return found.passed() ? k_exit_ok : k_exit_internal;
}

}  // namespace tlmssd
