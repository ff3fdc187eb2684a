// A load as the host driver runs it: a stream of placed requests and the rules for issuing them.
//
// A scenario's `load:` (or each entry of `loads:`) is a trace, the profile of a volume, a generator
// in fio's words, or a fio job file; one entry can make several loads (numjobs, several jobs in a
// file). Each runs on a queue of its own.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/base/input_error.h"
#include "testbench/loads/config/load_config.h"
#include "testbench/loads/requests/placement.h"

namespace tlmssd {

enum class Pacing : std::uint8_t {
  closed_loop,  ///< `queue_depth` requests are kept outstanding; PlacedRequest::time is ignored
  open_loop,  ///< a request is issued at its time, or later when `queue_depth` (if not 0) are outstanding already
};

struct Load {
  std::string name;
  std::string job;   ///< the loads of one job (numjobs) have it in common
  std::string kind;  ///< which options it has: "trace", "profile", "fio", "source" or, made, ""
  std::vector<std::string> longer_by = {};  ///< options that would have it ask for more
  std::vector<std::string> alone_by = {};   ///< options that have it ask for flushes and trims
  std::string description;                  ///< one line for the report: what it is and how it was read
  std::unique_ptr<PlacedSource> source;
  Pacing pacing = Pacing::closed_loop;
  std::uint32_t queue_depth = 1;  ///< open loop: 0 means no limit
  std::int32_t queue = -1;        ///< host queue; -1: the next one in turn
  std::uint32_t phase = 0;  ///< loads of phase n start when all of phase n-1 have ended (fio: stonewall)
  Picoseconds start = 0;    ///< after the start of its phase, or of one before
  std::uint32_t delay_phases =
      0;  ///< phases before its own in which `start` counts already (fio: all of a job file's)
  Picoseconds runtime = k_never;    ///< stop issuing this long after the start (after start and ramp_time)
  Picoseconds ramp_time = 0;        ///< first part that is run but not measured
  std::uint64_t ramp_requests = 0;  ///< the same as a number of requests
  std::uint64_t warm_up = 0;        ///< requests from the front that are carried out untimed before the run
  std::uint64_t requests = 0;       ///< stop after so many more requests; 0: when the source ends
  Picoseconds think_time = 0;       ///< pause when `think_blocks` have completed and none is outstanding
  std::uint32_t think_blocks = 1;
  bool end_fsync =
      false;  ///< when all it has asked for is done, a flush, unless it has written nothing since its last
  std::uint64_t wanted = 0;  ///< requests that number_ios asks for; 0: none in particular
  bool made = false;         ///< by a generator, alike from beginning to end
  std::optional<WritePattern> writes = std::nullopt;  ///< of made loads that write
  /// All that it may ask for; nothing: that is not known beforehand.
  std::optional<std::vector<HostOpcode>> operations = std::nullopt;
  bool time_based = false;  ///< the source never ends by itself
  /// The next request, when `before` have been taken; false when there is to be none. Throws what
  /// the source throws.
  bool next(PlacedRequest& request, std::uint64_t before) const {
    return (requests == 0 || before < requests) && source->next(request);
  }
  [[nodiscard]] const std::string& job_name() const { return job.empty() ? name : job; }
  /// Where users find `option` of it.
  [[nodiscard]] std::string key_of(const std::string& option) const {
    return kind == "fio" ? option + " in the job file" : "load." + option;
  }
  /// The same of those of `options` that go with a load of its kind.
  [[nodiscard]] std::vector<std::string> keys_of(const std::vector<std::string>& options) const;
  /// Whether `runtime` alone ends the load.
  [[nodiscard]] bool endless() const { return time_based && requests == 0; }
  std::vector<std::string> warnings;  ///< things in the input that have no effect here
};

/// What is said of a warm-up of so many requests that leaves nothing of a load of `all`.
InputError warm_up_takes_all(std::uint64_t requests, std::uint64_t all);

/// When `load` runs, as a scenario says it.
void schedule(Load& load, const RunConfig& run);

/// All loads of one scenario entry, laid onto `drive`. `seed` is the scenario's; relative file
/// names are looked up in `directory`. Reads a trace once from end to end, so that bad input is
/// found before the run. Throws InputError.
std::vector<Load> make_loads(const LoadConfig& config, const DriveSize& drive, std::uint64_t seed,
                             const std::string& directory = {});

}  // namespace tlmssd
