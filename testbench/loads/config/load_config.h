// What a scenario says about a load, struct by struct. A struct is read only when it applies, so
// that a parameter that was given but means nothing for this kind of load (a `queue_depth` with
// open-loop pacing) is noticed as never asked for.
#pragma once

#include <optional>
#include <string>

#include "models/base/chosen_policy.h"
#include "testbench/loads/generator/generator_config.h"
#include "testbench/loads/profiles/profile_config.h"
#include "testbench/loads/requests/placement.h"
#include "testbench/loads/traces/trace_config.h"

namespace tlmssd {

/// Which kind of load this is; at most one of `trace`, `profile`, `fio` and `source` may be given,
/// with none it is a generator.
struct LoadKindConfig {
  std::string name;
  std::string trace;
  std::string profile;
  std::string fio;
  std::string source;  ///< of request_sources(), whose own key it is
  std::int32_t queue = -1;
  bool stonewall = false;
  std::string warm_up = "0";
  std::string target = "drive";
  std::string stream = "0";
  static const ParameterTable<LoadKindConfig>& parameters();
};

/// Only with `fio`.
struct FioFileConfig {
  std::string job;
  static const ParameterTable<FioFileConfig>& parameters();
};

/// When the load runs; not with `fio`, whose file says so itself.
struct RunConfig {
  Picoseconds startdelay = 0;
  Picoseconds runtime = 0;
  Picoseconds ramp_time = 0;
  std::uint64_t ramp_requests = 0;
  static const ParameterTable<RunConfig>& parameters();
};

/// How a trace's requests are issued; only with `trace` and `source`, but ClosedLoopConfig also
/// with `profile`.
struct PacingConfig {
  std::string pacing = "closed-loop";
  [[nodiscard]] bool is_open() const { return pacing == "open-loop"; }
  static const ParameterTable<PacingConfig>& parameters();
};
struct ClosedLoopConfig {
  std::uint32_t queue_depth = 32;
  static const ParameterTable<ClosedLoopConfig>& parameters();
};
struct OpenLoopConfig {
  double time_scale = 1;
  Picoseconds longest_gap = 0;
  std::uint32_t max_outstanding = 0;
  static const ParameterTable<OpenLoopConfig>& parameters();
};

/// Which part of a trace is replayed; only with `trace`.
struct LimitConfig {
  std::uint64_t skip = 0;
  std::uint64_t requests = 0;
  std::uint64_t repeat = 1;
  static const ParameterTable<LimitConfig>& parameters();
};

/// What `warm_up` says: a number of requests, or a share of the load's.
struct WarmUp {
  std::uint64_t requests = 0;
  double share = 0;  ///< not 0: instead of `requests`
};
/// Reads "20000" or "30 %"; throws InputError "warm_up: ...".
WarmUp parse_warm_up(const std::string& text);

struct LoadConfig {
  LoadKindConfig kind;
  // with `trace`
  TraceConfig trace;
  std::optional<ColumnsConfig> columns;  ///< format csv only
  BlkparseConfig blkparse;               ///< format blkparse (or auto) only
  PlacementConfig placement;
  PacingConfig pacing;
  ClosedLoopConfig closed;
  OpenLoopConfig open;
  LimitConfig limits;
  // with `profile` (and `closed`)
  ProfileConfig profile;
  // with `fio`
  FioFileConfig fio;
  // with `source` (and pacing, closed, open)
  PolicyValues source;
  // otherwise
  GeneratorConfig generator;
  // with all but `fio`
  RunConfig run;

  /// Reads what applies; see load_keys() for the words. `columns`: the section `columns:` inside
  /// the load's, or null when there is none. Throws InputError (without file and line) when the
  /// section contradicts itself. Both must outlive what is made from the result.
  static LoadConfig read(const ParameterValues& load, const ParameterValues* columns);
};

/// The words of a load's section and the kinds of load they go with ("trace", "profile", "fio",
/// "source", "" for a generator; none: all), for the catalogue of sections. The section `columns`
/// inside it holds ColumnsConfig::parameters().
struct LoadKeys {
  std::vector<ParameterSpec> parameters;
  std::vector<std::string> only_with;
};
std::vector<LoadKeys> load_keys();

}  // namespace tlmssd
