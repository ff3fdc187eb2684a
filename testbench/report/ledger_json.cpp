#include "testbench/report/ledger_json.h"

#include <algorithm>

#include "testbench/report/json_values.h"

namespace tlmssd {
namespace {

using Json = nlohmann::ordered_json;

/// "reads of backup", "collection's programs", "flushes and trims of oltp".
std::string blocker_name(std::size_t blocker, const std::vector<std::string>& loads) {
  if (blocker == k_behind_gc_read) return "collection's reads";
  if (blocker == k_behind_gc_program) return "collection's programs";
  if (blocker == k_behind_gc_erase) return "collection's erases";
  const bool alone = blocker >= k_behind_alone;
  const std::size_t owner = alone ? blocker - k_behind_alone : blocker;
  const std::string what = alone ? k_alone_of : k_reads_of;
  if (owner + 1 == k_owners && loads.size() > k_owners) return what + k_other_loads;
  return what + (owner < loads.size() ? loads[owner] : std::string("the host"));
}

/// The part of a ledger in which dies were busy with known work of others, or the queue stood for
/// commands that SATA runs alone.
template <class Part>
Json behind_json(const std::array<Part, k_blockers>& behind, double latency,
                 const std::vector<std::string>& loads) {
  Json json = Json::object();
  for (std::size_t i = 0; i < k_blockers; ++i) {
    const auto part = static_cast<double>(behind[i]);
    if (part > 0) json[blocker_name(i, loads)] = {{"ns", nanoseconds(part)}, {"share", part / latency}};
  }
  return json;
}

Json slow_json(const SlowCommand& command, const std::vector<std::string>& loads) {
  Json way = Json::array();
  Picoseconds at = 0;
  for (std::size_t i = 0; i < k_causes; ++i) {
    if (command.spent[i] == 0) continue;
    way.push_back({{"cause", name_of(static_cast<Cause>(i))}, {"ps", command.spent[i]}});
    at += command.spent[i];
  }
  Json json = {{"load", command.load < loads.size() ? loads[command.load] : ""},
               {"latency_ps", at},
               {"submitted_ps", command.submitted},
               {"completed_ps", command.submitted + command.latency},
               {"lba", command.lba},
               {"bytes", command.bytes},
               {"queue", command.queue},
               {"status", name_of(command.status)}};
  json["way"] = std::move(way);
  json["behind"] = behind_json(command.behind, static_cast<double>(command.latency), loads);
  return json;
}

}  // namespace

Json causes_json(const std::array<__int128, k_causes>& spent, std::uint64_t commands) {
  double total = 0;
  for (const __int128 part : spent) total += static_cast<double>(part);
  Json json = Json::object();
  for (std::size_t i = 0; i < k_causes; ++i) {
    if (spent[i] == 0) continue;
    const auto part = static_cast<double>(spent[i]);
    json[std::string(name_of(static_cast<Cause>(i)))] = {
        {"mean_ns", nanoseconds(part) / static_cast<double>(commands)}, {"share", part / total}};
  }
  return json;
}

Json mean_ledger_json(const OperationMeasurement& operation) {
  std::array<__int128, k_causes> spent{};
  for (std::size_t i = 0; i < k_causes; ++i) spent[i] = operation.spent(static_cast<Cause>(i));
  return causes_json(spent, operation.count());
}

/// Where the time went of the commands in each quarter octave of latency.
Json ledger_by_latency_json(const OperationMeasurement& operation) {
  Json bins = Json::array();
  operation.for_each_bin([&](Picoseconds start, const LedgerBin& bin) {
    Json causes = Json::object();
    for (std::size_t i = 0; i < k_causes; ++i) {
      if (bin.spent[i] == 0) continue;
      causes[std::string(name_of(static_cast<Cause>(i)))] =
          nanoseconds(static_cast<double>(bin.spent[i])) / static_cast<double>(bin.count);
    }
    bins.push_back(
        {{"from_ns", nanoseconds(static_cast<double>(start))}, {"commands", bin.count}, {"mean_ns", causes}});
  });
  return bins;
}

Json percentiles_json(const OperationMeasurement& operation, const std::vector<std::string>& loads) {
  Json json = {
      {"doc",
       "why commands at each percentile take so long: causes add up to its latency, in the shares of "
       "`commands` commands next to it, by rank (exact) or within a sixteenth of an octave; `behind`: "
       "the part in which a die was busy with known work of others, or the queue of SATA stood for flushes "
       "and trims"}};
  for (const auto& [name, share] : k_explained) {
    const PercentileLedger told = operation.explain(share);
    const auto latency = static_cast<double>(told.latency);
    Json entry = {{"latency_ns", nanoseconds(latency)}, {"commands", told.commands}, {"exact", told.exact}};
    entry["ledger"] = Json::object();
    for (std::size_t i = 0; i < k_causes; ++i) {
      if (told.spent[i] == 0) continue;
      entry["ledger"][std::string(name_of(static_cast<Cause>(i)))] = {{"ns", nanoseconds(told.spent[i])},
                                                                      {"share", told.spent[i] / latency}};
    }
    entry["behind"] = behind_json(told.behind, latency, loads);
    json[name] = std::move(entry);
  }
  return json;
}

Json slowest_json(const OperationMeasurement& operation, const std::vector<std::string>& loads) {
  const std::vector<const SlowCommand*> commands = operation.slowest().sorted();
  Json json = Json::array();
  for (std::size_t i = 0; i < std::min(commands.size(), k_slowest_told); ++i)
    json.push_back(slow_json(*commands[i], loads));
  return json;
}

}  // namespace tlmssd
