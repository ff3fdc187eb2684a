#include "testbench/report/findings.h"

#include <algorithm>
#include <fmt/format.h>

#include "models/base/quantity_text.h"
#include "testbench/report/shown_results.h"
#include "testbench/report/statistics_view.h"

namespace tlmssd {
namespace {

using Json = nlohmann::ordered_json;

constexpr double k_busy_resource = 0.85;
constexpr double k_share_of_commands = 0.05;  ///< from which on an operation is worth a finding

/// Causes of the ledger that have one remedy.
struct Group {
  std::string cause;
  std::string look_at;
  double share = 0;
  std::string look_at_firmware = "";
};

/// The statistics, and what is worked out of them once.
struct Drive {
  Drive(const Json& of, const Suspending& suspends)
      : statistics(of), uses(plain_utilisations(of)), suspending(suspends) {}
  const Json& statistics;
  std::vector<Utilisation> uses;
  Suspending suspending;
};

/// What keeps reads from waiting for programs, and for erases with `erases`; empty: nothing that is
/// not done.
std::string suspend_key(const Drive& drive, bool programs, bool erases) {
  const Suspending& now = drive.suspending;
  if ((programs && !now.programs) || (erases && !now.erases)) return "ssd.flash.suspend";
  return programs && now.finishes_pulse ? "ssd.flash.part.suspend_point" : "";
}

/// Both, joined by `by`, or the one that there is.
std::string joined(const std::string& a, const std::string& by, const std::string& b) {
  return a + (a.empty() || b.empty() ? "" : by) + b;
}

/// Mean utilisation of a resource, by its label.
double busy(const Drive& drive, std::string_view label) {
  for (const Utilisation& use : drive.uses)
    if (use.label == label) return use.mean();
  return 0;
}

constexpr const char* k_programs = "programs of host data";
constexpr const char* k_collection = "collection";
constexpr double k_most_writes = 2.0 / 3;  ///< of all, from which on collection is one load's
/// From this share of the dies' time on, data on their way in or out are what limits them; and
/// from which on they do so for a single wait, too, of which more may be an erase.
constexpr double k_held_for_rate = 1.0 / 3;
constexpr double k_held_for_wait = 1.0 / 2;

Group of_memory(const Drive& drive) {
  if (busy(drive, "bus") >= busy(drive, "DRAM"))
    return {"the system bus", "ssd.bus.clock or ssd.bus.width", 0};
  const Resource& dram = *find_resource("DRAM", drive.statistics);
  return {std::string(dram.name), std::string(dram.keys.front()), 0};
}

/// What brings data to the dies and away: the channels, unless these wait for the memory behind
/// them.
Group of_transfers(const Drive& drive) {
  const double memory = std::max(busy(drive, "bus"), busy(drive, "DRAM"));
  if (memory >= 0.98 * busy(drive, "channels")) return of_memory(drive);
  return {"the flash channels", "ssd.flash.bus or ssd.flash.channels", 0};
}

/// Of the time in which dies are taken, the share in which their arrays rest.
double held(const Drive& drive) {
  const double dies = busy(drive, "dies");
  return dies > 0 ? 1 - busy(drive, "die arrays") / dies : 0;
}

/// `own`, but a die whose array rests is kept busy by the channel: data wait to get in or out.
Group of_die_work(const Drive& drive, const char* own, const std::string& look_at) {
  if (busy(drive, "channels") > busy(drive, "die arrays")) return of_transfers(drive);
  return {own, look_at, 0};
}

/// Whether the rate at which dies work is that of the data on their way.
bool transfers_limit(const Drive& drive) {
  return held(drive) >= k_held_for_rate || busy(drive, "channels") > busy(drive, "die arrays");
}

Group of_collection(const Drive& drive) {
  return {k_collection, joined("ssd.flash.spare_factor", ", ", suspend_key(drive, true, true)), 0,
          "firmware.gc"};
}

Group of_collection(const Drive& drive, bool transfers) {
  return transfers ? of_transfers(drive) : of_collection(drive);
}

Group of_reads(const Drive& drive) {
  return of_die_work(drive, "reads of the flash", "ssd.flash.ways or ssd.flash.channels");
}

/// What takes most of the dies' time; `share`: of the run.
Group of_dies(const Drive& drive) {
  const double held_time = held(drive) * busy(drive, "dies");
  const double collection = number_in(drive.statistics, "busy gc");
  const double programs =
      number_in(drive.statistics, "busy program") + number_in(drive.statistics, "busy erase");
  const double reads = number_in(drive.statistics, "busy read");
  Group group = of_reads(drive);
  double own = reads;
  if (collection >= std::max(programs, reads)) {
    group = of_collection(drive);
    own = collection;
  } else if (programs >= reads) {
    group = of_die_work(drive, k_programs, "ssd.flash.ways or ssd.flash.channels");
    own = programs;
  }
  const Group transfers = of_transfers(drive);
  if (transfers_limit(drive)) group = transfers;
  group.share = group.cause == transfers.cause ? held_time : own;
  return group;
}

/// What keeps the busiest resource busy: whatever waits without a cause of its own waits for that.
Group bottleneck(const Drive& drive) {
  double most = 0;
  Group result = of_dies(drive);
  result.share = 0;
  for (const Utilisation& use : drive.uses) {
    if (use.mean() <= most) continue;
    if (use.label == "dies") {
      most = use.mean();
      result = of_dies(drive);
      result.share = 0;
    }
    if (const Resource* const resource = find_resource(use.label, drive.statistics)) {
      most = use.mean();
      result = {std::string(resource->name), std::string(resource->keys.front()), 0};
    }
  }
  return result;
}

Group remedy_of(const std::string& cause, const Drive& drive) {
  if (cause == "die busy: gc") return of_collection(drive, held(drive) >= k_held_for_wait);
  if (cause == "space wait") return of_collection(drive, transfers_limit(drive));
  if (cause == "buffer wait" || cause == "submission" || cause == "LBA hazard wait") return bottleneck(drive);
  if (cause == "memory" || cause == "map fetch") return of_memory(drive);
  if (cause == "link") return {"the host link", "ssd.host.link", 0};
  if (cause == "firmware" || cause == "core wait") return {"the controller's cores", "ssd.cpu.clock", 0};
  if (cause == "bus wait" || cause == "transfer" || cause == "flash command")
    return {"the flash channels", "ssd.flash.bus or ssd.flash.channels", 0};
  if (cause == "die busy: read") return of_reads(drive);
  if (cause == "die busy: program" || cause == "die busy: erase")
    return of_die_work(drive, k_programs,
                       joined(suspend_key(drive, cause == "die busy: program", cause == "die busy: erase"),
                              " or ", "ssd.flash.ways"));
  if (cause == "sense" || cause == "program" || cause == "erase")
    return {"the flash's own time", "ssd.flash.part", 0};
  if (cause == "decode" || cause == "decoder wait" || cause == "retry")
    return {"error correction", "ssd.flash.ecc", 0, "firmware.ecc"};
  if (cause == "suspend")
    return {cause, "ssd.flash.suspend, ssd.flash.part.suspend_point or ssd.flash.part", 0};
  return {cause, "", 0};
}

/// Shares of the loads in what was written, by name.
std::vector<std::pair<std::string, double>> writers_of(const Json& report) {
  std::vector<std::pair<std::string, double>> writers;
  double sum = 0;
  for (const Json& load : report["results"]["loads"]) {
    if (!load["operations"].contains("write")) continue;
    writers.emplace_back(load["name"].get<std::string>(), load["operations"]["write"]["bytes"].get<double>());
    sum += writers.back().second;
  }
  for (auto& [name, share] : writers) share /= std::max(sum, 1.0);
  return writers;
}

/// The groups of a percentile's ledger, largest first; reads and writes of other loads by name. A
/// program holds data of all loads: it is shared out by what they wrote. So is what a read waited
/// for the write buffer, which was behind a write of its blocks.
std::vector<Group> remedies_of(const Json& told, const std::string& load, bool of_read, const Json& report,
                               const Drive& drive) {
  std::vector<Group> groups;
  const auto add = [&](Group group, double share) {
    auto at =
        std::find_if(groups.begin(), groups.end(), [&](const Group& g) { return g.cause == group.cause; });
    if (at == groups.end()) at = groups.insert(groups.end(), std::move(group));
    at->share += share;
  };
  const auto writers = writers_of(report);
  const auto add_writes = [&](const Group& own, double share) {
    double rest = share;
    for (const auto& [name, part] : writers) {
      if (load.empty() || name == load) continue;
      add({"writes of " + name, joined("that load", ", or ", suspend_key(drive, true, false)), 0},
          share * part);
      rest -= share * part;
    }
    add(own, rest);
  };
  std::string for_whom;  // who wrote most of what collection makes space for
  for (const auto& [name, part] : writers)
    if (part >= k_most_writes) for_whom = name;
  double others = 0;
  for (const auto& [who, part] : told["behind"].items()) {
    if (load.empty() || !who.starts_with("reads of ") || who == "reads of " + load) continue;
    add({who, "that load, or ssd.flash.channels", 0}, part["share"].get<double>());
    others += part["share"].get<double>();
  }
  for (const auto& [cause, part] : told["ledger"].items()) {
    const double share = part["share"].get<double>() - (cause == "die busy: read" ? others : 0);
    Group group = remedy_of(cause, drive);
    if (group.cause == k_collection && !load.empty() && !for_whom.empty() && for_whom != load) {
      group.cause += " for writes of " + for_whom;
      group.look_at.insert(0, "that load, ");
    }
    if (group.cause == k_programs || cause == "LBA hazard wait" || (of_read && cause == "buffer wait")) {
      add_writes(group, share);
    } else {
      add(group, share);
    }
  }
  std::stable_sort(groups.begin(), groups.end(),
                   [](const Group& a, const Group& b) { return a.share > b.share; });
  return groups;
}

void saturated(const Drive& drive, std::vector<Finding>& found) {
  std::vector<std::pair<double, const Resource*>> busy;
  for (const Utilisation& use : drive.uses) {
    const Resource* const resource = find_resource(use.label, drive.statistics);
    if (resource != nullptr && use.mean() >= k_busy_resource) busy.emplace_back(use.mean(), resource);
  }
  std::stable_sort(busy.begin(), busy.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  for (const auto& [share, resource] : busy) {
    std::string keys;
    for (const std::string_view key : resource->keys) keys += (keys.empty() ? "" : " or ") + std::string(key);
    found.push_back({std::string(resource->name),
                     fmt::format("{}: {} of the time busy, which bounds the rate at {:.2f} times this one",
                                 resource->full_name(), share_text(share), 1 / share),
                     keys});
  }
}

/// Utilisation of the busiest resource beside the dies, which limits the rate when these do not.
double busiest_beside_dies(const Drive& drive) {
  double most = 0;
  for (const Utilisation& use : drive.uses)
    if (find_resource(use.label, drive.statistics) != nullptr) most = std::max(most, use.mean());
  return most;
}

/// Several loads are told by name, each in its own percentiles; of one it is said here.
void saturated_dies(const Json& report, const Drive& drive, std::vector<Finding>& found) {
  const double dies = busy(drive, "dies");
  if (dies < k_busy_resource || shown_results(report).size() > 1) return;
  const Group group = of_dies(drive);
  if (std::any_of(found.begin(), found.end(), [&](const Finding& one) { return one.cause == group.cause; }))
    return;
  found.push_back({group.cause,
                   fmt::format("the dies: {} of the time busy, {} for {}; without that at most {:.1f} times "
                               "the rate",
                               share_text(dies), share_text(group.share), group.cause,
                               1 / std::max({1 - group.share / dies, busiest_beside_dies(drive), 1e-3})),
                   group.look_at, group.look_at_firmware});
}

void slow_commands(const ShownResults& part, const Json& report, const Drive& drive,
                   std::vector<Finding>& found) {
  const Json& results = *part.results;
  for (const auto& [name, operation] : results["operations"].items()) {
    const Json& told = operation["percentiles"]["p99.9"];
    const double latency = told["latency_ns"].get<double>();
    if (latency == 0 ||
        operation["commands"].get<double>() < k_share_of_commands * results["commands"].get<double>())
      continue;
    const std::vector<Group> groups = remedies_of(told, part.name, name == "read", report, drive);
    std::string shares;
    for (std::size_t i = 0; i < std::min<std::size_t>(groups.size(), 3) && groups[i].share >= 0.005; ++i)
      shares += fmt::format("{}{} {:.0f} %", i == 0 ? "" : ", ", groups[i].cause, groups[i].share * 100);
    found.push_back(
        {groups.front().cause,
         fmt::format("p99.9 of {}, {}: {}; without the first at least {}", part.of(name),
                     time_text(latency * 1e3), shares, time_text(latency * 1e3 * (1 - groups.front().share))),
         groups.front().look_at, groups.front().look_at_firmware});
  }
}

}  // namespace

const Resource* find_resource(std::string_view label, const Json& statistics) {
  static const Resource other_dram = {"DRAM", "the DRAM", {"ssd.dram.model"}};
  if (label == "DRAM" && statistics.contains("dram") && statistics["dram"].contains("model"))
    return &other_dram;
  if (label == "link in" || label == "link out") {
    const Json* const link = find_group(statistics, "link");
    if (link != nullptr && link->contains("utilisation")) return nullptr;
  }
  static const std::vector<Resource> all = {
      {"link in", "the host link", {"ssd.host.link"}, ", to the device"},
      {"link out", "the host link", {"ssd.host.link"}, ", to the host"},
      {"link", "the host link", {"ssd.host.link"}},
      {"cores", "the controller's cores", {"ssd.cpu.clock", "ssd.cpu.cores"}},
      {"bus", "the system bus", {"ssd.bus.clock", "ssd.bus.width"}},
      {"DRAM", "the DRAM", {"ssd.dram.bandwidth"}},
      {"channels", "the flash channels", {"ssd.flash.bus", "ssd.flash.channels"}}};
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Resource& one) { return one.label == label; });
  return found != all.end() ? &*found : nullptr;
}

std::vector<Finding> findings(const Json& report, const Suspending& suspending) {
  std::vector<Finding> found;
  if (report["measured_picoseconds"] == 0) return found;
  const Drive drive(report["statistics"], suspending);
  saturated(drive, found);
  saturated_dies(report, drive, found);
  for (const ShownResults& part : shown_results(report)) slow_commands(part, report, drive, found);
  return found;
}

}  // namespace tlmssd
