// Everything that defines one drive, as plain structs: read from a scenario, or filled in by hand
// by a program that embeds the drive.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "firmware/base/config.h"
#include "firmware/base/drive_shape.h"
#include "firmware/base/firmware.h"
#include "models/cpu/controller_cpu.h"
#include "models/flash/ecc/ecc_config.h"
#include "models/flash/flash_config.h"
#include "models/host/host_config.h"
#include "models/memory/dram.h"
#include "models/memory/memory_model.h"
#include "models/memory/scm.h"
#include "models/memory/system_bus.h"
#include "models/nand/reliability/bit_errors.h"
#include "models/nand/reliability/retention_clock.h"
#include "models/nand/timing/timing_model.h"
#include "platform/scenario/scenario.h"

namespace tlmssd {

/// How much of the flash the host may use (keys of the section ssd.flash). Two definitions are in
/// use: over-provisioning OP = T / U - 1 and spare factor Sf = 1 - U / T, with T physical and U
/// user bytes.
struct CapacityConfig {
  double over_provisioning = 0.25;
  double spare_factor = 0;  ///< other than 0: in place of over_provisioning
  Bytes user_capacity = 0;
  /// OP, by whichever of the two is given.
  [[nodiscard]] double beyond_user() const {
    return spare_factor != 0 ? 1 / (1 - spare_factor) - 1 : over_provisioning;
  }
  static const ParameterTable<CapacityConfig>& parameters();
};

/// What the drive's components cost, in any currency (keys of ssd.flash.part.cost); 0: not known.
/// No model uses it: it goes with the resolved scenario to what weighs a change against its price
/// (tlmssd whatif).
struct CostConfig {
  double die = 0;
  double channel = 0;
  double core = 0;
  double dram_gib = 0;
  double scm_gib = 0;
  double link_lane = 0;
  static const ParameterTable<CostConfig>& parameters();
};

struct SsdConfig {
  HostConfig host;
  CpuConfig cpu;
  DramConfig dram;  ///< of a memory from outside: the capacity
  MemoryChoice dram_memory;
  std::optional<ScmConfig> scm;
  MemoryChoice scm_memory;
  SystemBusConfig bus;
  FlashConfig flash;
  std::string scheduling = "read-first";
  PolicyValues scheduling_values;
  NandPart part;
  PolicyValues part_values;  ///< of the part's timing model
  /// A timing model of one's own (for a program that embeds the drive), instead of the one that
  /// part.timing names. It may keep the part, which lives as long as the drive.
  std::function<std::unique_ptr<TimingModel>(const NandPart&)> make_timing;
  CostConfig cost;
  EccConfig ecc;
  std::string reliability = "none";
  PolicyValues reliability_values;
  /// A reliability model of one's own, instead of the one that `reliability` names.
  std::function<std::unique_ptr<ReliabilityModel>(const NandPart&)> make_reliability;
  ErrorConfig errors;
  RetentionConfig retention;
  CapacityConfig capacity;
  firmware::FirmwareConfig firmware;
  /// Which firmware; another than our own (FirmwareFamily::k_own) looks at none of `firmware` but
  /// the mapping page.
  std::string firmware_model{firmware::FirmwareFamily::k_own};
  PolicyValues firmware_values;  ///< of another firmware
  /// A firmware of one's own, instead of the one called `firmware_model`, which is then its name in
  /// reports.
  std::function<std::unique_ptr<firmware::Firmware>(const firmware::FirmwareContext&)> make_firmware;
  std::uint64_t seed = 1;
  /// It will be brought into steady state (Ssd::make_steady), when each block has been through so
  /// many P/E cycles; absent: it will not.
  std::optional<std::uint32_t> steady_after;
  bool check_protocol = false;  ///< a TLM-2.0 protocol checker on every socket

  /// Reads the drive's sections; `scenario` must outlive the drive (policies' parameters are read
  /// when it is built). Throws InputError with file and line.
  static SsdConfig from(const Scenario& scenario);

  [[nodiscard]] bool has_errors() const { return is_chosen(reliability) || make_reliability; }
  [[nodiscard]] bool foreign_firmware() const {
    return make_firmware || !firmware::FirmwareFamily::is_own(firmware_model);
  }
  /// Reads go through decoders: by our own firmware's policy, of another wherever bits are wrong.
  [[nodiscard]] bool decodes() const {
    return foreign_firmware() ? has_errors() : is_chosen(firmware.ecc.policy);
  }
  /// Blocks per plane as the part has them, or as many as `capacity.user_capacity` needs.
  [[nodiscard]] Geometry geometry() const;
  /// Throws InputError when this machine has too little memory for the drive.
  void check_memory() const;
  /// The drive as firmware sees it, with the capacity offered to the host.
  [[nodiscard]] firmware::DriveShape shape() const;

 private:
  void set_scm_capacity();
  /// Of such an array, what the host is offered before it is cut to whole mapping pages, in bytes.
  [[nodiscard]] double offered(const Geometry& array) const;
};

}  // namespace tlmssd
