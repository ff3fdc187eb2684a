// report.json: everything about a run that the scenario and the seed determine. What depends on the
// host (wall-clock time, events per second) is in run.json, so that the same seed gives the same
// bytes here.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "testbench/measure/block_census.h"
#include "testbench/measure/measurement.h"

namespace tlmssd {

/// What is said of one load, in the order of Measurement's loads.
struct LoadFacts {
  std::string description;  ///< one line: generator or trace, pacing
  std::vector<std::pair<std::string, std::string>>
      trace;  ///< what was understood of a trace; empty for a generator
  std::vector<std::pair<std::string, std::string>>
      options;                ///< the load in fio's words, for fio.json ("rw", "bs", ...)
  std::uint64_t warm_up = 0;  ///< requests carried out untimed before the run
  std::string job = {};       ///< the loads of one job (numjobs) have it in common
  std::uint32_t group = 0;    ///< one more behind every stone wall
};

struct RunFacts {
  std::string version;
  std::vector<std::string> plugins;  ///< loaded, with their versions
  std::string title;
  std::uint64_t seed = 0;
  std::string drive;     ///< one line: protocol, capacity, channels x dies, part
  std::string memories;  ///< one line: those from outside; empty: none
  std::string age;       ///< one line: what it has been through without simulated time; empty: nothing
  std::string scenario;  ///< resolved, as YAML text
  std::vector<LoadFacts> loads;
  bool merge = false;                 ///< all loads together are asked for
  std::vector<std::string> unread;    ///< parameters that are set and play no part
  std::vector<std::string> warnings;  ///< one line each
  BlockCensus blocks;
  Picoseconds simulated = 0;         ///< from the start of the simulation, with warm-up
  std::uint64_t checked_blocks = 0;  ///< logical blocks compared by the scoreboard
  std::uint64_t mismatches = 0;
};

/// The host's side of a run.
struct HostRun {
  double seconds = 0;  ///< wall clock, without preconditioning
  double precondition_seconds = 0;
  std::uint64_t commands = 0;     ///< carried out in `seconds`, measured or not
  std::uint64_t events = 0;       ///< event queue items executed
  std::uint64_t peak_memory = 0;  ///< bytes
  std::string started;            ///< ISO 8601, UTC
  std::vector<std::string> command_line;
};

inline constexpr int k_report_schema = 1;

/// `statistics` is what JsonSink collected from the modules.
nlohmann::ordered_json build_report(const RunFacts& facts, const Measurement& measurement,
                                    nlohmann::ordered_json statistics);
/// run.json.
nlohmann::ordered_json build_run(const RunFacts& facts, const HostRun& run);
/// fio.json in fio 3.33's json+ layout, one job for each load. Completion latency is the whole
/// latency, submission latency 0; write zeroes count with trims; time stamps are 0. iodepth_level
/// is weighted by time.
nlohmann::ordered_json fio_json(const RunFacts& facts, const Measurement& measurement);
/// Text of a JSON file.
std::string to_text(const nlohmann::ordered_json& json);

}  // namespace tlmssd
