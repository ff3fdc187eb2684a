#include "platform/ssd_config.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "firmware/base/layout.h"
#include "firmware/cache/cache_policy.h"
#include "firmware/core/feature_info.h"
#include "firmware/mapping/mapping.h"
#include "firmware/victims/victim_policy.h"
#include "models/base/input_error.h"
#include "models/base/quantity.h"
#include "models/base/suggest.h"
#include "platform/memory_estimate.h"

namespace tlmssd {

using namespace literals;

const ParameterTable<CapacityConfig>& CapacityConfig::parameters() {
  using C = CapacityConfig;
  static const auto table =
      ParameterTable<C>{}
          .share("over_provisioning", &C::over_provisioning, {0.001, 100},
                 "OP = T / U - 1: flash beyond the user capacity U, as a share of U (T: all of the flash); "
                 "25 % when "
                 "neither this nor spare_factor is given")
          .optional()
          .share(
              "spare_factor", &C::spare_factor, {0.001, 0.99},
              "Sf = 1 - U / T: the same as a share of all flash T; give this or over_provisioning, not both")
          .optional()
          .bytes("user_capacity", &C::user_capacity, {0, 256_TiB},
                 "least capacity offered to the host: sets the blocks per plane; 0: the part's own "
                 "blocks_per_plane");
  return table;
}

const ParameterTable<CostConfig>& CostConfig::parameters() {
  using C = CostConfig;
  static const auto table =
      ParameterTable<C>{}
          .real("die", &C::die, {0, 1e9}, "of one die of this part, its share of the package included")
          .real("channel", &C::channel, {0, 1e9}, "of one flash channel: controller area, pins, wiring")
          .real("core", &C::core, {0, 1e9}, "of one controller core")
          .real("dram_gib", &C::dram_gib, {0, 1e9}, "of 1 GiB of the controller's DRAM")
          .real("scm_gib", &C::scm_gib, {0, 1e9}, "of 1 GiB of storage class memory (ssd.scm)")
          .real("link_lane", &C::link_lane, {0, 1e9}, "of one lane of the host link");
  return table;
}

namespace {

CapacityConfig read_capacity(const Scenario& scenario) {
  const ParameterValues& values = scenario.values("ssd.flash");
  CapacityConfig capacity = CapacityConfig::parameters().read(values);
  if (values.find("spare_factor") != nullptr && values.find("over_provisioning") != nullptr) {
    throw scenario.error(
        "ssd.flash.spare_factor",
        "spare_factor and over_provisioning are two definitions of the same thing: give one of them");
  }
  return capacity;
}

/// Parameters of the drive's own memories are not looked at where another stands.
void read_memories(const Scenario& scenario, SsdConfig& config) {
  const ParameterValues& dram = scenario.values("ssd.dram");
  config.dram_memory = {scenario.policy("ssd.dram"), borrowed(dram), {}};
  if (!config.dram_memory.foreign()) config.dram = DramConfig::timing_parameters().read(dram);
  config.dram.capacity = DramConfig::parameters().read(dram).capacity;
  if (!scenario.has("ssd.scm")) return;
  const ParameterValues& scm = scenario.values("ssd.scm");
  config.scm_memory = {scenario.policy("ssd.scm"), borrowed(scm), {}};
  const auto size = ScmConfig::parameters().read(scm);
  config.scm = config.scm_memory.foreign() ? ScmConfig{} : ScmConfig::bank_parameters().read(scm);
  config.scm->capacity = size.capacity;
  config.scm->share = size.share;
}

/// Policies that a table of costs names must be there, whichever the drive has.
void check_costs(const CpuConfig& cpu) {
  if (cpu.costs.empty()) return;
  const auto names_of = [](const auto& family) {
    std::vector<std::string> names;
    for (const PolicyInfo& info : family.infos()) names.emplace_back(info.name);
    return names;
  };
  const StageCosts table(cpu.costs, cpu.policies);
  for (const StageCosts::Named& one : table.named()) {
    const std::vector<std::string> known = one.victim   ? names_of(firmware::victim_family())
                                           : one.buffer ? names_of(firmware::cache_family())
                                                        : names_of(firmware::mapping_family());
    if (std::find(known.begin(), known.end(), one.policy) != known.end()) continue;
    throw objection_to_table("ssd.cpu.costs", one.line,
                             fmt::format("{} is no {}, expected {}{}", in_quotes(one.policy),
                                         one.victim   ? "victim policy"
                                         : one.buffer ? "cache policy"
                                                      : "mapping scheme",
                                         any_of(known), did_you_mean(one.policy, known)));
  }
}

CpuConfig read_cpu(const Scenario& scenario) {
  CpuConfig cpu = CpuConfig::parameters().read(scenario.values("ssd.cpu"));
  cpu.cycles = CpuCyclesConfig::parameters().read(scenario.values("ssd.cpu.cycles"));
  cpu.assignment = CpuAssignmentConfig::parameters().read(scenario.values("ssd.cpu.assignment"));
  // Another's firmware has none of these: what the table says of any policy is for it.
  if (!cpu.costs.empty() && firmware::FirmwareFamily::is_own(scenario.policy("firmware"))) {
    cpu.policies = {scenario.policy("firmware.mapping"), scenario.policy("firmware.cache"),
                    scenario.policy("firmware.gc")};
  }
  located(scenario, "ssd.cpu", [&] {
    cpu.validate();
    check_costs(cpu);
  });
  return cpu;
}

/// A section in which "none" can be chosen: then its parameters, if it has any of its own, are not
/// looked at, and reported as unused.
template <class Config>
void read_chosen(const Scenario& scenario, const char* path, Config& config, PolicyValues& values) {
  const std::string policy = scenario.policy(path);
  if constexpr (requires { Config::parameters(); }) {
    if (is_chosen(policy)) config = Config::parameters().read(scenario.values(path));
  }
  config.policy = policy;
  values = borrowed(scenario.values(path));
}

firmware::FirmwareConfig read_firmware(const Scenario& scenario, ErrorList& errors) {
  firmware::FirmwareConfig config;
  config.mapping = firmware::MappingConfig::parameters().read(scenario.values("firmware.mapping"));
  config.mapping.scheme = scenario.policy("firmware.mapping");
  config.mapping_policy = borrowed(scenario.values("firmware.mapping"));
  // Log blocks are made room for by merges: what is about victims is not looked at then, and
  // reported as unused.
  using firmware::AllocationConfig, firmware::GcConfig;
  const bool logs = firmware::mapping_family().has_log_blocks(config.mapping.scheme);
  config.allocation = (logs ? AllocationConfig::log_parameters() : AllocationConfig::parameters())
                          .read(scenario.values("firmware.allocation"));
  config.buffer = firmware::BufferConfig::parameters().read(scenario.values("firmware.buffer"));
  read_chosen(scenario, "firmware.cache", config.cache, config.cache_policy);
  config.gc =
      (logs ? GcConfig::log_parameters() : GcConfig::parameters()).read(scenario.values("firmware.gc"));
  if (!logs) config.gc.policy = scenario.policy("firmware.gc");
  if (!logs) config.gc_policy = borrowed(scenario.values("firmware.gc"));
  if (config.gc.background_start > config.gc.background_stop) {
    errors.add(scenario.complaint(
        "firmware.gc",
        refusal("background_stop",
                fmt::format("background cleaning would stop before it has started (background_start is {})",
                            format_value(Kind::share, config.gc.background_start)),
                format_value(Kind::share, config.gc.background_start))));
  }
  config.wear = firmware::WearConfig::parameters().read(scenario.values("firmware.wear"));
  config.wear.policy = scenario.policy("firmware.wear");
  config.wear_policy = borrowed(scenario.values("firmware.wear"));
  read_chosen(scenario, "firmware.ecc", config.ecc, config.ecc_policy);
  read_chosen(scenario, "firmware.pslc", config.pslc, config.pslc_policy);
  for (const firmware::FeatureInfo& info : firmware::features()) {
    config.features[info.path] = {scenario.policy(info.path), borrowed(scenario.values(info.path))};
  }
  config.seed = scenario.seed();
  return config;
}

/// Of another firmware than our own: only the unit in which flash is read and programmed. What is
/// set of our own is refused.
firmware::FirmwareConfig read_foreign_firmware(const Scenario& scenario, const std::string& model,
                                               ErrorList& errors) {
  for (const Scenario::Written& written : scenario.written()) {
    if (scenario.counts(*written.section, written.setting->spec->name)) continue;
    errors.add(scenario.error(
        written.path,
        fmt::format("is of the program's own firmware, but firmware.model is {}; leave it out", model)));
  }
  firmware::FirmwareConfig config;
  config.mapping = firmware::MappingConfig::parameters().read(scenario.values("firmware.mapping"));
  config.seed = scenario.seed();
  return config;
}

/// A model that cannot be made is for check_drive() to refuse.
bool timing_looks_at_history(const SsdConfig& config) {
  try {
    return make_timing_model(config.part, *config.part_values)->looks_at_history();
  } catch (const InputError&) {
    return false;
  }
}

/// Refuses numbers in whose place the error prediction has its own.
void check_predicted(const EccConfig& ecc) {
  ErrorList errors;
  const EccConfig defaults;
  for (const EccCodeInfo& info : ecc_code_family()) {
    const std::uint32_t usual = defaults.of(info.code).correctable;
    if (!ecc.predicts(ecc.of(info.code)) || ecc.of(info.code).correctable == usual) continue;
    errors.add(
        refusal(join_path(info.name, "correctable"),
                "is not looked at with an error prediction, which derives it from hard-ldpc.correctable",
                std::to_string(usual)));
  }
  errors.throw_if_any();
}

/// Without firmware that decodes, its parameters are not looked at, and reported as unused.
EccConfig read_ecc(const Scenario& scenario, bool decodes, std::uint32_t cell_bits) {
  if (!decodes) return {};
  EccConfig ecc = EccConfig::parameters().read(scenario.values("ssd.flash.ecc"));
  for (const EccCodeInfo& info : ecc_code_family()) {
    ecc.codes[static_cast<std::size_t>(info.code)] =
        info.read(scenario.values(join_path("ssd.flash.ecc", info.name)));
  }
  const std::string prediction = scenario.policy("ssd.flash.ecc");
  if (!is_chosen(prediction)) return ecc;
  const PlainDecoder plain{ecc.of(EccCode::hard_ldpc).correctable, ecc.frame_bits(), cell_bits};
  ecc.prediction = error_predictions().make(prediction, scenario.values("ssd.flash.ecc"), plain);
  check_predicted(ecc);
  return ecc;
}

}  // namespace

SsdConfig SsdConfig::from(const Scenario& scenario) {
  ErrorList errors;
  SsdConfig config;
  const auto attempt = [&](std::string_view path, auto work) {
    errors.attempt([&] { located(scenario, path, work); });
  };
  config.seed = scenario.seed();
  config.host = HostConfig::parameters().read(scenario.values("ssd.host"));
  attempt("ssd.host", [&] { config.host.validate(); });
  attempt("ssd.cpu", [&] { config.cpu = read_cpu(scenario); });
  read_memories(scenario, config);
  config.bus = SystemBusConfig::parameters().read(scenario.values("ssd.bus"));
  config.flash = FlashConfig::parameters().read(scenario.values("ssd.flash"));
  // Without gangs their size is not looked at, and reported as unused.
  if (config.flash.has_gangs())
    config.flash.gang = FlashConfig::gang_parameters().read(scenario.values("ssd.flash")).gang;
  if (config.flash.budgets_power()) {
    const FlashConfig power = FlashConfig::power_parameters().read(scenario.values("ssd.flash"));
    config.flash.budget_dies = power.budget_dies;
    config.flash.slow_read = power.slow_read;
  }
  attempt("ssd.flash", [&] { config.flash.check(); });
  config.scheduling = scenario.policy("ssd.flash.scheduling");
  config.scheduling_values = borrowed(scenario.values("ssd.flash.scheduling"));
  config.part = NandPart::parameters().read(scenario.values("ssd.flash.part"));
  config.part.timing = scenario.policy("ssd.flash.part");
  config.part_values = borrowed(scenario.values("ssd.flash.part"));
  attempt("ssd.flash.part", [&] { config.part.check(); });
  config.cost = CostConfig::parameters().read(scenario.values("ssd.flash.part.cost"));
  config.reliability = scenario.policy("ssd.flash.reliability");
  config.reliability_values = borrowed(scenario.values("ssd.flash.reliability"));
  if (config.has_errors()) config.errors = ErrorConfig::parameters().read(*config.reliability_values);
  // Otherwise the temperature and age of data are not looked at, and reported as unused.
  if (config.has_errors() || timing_looks_at_history(config))
    config.retention = RetentionConfig::parameters().read(*config.reliability_values);
  attempt("ssd.flash", [&] { config.capacity = read_capacity(scenario); });
  config.firmware_model = scenario.policy("firmware");
  config.firmware_values = borrowed(scenario.values("firmware"));
  config.firmware = config.foreign_firmware() ? read_foreign_firmware(scenario, config.firmware_model, errors)
                                              : read_firmware(scenario, errors);
  attempt("ssd.flash.ecc", [&] { config.ecc = read_ecc(scenario, config.decodes(), config.part.bits()); });
  errors.throw_if_any();
  located(scenario, "ssd", [&] { config.set_scm_capacity(); });
  return config;
}

/// An SCM whose size is a share of the flash: whole pieces of 64 KiB, so that any grain and sector
/// divides it.
void SsdConfig::set_scm_capacity() {
  if (!scm || scm->share <= 0) return;
  constexpr Bytes k_piece = 64_KiB;
  const auto all = static_cast<double>(geometry().bytes());
  const auto share = static_cast<Bytes>(scm->share * all);
  if (share < k_piece) {
    throw refusal("ssd.scm.capacity",
                  fmt::format("this share of the flash is {} B; at least 64 KiB are needed", share),
                  "64 KiB");
  }
  scm->capacity = share / k_piece * k_piece;
}

Geometry SsdConfig::geometry() const {
  constexpr double k_most_blocks = 16'000'000;
  Geometry geometry = part.geometry(flash.channels, flash.ways, flash.dies_per_way);
  if (capacity.user_capacity > 0) {
    const double needed = static_cast<double>(capacity.user_capacity) * (1 + capacity.beyond_user());
    const double row = static_cast<double>(Bytes{geometry.dies()} * geometry.planes * geometry.block_bytes());
    const double blocks = std::ceil(needed / row);
    if (blocks > k_most_blocks) {
      throw refusal(
          "ssd.flash.user_capacity",
          fmt::format("needs {:.0f} blocks per plane, more than {}; there may be more channels, ways "
                      "or larger blocks",
                      blocks, k_most_blocks),
          fmt::format("{:.0f} B", std::floor(k_most_blocks * row / (1 + capacity.beyond_user()))));
    }
    geometry.blocks = static_cast<std::uint32_t>(blocks);
  }
  return geometry;
}

double SsdConfig::offered(const Geometry& array) const {
  return static_cast<double>(array.bytes()) / (1 + capacity.beyond_user());
}

void SsdConfig::check_memory() const {
  tlmssd::check_memory(geometry());
}

firmware::DriveShape SsdConfig::shape() const {
  firmware::DriveShape shape;
  shape.geometry = geometry();
  shape.program_unit = part.pages_per_program();
  shape.slc_pages = part.slc_pages_per_block();
  // Without a limit in one of the modes, cycles count alike.
  if (part.endurance > 0 && part.endurance_in_slc_mode() > 0)
    shape.slc_wear = static_cast<double>(part.endurance) / part.endurance_in_slc_mode();
  shape.multi_plane_allowed = part.multi_plane;
  shape.multi_plane_reads = flash.multi_plane_reads && part.multi_plane;
  shape.same_blocks = part.reads_same_blocks();
  shape.lba_bytes = static_cast<std::uint32_t>(host.lba_size);
  shape.mapping_page_bytes = firmware.mapping.unit;
  // Whole mapping pages, so that the last one is complete.
  const Bytes unit = std::max<Bytes>(firmware.mapping.unit, host.lba_size);
  shape.scm_bytes = scm ? scm->capacity : 0;
  const auto units = static_cast<std::uint64_t>(offered(shape.geometry) / static_cast<double>(unit));
  shape.logical_blocks = units * (unit / host.lba_size);
  if (shape.logical_blocks == 0)
    throw refusal("ssd.flash.over_provisioning", "no capacity is left for the host",
                  format_value(Kind::share, CapacityConfig{}.over_provisioning));
  shape.frames_per_unit = static_cast<std::uint32_t>(std::max<Bytes>(unit / ecc.frame, 1));
  const firmware::Layout fits(shape, firmware.allocation);  // throws when the units do not fit each other
  static_cast<void>(fits);
  return shape;
}

}  // namespace tlmssd
