// What can be configured of the firmware: one struct per concern, each with its table of
// parameters.
//
// Scenario paths: firmware.mapping, firmware.allocation, firmware.buffer, firmware.cache,
// firmware.gc, firmware.wear, firmware.ecc, firmware.pslc. Where a policy is chosen by name, its
// own parameters follow at the same path (mapping_family(), cache_family(), victim_family(), ...:
// PolicyInfo::parameters). Features bring their own tables (core/feature_info.h).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "models/base/chosen_policy.h"
#include "models/base/types.h"

namespace tlmssd::firmware {

struct MappingConfig {
  std::string scheme = "page";
  Bytes unit = 4096;
  static const ParameterTable<MappingConfig>& parameters();
};

struct AllocationConfig {
  std::string order = "CWDP";
  std::string stripe = "none";
  bool multi_plane = false;
  std::string streams = "separate";
  std::uint32_t programs_per_pu = 4;
  static const ParameterTable<AllocationConfig>& parameters();
  /// Those that mapping schemes with log blocks look at, too.
  static const ParameterTable<AllocationConfig>& log_parameters();
  /// What `streams` says. Throws InputError when it is none of the choices.
  [[nodiscard]] bool shares_open_blocks() const;
};

struct BufferConfig {
  Bytes capacity = Bytes{32} << 20U;
  std::string mode = "write-back";
  double flush_at = 0;
  static const ParameterTable<BufferConfig>& parameters();
  /// What `mode` says. Throws InputError when it is none of the choices.
  [[nodiscard]] bool is_write_through() const;
};

struct CacheConfig {
  std::string policy = "none";
  std::string medium = "scm";
  Bytes capacity = 0;
  Bytes grain = 512;
  std::string copy_in = "sectors";
  bool copy_waits = false;
  std::string write_back = "dirty";
  static const ParameterTable<CacheConfig>& parameters();
  [[nodiscard]] bool lies_in_scm() const { return medium == "scm"; }
};

struct GcConfig {
  std::string policy = "greedy";
  std::uint32_t low_water = 2;
  double background_start = 0.10;
  double background_stop = 0.15;
  Picoseconds idle_after = 0;
  double idle_target = 0.5;
  std::uint32_t parallel_copies = 4;
  static const ParameterTable<GcConfig>& parameters();
  /// Those that mapping schemes with log blocks look at, too.
  static const ParameterTable<GcConfig>& log_parameters();
};

struct WearConfig {
  std::string policy = "dynamic";
  static const ParameterTable<WearConfig>& parameters();
};

/// What the decoders are asked for. It has no parameters but the policy's own.
struct EccPolicyConfig {
  std::string policy = "none";
};

/// Blocks in SLC mode in front of the native ones, static and dynamic; of either size the share
/// counts if it is not 0.
struct PslcConfig {
  std::string policy = "none";
  Bytes static_bytes = 0;
  double static_share = 0;
  Bytes dynamic_bytes = 0;
  double dynamic_share = 0;
  double full_until = 0.25;
  double gone_at = 0.75;
  double of_free_space = 0.75;
  std::string when_full = "wait";
  double bypass_buffer = 0.5;
  double fold_below = 0.10;
  double fold_until = 0.20;
  double idle_target = 1;
  std::string fold_by = "controller";
  std::string fold_first = "oldest";
  static const ParameterTable<PslcConfig>& parameters();
  [[nodiscard]] bool folds_on_die() const { return fold_by == "copyback"; }
};

/// What a scenario has chosen of a feature (core/feature_info.h).
struct FeatureChoice {
  std::string policy = "none";
  PolicyValues values;

  [[nodiscard]] bool is_on() const { return is_chosen(policy); }

  /// The feature's own parameters.
  template <class Config>
  [[nodiscard]] Config read() const {
    const NoValues defaults;
    return Config::parameters().read(values ? *values : defaults);
  }
};

struct FirmwareConfig {
  MappingConfig mapping;
  AllocationConfig allocation;
  BufferConfig buffer;
  CacheConfig cache;
  GcConfig gc;
  WearConfig wear;
  EccPolicyConfig ecc;
  PslcConfig pslc;
  /// By the path of the feature's section ("firmware.NAME").
  std::map<std::string, FeatureChoice, std::less<>> features;
  /// Of the chosen policies. Not looked at any more when the drive is made, but for its identity.
  PolicyValues mapping_policy;
  PolicyValues cache_policy;
  PolicyValues gc_policy;
  PolicyValues wear_policy;
  PolicyValues ecc_policy;
  PolicyValues pslc_policy;
  std::uint64_t seed = 1;  ///< of the policies' random streams

  [[nodiscard]] FeatureChoice choice(std::string_view path) const {
    const auto found = features.find(path);
    return found == features.end() ? FeatureChoice{} : found->second;
  }
};

}  // namespace tlmssd::firmware
