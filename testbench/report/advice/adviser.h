// Whether to believe a run: rules that look at what was measured and say where a figure means
// something else than it seems to.
//
// Each rule has a name by which `report.silence` silences it. A rule speaks of evidence in the
// report and names the parameter to look at. Of runs without simulated time those rules speak that
// judge by what the drive did or by how the loads ended.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/base/types.h"

namespace tlmssd {

struct Advice {
  std::string name;
  std::string text;     ///< what was seen and what it means, one or two sentences
  std::string look_at;  ///< parameter
};

/// How a load came to its end.
struct LoadEnd {
  std::string name;
  std::string job;             ///< the loads of one job (numjobs) have it in common
  std::uint32_t group = 0;     ///< loads of one group run side by side
  std::uint32_t queue = 0;     ///< of the host
  std::uint64_t issued = 0;    ///< requests
  std::uint64_t measured = 0;  ///< of an untimed run, those behind the ramps of all loads
  std::uint64_t wanted = 0;    ///< number_ios; 0: not given
  Picoseconds lag = 0;         ///< by which its last request was issued after its time; open loop only
  Picoseconds lasted = 0;      ///< from its start to its last request
  Picoseconds active = 0;      ///< of the time measured, from its first command to the end of its last
  bool by_time = false;        ///< its runtime ended it
  bool made = false;           ///< by a generator in closed loop: it asks for the same all the time
  std::uint32_t depth = 0;     ///< requests that it keeps outstanding; 0: open loop
  std::vector<std::string> longer_by;  ///< parameters that would have it ask for more
  /// Parameters: those of the given options that go with a load of its kind.
  std::function<std::vector<std::string>(const std::vector<std::string>&)> keys;
  std::string unlike_steady;  ///< how its writes differ from those that `state: steady` assumes; empty: not
};

struct AdviserFacts {
  bool timed = true;
  bool all_ramp = false;  ///< the loads were carried out, and ended before measurement began
  Bytes user = 0;         ///< bytes
  Bytes flash = 0;        ///< all of it
  Bytes write_buffer = 0;
  Bytes unit = 0;                        ///< mapping page; 0: firmware of one's own does not say
  double blocks_of_spare = 0;            ///< of each parallel unit
  bool own_firmware = true;              ///< the program's own
  bool background_without_room = false;  ///< collection in the background is asked for and never happens
  bool copies_wait = false;              ///< a read waits for room for what it copies into the cache
  bool drawn_steady = false;             ///< `state: steady` was the last to write the drive before the loads
  bool came_to_rest = false;             ///< overwritten, and then left to collection in the background
  Bytes block = 0;                 ///< of those that firmware counts as free; 0: its own firmware has none
  std::uint32_t queue_depth = 0;   ///< commands that a queue of the host holds
  std::string key_of_queue_depth;  ///< parameter
  /// How the scenario has it that queues have turns ("weighted arbitration"); empty: it says
  /// nothing of that.
  std::string turns;
  std::vector<LoadEnd> loads;
  std::vector<std::pair<std::string, std::string>> out_of_reach;  ///< text and parameter of each such limit
  double simulated = 0;                       ///< seconds, from the first step of preparation that takes time
  double pass_voltage_interval = 0;           ///< seconds between two steps down of a block; 0: any
  std::vector<std::string> targets_with_few;  ///< those of percentiles beyond which no command lies
  std::function<bool(std::string_view path)> changed;  ///< whether this parameter is not at its default
};

/// Names of all rules with a sentence each, for `report.silence` and the documents.
std::vector<std::pair<std::string, std::string>> adviser_rules();

/// What concerns a missed target comes first, the rest by how much of the run it puts in doubt.
/// `report`: as build_report makes it. Rules that `silenced` names keep silent.
std::vector<Advice> advise(const nlohmann::ordered_json& report, const AdviserFacts& facts,
                           const std::vector<std::string>& silenced);

/// A rule that speaks of what the lifetime is reckoned from: write amplification has not settled.
bool leaves_lifetime_open(const std::string& rule);

}  // namespace tlmssd
