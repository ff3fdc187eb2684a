// What limits a run, by rule: which resource is saturated, and what the slow commands of each load
// wait for.
//
// A finding has a cause, its evidence and the parameter to look at. How many times the rate there
// may be without the cause is a bound, of utilisations and of the commands that are outstanding,
// but for rewrites of regions an estimate. Of a latency it is told what the ledger does not charge
// to the cause. That is no bound: other waits may take its place, and waits behind others shrink
// with what these take. A wait for the write buffer or in the host's queue is explained by what
// keeps the busiest resource busy, by the utilisation law, of memory only where accesses wait for
// one another; where all are idle half of the time, by the limit itself. Latencies of link and
// memory are told apart from what bandwidth shortens. Dies that are busy without a queue limit by
// the time that they take, not by their number. Programs that hold little of what the host wrote
// are told with what makes them so.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "testbench/report/advice/chosen_limits.h"

namespace tlmssd {

struct Finding {
  std::string cause;    ///< "collection", "reads of backup", "the system bus", ...
  std::string text;     ///< with the evidence
  std::string look_at;  ///< parameters
  /// One more, of the program's own firmware; empty: none. Other firmware has no such parameter.
  std::string look_at_firmware = "";
  [[nodiscard]] std::string look_at_all() const {
    return look_at + (look_at.empty() || look_at_firmware.empty() ? "" : " or ") + look_at_firmware;
  }
};

/// The most important first. `report`: as build_report makes it.
std::vector<Finding> findings(const nlohmann::ordered_json& report, const ChosenLimits& limits = {});

}  // namespace tlmssd
