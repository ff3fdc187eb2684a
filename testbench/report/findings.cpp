#include "testbench/report/findings.h"

#include <algorithm>
#include <fmt/format.h>

#include "models/base/quantity_text.h"
#include "testbench/report/shown_results.h"
#include "testbench/report/statistics_view.h"

namespace tlmssd {
namespace {

using Json = nlohmann::ordered_json;

constexpr double k_saturated = 0.85;
constexpr double k_share_of_commands = 0.05;  ///< from which on an operation is worth a finding

/// Causes of the ledger that have one remedy.
struct Group {
  std::string cause;
  std::string look_at;
  double share = 0;
};

/// Mean utilisation of a resource, by its label.
double busy(const Json& statistics, std::string_view label) {
  for (const Utilisation& use : plain_utilisations(statistics))
    if (use.label == label) return use.mean();
  return 0;
}

constexpr const char* k_programs = "programs of host data";

/// `own`, but a die whose array rests is kept busy by the channel: data wait to get in or out.
Group of_die_work(const Json& statistics, const char* own, const char* look_at) {
  if (busy(statistics, "channels") > busy(statistics, "die arrays"))
    return {"the flash channels", "ssd.flash.bus or ssd.flash.channels", 0};
  return {own, look_at, 0};
}

Group of_reads(const Json& statistics) {
  return of_die_work(statistics, "reads of the flash", "ssd.flash.ways or ssd.flash.channels");
}

Group of_dies(const Json& statistics) {
  const double collection = number_in(statistics, "busy gc");
  const double programs = number_in(statistics, "busy program") + number_in(statistics, "busy erase");
  const double reads = number_in(statistics, "busy read");
  if (collection >= std::max(programs, reads))
    return {"collection", "ssd.flash.spare_factor, ssd.flash.suspend or firmware.gc", 0};
  if (programs >= reads) return of_die_work(statistics, k_programs, "ssd.flash.ways or ssd.flash.channels");
  return of_reads(statistics);
}

/// What keeps the busiest resource busy: whatever waits without a cause of its own waits for that.
Group bottleneck(const Json& statistics) {
  double most = 0;
  Group result = of_dies(statistics);
  for (const Utilisation& use : plain_utilisations(statistics)) {
    if (use.mean() <= most) continue;
    if (use.label == "dies") {
      most = use.mean();
      result = of_dies(statistics);
    }
    if (const Resource* const resource = find_resource(use.label, statistics)) {
      most = use.mean();
      result = {std::string(resource->name), std::string(resource->keys.front()), 0};
    }
  }
  return result;
}

Group of_memory(const Json& statistics) {
  if (busy(statistics, "bus") >= busy(statistics, "DRAM"))
    return {"the system bus", "ssd.bus.clock or ssd.bus.width", 0};
  const Resource& dram = *find_resource("DRAM", statistics);
  return {std::string(dram.name), std::string(dram.keys.front()), 0};
}

Group remedy_of(const std::string& cause, const Json& statistics) {
  if (cause == "die busy: gc" || cause == "space wait")
    return {"collection", "ssd.flash.spare_factor, ssd.flash.suspend or firmware.gc", 0};
  if (cause == "buffer wait" || cause == "submission" || cause == "LBA hazard wait")
    return bottleneck(statistics);
  if (cause == "memory" || cause == "map fetch") return of_memory(statistics);
  if (cause == "link") return {"the host link", "ssd.host.link", 0};
  if (cause == "firmware" || cause == "core wait") return {"the controller's cores", "ssd.cpu.clock", 0};
  if (cause == "bus wait" || cause == "transfer" || cause == "flash command")
    return {"the flash channels", "ssd.flash.bus or ssd.flash.channels", 0};
  if (cause == "die busy: read") return of_reads(statistics);
  if (cause == "die busy: program" || cause == "die busy: erase")
    return of_die_work(statistics, k_programs, "ssd.flash.suspend or ssd.flash.ways");
  if (cause == "sense" || cause == "program" || cause == "erase")
    return {"the flash's own time", "ssd.flash.part", 0};
  if (cause == "decode" || cause == "decoder wait" || cause == "retry")
    return {"error correction", "ssd.flash.ecc or firmware.ecc", 0};
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
/// program holds data of all loads: it is shared out by what they wrote.
std::vector<Group> remedies_of(const Json& told, const std::string& load, const Json& report) {
  const Json& statistics = report["statistics"];
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
      add({"writes of " + name, "that load, or ssd.flash.suspend", 0}, share * part);
      rest -= share * part;
    }
    add(own, rest);
  };
  double others = 0;
  for (const auto& [who, part] : told["behind"].items()) {
    if (load.empty() || !who.starts_with("reads of ") || who == "reads of " + load) continue;
    add({who, "that load, or ssd.flash.channels", 0}, part["share"].get<double>());
    others += part["share"].get<double>();
  }
  for (const auto& [cause, part] : told["ledger"].items()) {
    const double share = part["share"].get<double>() - (cause == "die busy: read" ? others : 0);
    const Group group = remedy_of(cause, statistics);
    if (group.cause == k_programs || cause == "LBA hazard wait") {
      add_writes(group, share);
    } else {
      add(group, share);
    }
  }
  std::stable_sort(groups.begin(), groups.end(),
                   [](const Group& a, const Group& b) { return a.share > b.share; });
  return groups;
}

void saturated(const Json& statistics, std::vector<Finding>& found) {
  std::vector<std::pair<double, const Resource*>> busy;
  for (const Utilisation& use : plain_utilisations(statistics)) {
    const Resource* const resource = find_resource(use.label, statistics);
    if (resource != nullptr && use.mean() >= k_saturated) busy.emplace_back(use.mean(), resource);
  }
  std::stable_sort(busy.begin(), busy.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  for (const auto& [share, resource] : busy) {
    std::string keys;
    for (const std::string_view key : resource->keys) keys += (keys.empty() ? "" : " or ") + std::string(key);
    found.push_back({std::string(resource->name),
                     fmt::format("{}: {} of the time busy, which bounds the rate at {:.2f} times this one",
                                 resource->name, share_text(share), 1 / share),
                     keys});
  }
}

void slow_commands(const ShownResults& part, const Json& report, std::vector<Finding>& found) {
  const Json& results = *part.results;
  for (const auto& [name, operation] : results["operations"].items()) {
    const Json& told = operation["percentiles"]["p99.9"];
    const double latency = told["latency_ns"].get<double>();
    if (latency == 0 ||
        operation["commands"].get<double>() < k_share_of_commands * results["commands"].get<double>())
      continue;
    const std::vector<Group> groups = remedies_of(told, part.name, report);
    std::string shares;
    for (std::size_t i = 0; i < std::min<std::size_t>(groups.size(), 3) && groups[i].share >= 0.005; ++i)
      shares += fmt::format("{}{} {:.0f} %", i == 0 ? "" : ", ", groups[i].cause, groups[i].share * 100);
    found.push_back(
        {groups.front().cause,
         fmt::format("p99.9 of {}, {}: {}; without the first at least {}", part.of(name),
                     time_text(latency * 1e3), shares, time_text(latency * 1e3 * (1 - groups.front().share))),
         groups.front().look_at});
  }
}

}  // namespace

const Resource* find_resource(std::string_view label, const Json& statistics) {
  static const Resource other_dram = {"DRAM", "the DRAM", {"ssd.dram.model"}};
  if (label == "DRAM" && statistics.contains("dram") && statistics["dram"].contains("model"))
    return &other_dram;
  static const std::vector<Resource> all = {
      {"link in", "the host link", {"ssd.host.link"}},
      {"link out", "the host link", {"ssd.host.link"}},
      {"link", "the host link", {"ssd.host.link"}},
      {"cores", "the controller's cores", {"ssd.cpu.clock", "ssd.cpu.cores"}},
      {"bus", "the system bus", {"ssd.bus.clock", "ssd.bus.width"}},
      {"DRAM", "the DRAM", {"ssd.dram.bandwidth"}},
      {"channels", "the flash channels", {"ssd.flash.bus", "ssd.flash.channels"}}};
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Resource& one) { return one.label == label; });
  return found != all.end() ? &*found : nullptr;
}

std::vector<Finding> findings(const Json& report) {
  std::vector<Finding> found;
  if (report["measured_picoseconds"] == 0) return found;
  saturated(report["statistics"], found);
  for (const ShownResults& part : shown_results(report)) slow_commands(part, report, found);
  return found;
}

}  // namespace tlmssd
