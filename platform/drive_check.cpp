#include "platform/drive_check.h"

#include <algorithm>
#include <fmt/format.h>

#include "firmware/cache/cache.h"
#include "firmware/ftl.h"
#include "models/base/input_error.h"
#include "models/base/quantity.h"
#include "models/flash/scheduling/scheduler.h"
#include "platform/firmware_guard.h"
#include "platform/unbound_hardware.h"

namespace tlmssd {

namespace {

/// The largest divisor of the mapping page that is no larger than `frame`, else the smallest that a
/// frame may have.
Bytes nearest_frame(Bytes unit, Bytes frame) {
  constexpr Bytes k_least = 256;
  Bytes nearest = std::max(std::min(frame, unit), k_least);
  while (nearest > k_least && unit % nearest != 0) --nearest;
  while (unit % nearest != 0) ++nearest;
  return nearest;
}

const ParameterValues& given(const PolicyValues& values) {
  static const NoValues k_none;
  return values != nullptr ? *values : k_none;
}

/// Whether a key is that of a scenario already ("ssd.flash.over_provisioning"), not of a section.
bool is_whole(const std::string& key) {
  return key.starts_with("ssd.") || key.starts_with("firmware.");
}

/// Does `work`; the keys of its errors are those of `section`, unless they are whole.
template <class Work>
auto in_section(const std::string& section, Work work) {
  try {
    return work();
  } catch (const InputError& error) {
    ErrorList placed;
    for (const InputError& one : errors_of(error)) {
      Complaint complaint = one.complaint();
      const bool of_plugin = complaint.key.empty() && !complaint.thrower.empty();
      if (!of_plugin && !is_whole(complaint.key))
        complaint.key = complaint.key.empty() ? section : section + "." + complaint.key;
      if (complaint.proposal && !is_whole(complaint.proposal->key)) complaint.proposal->key = complaint.key;
      placed.add(InputError(complaint));
    }
    placed.throw_if_any();
    throw;
  }
}

/// Refuses reads that may have wrong bits which nothing corrects, and frames that do not fit the
/// mapping page.
void check_decoders(const SsdConfig& config, const firmware::DriveShape& shape) {
  if (!config.decodes()) {
    if (!config.has_errors()) return;
    throw refusal("ssd.flash.reliability.model",
                  fmt::format("{} gives wrong bits, but firmware.ecc.policy is none and would pass them on",
                              config.reliability),
                  Proposal{"firmware.ecc.policy", "fixed"});
  }
  if (shape.mapping_page_bytes % config.ecc.frame == 0) return;
  throw refusal(
      "ssd.flash.ecc.frame",
      fmt::format("{} B do not divide the mapping page of {} B", config.ecc.frame, shape.mapping_page_bytes),
      fmt::format("{} B", nearest_frame(shape.mapping_page_bytes, config.ecc.frame)));
}

/// Refuses a DRAM that does not hold what firmware needs and one transfer. `cache`: firmware's
/// cache lies there too.
void check_dram(const SsdConfig& config, Bytes firmware, bool cache) {
  // Firmware from outside may say any number.
  const Bytes needed = std::max(firmware + config.host.max_transfer, firmware);
  if (needed <= config.dram.capacity) return;
  const auto mebibytes = [](Bytes bytes) { return (bytes >> 20U) + ((bytes & 0xFFFFFU) != 0 ? 1 : 0); };
  throw refusal(
      "ssd.dram.capacity",
      fmt::format("{} do not hold the mapping table{} write buffer{} ({} MiB) and one transfer ({} MiB)",
                  format_value(Kind::bytes, Value(static_cast<std::int64_t>(config.dram.capacity))),
                  cache ? "," : " and", cache ? " and cache" : "", mebibytes(firmware),
                  mebibytes(config.host.max_transfer)),
      fmt::format("{} MiB", mebibytes(needed)));
}

/// Refuses a host memory buffer that does not hold what firmware keeps there.
void check_host_memory(const SsdConfig& config, Bytes firmware) {
  if (firmware <= config.host.memory_buffer) return;
  const auto text = [](Bytes bytes) {
    return format_value(Kind::bytes, Value(static_cast<std::int64_t>(bytes)));
  };
  if (config.host.is_sata()) {
    throw refusal("firmware.mapping.cache_in", "host needs a host memory buffer, which SATA does not have",
                  "dram");
  }
  throw refusal("ssd.host.memory_buffer",
                fmt::format("{} do not hold the cache of map entries ({}), which firmware.mapping.cache_in "
                            "puts there",
                            text(config.host.memory_buffer), text(firmware)),
                text(firmware));
}

void check_flash(const SsdConfig& config, const firmware::DriveShape& shape) {
  check_decoders(config, shape);
  const auto scheduler = make_scheduler(config.scheduling, given(config.scheduling_values));
  config.flash.check_part(config.part, scheduler->overtakes());
  static_cast<void>(make_timing(config, config.part));
  static_cast<void>(make_bit_errors(config));
}

template <class Config>
void check_ranges(ErrorList& errors, const std::string& section, const Config& config,
                  const ParameterTable<Config>& table = Config::parameters()) {
  table.each(config, [&](const ParameterSpec& spec, const Value& value) {
    errors.attempt([&] { in_section(join_path(section, spec.name), [&] { check_value(spec, value); }); });
  });
}

void check_hardware_ranges(ErrorList& errors, const SsdConfig& config) {
  check_ranges(errors, "ssd.host", config.host);
  check_ranges(errors, "ssd.cpu", config.cpu);
  check_ranges(errors, "ssd.cpu.cycles", config.cpu.cycles);
  check_ranges(errors, "ssd.cpu.assignment", config.cpu.assignment);
  check_ranges(errors, "ssd.dram", config.dram);
  check_ranges(errors, "ssd.dram", config.dram, DramConfig::timing_parameters());
  if (config.scm) {
    check_ranges(errors, "ssd.scm", *config.scm);
    check_ranges(errors, "ssd.scm", *config.scm, ScmConfig::bank_parameters());
  }
  check_ranges(errors, "ssd.bus", config.bus);
  check_ranges(errors, "ssd.flash", config.flash);
  check_ranges(errors, "ssd.flash", config.flash, FlashConfig::gang_parameters());
  check_ranges(errors, "ssd.flash", config.flash, FlashConfig::power_parameters());
  check_ranges(errors, "ssd.flash", config.capacity);
  check_ranges(errors, "ssd.flash.part", config.part);
  check_ranges(errors, "ssd.flash.part.cost", config.cost);
  check_ranges(errors, "ssd.flash.reliability", config.errors);
  check_ranges(errors, "ssd.flash.reliability", config.retention);
  check_ranges(errors, "ssd.flash.ecc", config.ecc);
}

void check_firmware_ranges(ErrorList& errors, const firmware::FirmwareConfig& config) {
  check_ranges(errors, "firmware.mapping", config.mapping);
  check_ranges(errors, "firmware.allocation", config.allocation);
  check_ranges(errors, "firmware.buffer", config.buffer);
  check_ranges(errors, "firmware.cache", config.cache);
  check_ranges(errors, "firmware.gc", config.gc);
  check_ranges(errors, "firmware.wear", config.wear);
  check_ranges(errors, "firmware.pslc", config.pslc);
}

}  // namespace

void check_values(const SsdConfig& config) {
  ErrorList errors;
  check_hardware_ranges(errors, config);
  check_firmware_ranges(errors, config.firmware);
  errors.throw_if_any();
  errors.attempt([&] { config.host.validate(); });
  errors.attempt([&] { config.cpu.validate(); });
  errors.attempt([&] { in_section("ssd.flash", [&] { config.flash.check(); }); });
  errors.attempt([&] { in_section("ssd.flash.part", [&] { config.part.check(); }); });
  errors.throw_if_any();
}

std::unique_ptr<BitErrors> make_bit_errors(const SsdConfig& config) {
  if (!config.has_errors()) return nullptr;
  return in_section("ssd.flash.reliability", [&] {
    auto model = config.make_reliability ? config.make_reliability(config.part)
                                         : make_reliability_model(config.reliability, config.part,
                                                                  given(config.reliability_values));
    return std::make_unique<BitErrors>(std::move(model), config.part, config.errors, config.ecc.frame_bits(),
                                       config.seed,
                                       config.make_reliability ? "of one's own" : config.reliability);
  });
}

std::unique_ptr<firmware::Firmware> make_firmware(const SsdConfig& config, firmware::Hardware& hardware,
                                                  const firmware::DriveShape& shape) {
  if (!config.foreign_firmware()) return std::make_unique<firmware::Ftl>(hardware, shape, config.firmware);
  const auto make = [&](const firmware::FirmwareContext& context) {
    return config.make_firmware ? config.make_firmware(context)
                                : firmware::firmware_family().make(config.firmware_model,
                                                                   given(config.firmware_values), context);
  };
  auto firmware = in_section("firmware", [&] {
    return std::make_unique<FirmwareGuard>(config.firmware_model, hardware, shape, config.seed, make);
  });
  if (config.has_errors() && !firmware->decodes()) {
    throw objection("ssd.flash.reliability.model",
                    fmt::format("{} gives wrong bits, but firmware {} asks for no code that corrects them",
                                config.reliability, config.firmware_model));
  }
  return firmware;
}

std::string steady_only_by_writing(const SsdConfig& config, const firmware::Firmware& firmware) {
  if (config.part.grown_bad_blocks > 0) return "ssd.flash.part.grown_bad_blocks is not modelled";
  return firmware.steady_only_by_writing();
}

void check_steady(const SsdConfig& config, const firmware::Firmware& firmware, std::uint32_t cycles) {
  const std::uint32_t bears = config.part.least_endurance();
  if (bears == 0 || !steady_only_by_writing(config, firmware).empty()) return;
  const std::uint32_t needed = cycles + firmware.steady_cycles(config.seed);
  if (needed <= bears) return;
  NandPart part = config.part;
  part.endurance = needed;
  while (part.least_endurance() < needed) part.endurance += needed - part.least_endurance();
  throw refusal(
      "ssd.flash.part.endurance",
      fmt::format("the weakest blocks bear {} of the {} P/E cycles that they have behind them in steady "
                  "state{}",
                  bears, needed, cycles > 0 ? fmt::format(", {} of them before it", cycles) : ""),
      std::to_string(part.endurance));
}

std::unique_ptr<TimingModel> make_timing(const SsdConfig& config, const NandPart& part) {
  constexpr const char* k_section = "ssd.flash.part";
  auto model = config.make_timing ? config.make_timing(part) : in_section(k_section, [&] {
    return make_timing_model(part, given(config.part_values));
  });
  in_section(k_section, [&] { model->check_drive(config.geometry()); });
  return model;
}

void check_drive(const SsdConfig& config) {
  config.check_memory();
  const firmware::DriveShape shape = config.shape();
  ErrorList errors;
  errors.attempt([&] { check_flash(config, shape); });
  errors.attempt([&] {
    UnboundHardware none;
    firmware::Hardware ports = none.hardware();
    const auto firmware = make_firmware(config, ports, shape);
    const auto* const own = dynamic_cast<const firmware::Ftl*>(firmware.get());
    const firmware::Cache* const cache = own == nullptr ? nullptr : own->cache();
    errors.attempt([&] { check_host_memory(config, firmware->host_memory_bytes()); });
    check_dram(config, firmware->dram_bytes(), cache != nullptr && !cache->non_volatile());
    if (config.steady_after) check_steady(config, *firmware, *config.steady_after);
  });
  errors.throw_if_any();
}

}  // namespace tlmssd
