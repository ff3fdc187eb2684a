// What limits a run, by rule: which resource is saturated, and what the slow commands of each load
// wait for.
//
// A finding has a cause, its evidence and the parameter to look at. How fast things would be
// without the cause is a bound: of a latency, what the ledger does not charge to it; other waits
// may take its place. A wait for the write buffer or in the host's queue is explained by what keeps
// the busiest resource busy, by the utilisation law.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace tlmssd {

struct Finding {
  std::string cause;    ///< "collection", "reads of backup", "the system bus", ...
  std::string text;     ///< with the evidence
  std::string look_at;  ///< parameters
  /// One more, of the program's own firmware; empty: none. Other firmware has no such parameter.
  std::string look_at_firmware = "";
  [[nodiscard]] std::string look_at_all() const {
    return look_at_firmware.empty() ? look_at : look_at + " or " + look_at_firmware;
  }
};

/// What dies put aside for reads, which is no advice any more.
struct Suspending {
  bool programs = false;
  bool erases = false;
  bool finishes_pulse = false;  ///< reads wait for the end of the pulse (suspend_point: next)
};

/// A resource of the drive whose use is in the statistics.
struct Resource {
  std::string_view label;  ///< as in plain_utilisations()
  std::string_view name;
  std::vector<std::string_view> keys;  ///< parameters that say how fast it is
  std::string_view part = "";          ///< which of its parts this is of, where they work side by side
  [[nodiscard]] std::string full_name() const { return std::string(name) + std::string(part); }
};
/// What limits under this label of plain_utilisations(statistics); null: nothing that a parameter
/// would widen, or a direction of a link that is half duplex, which both share.
const Resource* find_resource(std::string_view label, const nlohmann::ordered_json& statistics);

/// The most important first. `report`: as build_report makes it.
std::vector<Finding> findings(const nlohmann::ordered_json& report, const Suspending& suspending = {});

}  // namespace tlmssd
