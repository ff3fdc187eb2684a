#include "platform/ssd_config.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "firmware/layout.h"
#include "firmware/mapping/mapping.h"
#include "models/common/input_error.h"
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
              "spare_factor", &C::spare_factor, {0, 0.99},
              "Sf = 1 - U / T: the same as a share of all flash T; give this or over_provisioning, not both")
          .optional()
          .bytes("user_capacity", &C::user_capacity, {0, 256_TiB},
                 "least capacity offered to the host: sets the blocks per plane; 0: the part's own "
                 "blocks_per_plane");
  return table;
}

namespace {

/// Runs `read` and gives an InputError without a place the place of `path` in the scenario.
template <class Read>
auto located(const Scenario& scenario, std::string_view path, Read read) {
  try {
    return read();
  } catch (const InputError& error) {
    throw scenario.complaint(path, error.what());
  }
}

CapacityConfig read_capacity(const Scenario& scenario) {
  const ParameterValues& values = scenario.values("ssd.flash");
  CapacityConfig capacity = CapacityConfig::parameters().read(values);
  if (values.find("spare_factor") == nullptr) return capacity;
  if (values.find("over_provisioning") != nullptr) {
    throw scenario.error(
        "ssd.flash.spare_factor",
        "spare_factor and over_provisioning are two definitions of the same thing: give one of them");
  }
  if (capacity.spare_factor <= 0)
    throw scenario.error("ssd.flash.spare_factor", "spare_factor must be above 0 %");
  capacity.over_provisioning = 1 / (1 - capacity.spare_factor) - 1;
  return capacity;
}

CpuConfig read_cpu(const Scenario& scenario) {
  CpuConfig cpu = CpuConfig::parameters().read(scenario.values("ssd.cpu"));
  cpu.cycles = CpuCyclesConfig::parameters().read(scenario.values("ssd.cpu.cycles"));
  cpu.assignment = CpuAssignmentConfig::parameters().read(scenario.values("ssd.cpu.assignment"));
  located(scenario, "ssd.cpu", [&] { cpu.validate(); });
  return cpu;
}

/// A section in which "none" can be chosen: then its parameters, if it has any of its own, are not looked at, and reported as unused.
template <class Config>
void read_chosen(const Scenario& scenario, const char* path, Config& config, const ParameterValues*& values) {
  const std::string policy = scenario.policy(path);
  if constexpr (requires { Config::parameters(); }) {
    if (policy != "none") config = Config::parameters().read(scenario.values(path));
  }
  config.policy = policy;
  values = &scenario.values(path);
}

firmware::FirmwareConfig read_firmware(const Scenario& scenario) {
  firmware::FirmwareConfig config;
  config.mapping = firmware::MappingConfig::parameters().read(scenario.values("firmware.mapping"));
  config.mapping.scheme = scenario.policy("firmware.mapping");
  config.mapping_policy = &scenario.values("firmware.mapping");
  // Log blocks are made room for by merges: what is about victims is not looked at then, and reported as unused.
  using firmware::AllocationConfig, firmware::GcConfig;
  const bool logs = firmware::has_log_blocks(config.mapping.scheme);
  config.allocation = (logs ? AllocationConfig::log_parameters() : AllocationConfig::parameters())
                          .read(scenario.values("firmware.allocation"));
  config.buffer = firmware::BufferConfig::parameters().read(scenario.values("firmware.buffer"));
  read_chosen(scenario, "firmware.cache", config.cache, config.cache_policy);
  config.gc =
      (logs ? GcConfig::log_parameters() : GcConfig::parameters()).read(scenario.values("firmware.gc"));
  if (!logs) config.gc.policy = scenario.policy("firmware.gc");
  if (!logs) config.gc_policy = &scenario.values("firmware.gc");
  if (config.gc.background_start > config.gc.background_stop) {
    throw scenario.error(
        "firmware.gc.background_stop",
        "cleaning beside the host would stop before it has started; write at least the value "
        "of background_start");
  }
  config.wear = firmware::WearConfig::parameters().read(scenario.values("firmware.wear"));
  config.wear.policy = scenario.policy("firmware.wear");
  config.wear_policy = &scenario.values("firmware.wear");
  read_chosen(scenario, "firmware.ecc", config.ecc, config.ecc_policy);
  read_chosen(scenario, "firmware.refresh", config.refresh, config.refresh_policy);
  read_chosen(scenario, "firmware.placement", config.placement, config.placement_policy);
  read_chosen(scenario, "firmware.pass_voltage", config.pass_voltage, config.pass_voltage_policy);
  read_chosen(scenario, "firmware.pslc", config.pslc, config.pslc_policy);
  read_chosen(scenario, "firmware.pslc.promotion", config.promotion, config.promotion_policy);
  read_chosen(scenario, "firmware.replicas", config.replicas, config.replicas_policy);
  read_chosen(scenario, "firmware.partition", config.partition, config.partition_policy);
  config.seed = scenario.seed();
  return config;
}

EccConfig read_ecc(const Scenario& scenario) {
  // Without a policy that decodes, its parameters are not looked at, and reported as unused.
  if (scenario.policy("firmware.ecc") == "none") return {};
  EccConfig ecc = EccConfig::parameters().read(scenario.values("ssd.flash.ecc"));
  each_code([&]<EccCode k_code>(std::integral_constant<EccCode, k_code>, const char*) {
    const std::string path = join_path("ssd.flash.ecc", name_of(k_code));
    ecc.codes[static_cast<std::size_t>(k_code)] =
        CodeConfigOf<k_code>::parameters().read(scenario.values(path));
  });
  return ecc;
}

}  // namespace

SsdConfig SsdConfig::from(const Scenario& scenario) {
  SsdConfig config;
  config.seed = scenario.seed();
  config.host = HostConfig::parameters().read(scenario.values("ssd.host"));
  located(scenario, "ssd.host", [&] { config.host.validate(); });
  config.cpu = read_cpu(scenario);
  config.dram = DramConfig::parameters().read(scenario.values("ssd.dram"));
  if (scenario.has("ssd.scm")) config.scm = ScmConfig::parameters().read(scenario.values("ssd.scm"));
  config.bus = SystemBusConfig::parameters().read(scenario.values("ssd.bus"));
  config.flash = FlashConfig::parameters().read(scenario.values("ssd.flash"));
  // Without gangs their size is not looked at, and reported as unused.
  if (config.flash.has_gangs())
    config.flash.gang = FlashConfig::gang_parameters().read(scenario.values("ssd.flash")).gang;
  located(scenario, "ssd.flash", [&] { config.flash.check(); });
  config.scheduling = scenario.policy("ssd.flash.scheduling");
  config.scheduling_values = &scenario.values("ssd.flash.scheduling");
  config.part = NandPart::parameters().read(scenario.values("ssd.flash.part"));
  config.part.timing = scenario.policy("ssd.flash.part");
  config.part_values = &scenario.values("ssd.flash.part");
  located(scenario, "ssd.flash.part", [&] { config.part.check(); });
  config.ecc = read_ecc(scenario);
  config.reliability = scenario.policy("ssd.flash.reliability");
  config.reliability_values = &scenario.values("ssd.flash.reliability");
  if (config.has_errors()) {
    config.errors = ErrorConfig::parameters().read(*config.reliability_values);
    config.retention = RetentionConfig::parameters().read(*config.reliability_values);
  }
  config.capacity = read_capacity(scenario);
  if (config.scm && config.scm->share > 0) {
    // Whole pieces of 64 KiB, so that any grain and sector divides it.
    constexpr Bytes k_piece = 64_KiB;
    const auto share = static_cast<Bytes>(config.scm->share * static_cast<double>(config.geometry().bytes()));
    if (share < k_piece) {
      throw scenario.error("ssd.scm.capacity", fmt::format("this share of the flash is {} B; at least 64 KiB "
                                                           "are needed",
                                                           share));
    }
    config.scm->capacity = share / k_piece * k_piece;
  }
  config.firmware = read_firmware(scenario);
  return config;
}

Geometry SsdConfig::geometry() const {
  Geometry geometry = part.geometry(flash.channels, flash.ways, flash.dies_per_way);
  if (capacity.user_capacity > 0) {
    const double needed = static_cast<double>(capacity.user_capacity) * (1 + capacity.over_provisioning);
    const double row = static_cast<double>(Bytes{geometry.dies()} * geometry.planes * geometry.block_bytes());
    const double blocks = std::ceil(needed / row);
    if (blocks > 16'000'000) {
      throw InputError(fmt::format(
          "ssd.flash.user_capacity: needs {:.0f} blocks per plane; more channels or ways, or a part with "
          "larger blocks",
          blocks));
    }
    geometry.blocks = static_cast<std::uint32_t>(blocks);
  }
  return geometry;
}

firmware::DriveShape SsdConfig::shape() const {
  firmware::DriveShape shape;
  shape.geometry = geometry();
  const double capacity_bytes = static_cast<double>(shape.geometry.bytes()) / (1 + capacity.over_provisioning);
  check_memory(shape.geometry, static_cast<std::uint64_t>(written_share * capacity_bytes /
                                                          static_cast<double>(firmware.mapping.unit)));
  shape.program_unit = part.pages_per_program();
  shape.slc_pages = part.slc_pages_per_block();
  // Without a limit in one of the modes, cycles count alike.
  if (part.endurance > 0 && part.endurance_in_slc_mode() > 0)
    shape.slc_wear = static_cast<double>(part.endurance) / part.endurance_in_slc_mode();
  shape.multi_plane_allowed = part.multi_plane;
  shape.lba_bytes = static_cast<std::uint32_t>(host.lba_size);
  shape.mapping_unit_bytes = firmware.mapping.unit;
  // Whole mapping units, so that the last one is complete.
  const Bytes unit = std::max<Bytes>(firmware.mapping.unit, host.lba_size);
  shape.scm_bytes = scm ? scm->capacity : 0;
  const auto units = static_cast<std::uint64_t>(capacity_bytes / static_cast<double>(unit));
  shape.logical_blocks = units * (unit / host.lba_size);
  if (shape.logical_blocks == 0)
    throw InputError("ssd.flash: no capacity is left for the host; less over_provisioning");
  shape.frames_per_unit = static_cast<std::uint32_t>(std::max<Bytes>(unit / ecc.frame, 1));
  const firmware::Layout fits(shape, firmware.allocation);  // throws when the units do not fit each other
  static_cast<void>(fits);
  return shape;
}

}  // namespace tlmssd
