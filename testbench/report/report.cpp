#include "testbench/report/report.h"

#include <algorithm>
#include <fmt/format.h>
#include <tuple>

#include "testbench/report/json_values.h"
#include "testbench/report/ledger_json.h"
#include "testbench/report/series_json.h"
#include "testbench/report/statistics_view.h"

namespace tlmssd {
namespace {

using Json = nlohmann::ordered_json;

/// More than any object has that holds large ones; of a report, with what the run adds.
constexpr std::size_t k_most_members = 32;

Json latency_json(const OperationMeasurement& operation) {
  const Histogram& histogram = operation.latency();
  Json json = {{"unit", "ns"},
               {"min", nanoseconds(histogram.minimum())},
               {"mean", histogram.mean() * 1e-3},
               {"stddev", histogram.deviation() * 1e-3}};
  static constexpr std::pair<const char*, double> k_shares[] = {
      {"p1", 0.01}, {"p5", 0.05},  {"p10", 0.1},  {"p25", 0.25},    {"p50", 0.5},       {"p75", 0.75},
      {"p90", 0.9}, {"p95", 0.95}, {"p99", 0.99}, {"p99.9", 0.999}, {"p99.99", 0.9999}, {"p99.999", 0.99999}};
  for (const auto& [name, share] : k_shares) json[name] = nanoseconds(operation.percentile(share));
  json["max"] = nanoseconds(histogram.maximum());
  return json;
}

/// The distribution as points (latency in ns, share of commands not above it), at most some 250,
/// for charts.
Json distribution_json(const Histogram& histogram) {
  // Even steps in the body; in the tail, wherever an eighth of the slower commands has been passed.
  static constexpr double k_step = 1.0 / 128;
  static constexpr double k_tail_step = 1.0 / 8;
  Json points = Json::array();
  std::uint64_t seen = 0;
  double last = 0;
  const auto total = static_cast<double>(histogram.count());
  histogram.for_each([&](Picoseconds /*low*/, Picoseconds high, std::uint64_t count) {
    seen += count;
    const double share = static_cast<double>(seen) / total;
    const bool due = points.empty() || share - last >= std::min(k_step, (1 - last) * k_tail_step);
    if (!due && seen != histogram.count()) return;
    last = share;
    points.push_back({nanoseconds(std::min(high, histogram.maximum())), share});
  });
  return points;
}

/// What the drive saw of requests that were split: each command from when there was room for it in
/// the host's queue.
Json device_json(const LoadMeasurement& load, HostOpcode opcode, const RateWindow& rates) {
  const OperationMeasurement& device = *load.device(opcode);
  return {{"doc",
           "as the drive sees it: requests longer than max_transfer were split into several commands, each "
           "counted from when it found room in its queue"},
          {"split_requests", load.split_requests(opcode)},
          {"split_commands", load.pieces(opcode)},
          {"commands", device.count()},
          {"iops", rates.iops(device)},
          {"latency", latency_json(device)},
          {"ledger", mean_ledger_json(device)}};
}

Json errors_json(const auto& with_status) {
  Json errors = Json::object();
  for (std::size_t i = 1; i < k_statuses; ++i) {
    const auto status = static_cast<HostStatus>(i);
    if (with_status(status) != 0) errors[std::string(name_of(status))] = with_status(status);
  }
  return errors;
}

/// Where no time has passed there are no rates.
void add_no_rates(Json& json) {
  json["iops"] = nullptr;
  json["bandwidth"] = {{"value", nullptr}, {"unit", "B/s"}};
}

void add_rates(Json& json, const auto& part, const RateWindow& rates) {
  if (rates.span() == 0) {
    add_no_rates(json);
    return;
  }
  json["iops"] = rates.iops(part);
  json["bandwidth"] = quantity(rates.bandwidth(part), "B/s");
}

Json untimed_operation_json(const Outcomes& outcomes) {
  Json json = {{"commands", outcomes.count()}, {"bytes", outcomes.bytes}};
  add_no_rates(json);
  json["errors"] =
      errors_json([&](HostStatus status) { return outcomes.by_status[static_cast<std::size_t>(status)]; });
  return json;
}

Json operation_json(const OperationMeasurement& operation, const RateWindow& rates,
                    const std::vector<std::string>& loads) {
  Json json = object_for(k_most_members);
  json["commands"] = operation.count();
  json["bytes"] = operation.bytes();
  add_rates(json, operation, rates);
  json["errors"] = errors_json([&](HostStatus status) { return operation.with_status(status); });
  json["latency"] = latency_json(operation);
  json["distribution"] = distribution_json(operation.latency());
  json["ledger"] = mean_ledger_json(operation);
  const OperationMeasurement::Tail tail = operation.tail(0.01);
  json["tail"] = {
      {"doc",
       "the slowest commands: whole quarter octaves of latency that hold at least 1 % of the commands"},
      {"share", static_cast<double>(tail.count) / static_cast<double>(operation.count())},
      {"above_ns", nanoseconds(tail.above)},
      {"ledger", causes_json(tail.spent, tail.count)}};
  json["ledger_by_latency"] = ledger_by_latency_json(operation);
  json["percentiles"] = percentiles_json(operation, loads);
  json["slowest"] = slowest_json(operation, loads);
  return json;
}

/// Rates over the load's own time, as fio counts them.
Json own_rates_json(const auto& part, const RateWindow& own) {
  return {{"iops", own.iops(part)}, {"bandwidth", quantity(own.bandwidth(part), "B/s")}};
}

/// How busy each kind of resource was in that time; what was never at work is left out.
Json own_utilisation_json(const BusySeries& busy, const LoadMeasurement& load) {
  Json json = Json::object();
  const Picoseconds until = load.active_from() + load.active();
  for (std::size_t kind = 0; kind < busy.kinds().size(); ++kind) {
    const double share = busy.utilisation(kind, load.active_from(), until);
    if (share > 0) json[busy.kinds()[kind].label] = share;
  }
  return json;
}

/// Of one of the loads, or of all of them together.
void add_own_time(Json& json, const LoadMeasurement& load, const Measurement& measurement) {
  const RateWindow own = load.own_time();
  if (own.span() == 0) return;
  Json& group = json["own_time"];
  group = {{"doc", "from the load's first command to the end of its last, and rates over that time"},
           {"start", quantity(static_cast<double>(load.active_from()) * 1e-12, "s")},
           {"span", quantity(static_cast<double>(own.span()) * 1e-12, "s")}};
  group.update(own_rates_json(load, own));
  if (measurement.loads() > 1 || measurement.part_of_the_time(load))
    group["utilisation"] = own_utilisation_json(measurement.busy(), load);
  for (std::size_t op = 0; op < k_opcodes; ++op) {
    const auto opcode = static_cast<HostOpcode>(op);
    const auto operation = json["operations"].find(name_of(opcode));
    if (operation != json["operations"].end())
      (*operation)["own_time"] = own_rates_json(load.operation(opcode), own);
  }
}

Json depth_json(const LoadMeasurement& load, Picoseconds span) {
  Json at = Json::array();
  std::size_t highest = 0;
  const auto& times = load.time_at_depth();
  for (std::size_t depth = 0; depth < times.size(); ++depth) {
    if (times[depth] == 0) continue;
    highest = depth;
    at.push_back({depth, static_cast<double>(times[depth]) / static_cast<double>(span)});
  }
  return {{"mean", load.mean_depth()}, {"max", highest}, {"share_of_time_at_depth", at}};
}

void add_load(Json& json, const LoadMeasurement& load, const Measurement& measurement,
              const std::vector<std::string>& loads) {
  const Picoseconds span = measurement.span();
  const RateWindow& rates = measurement.rates();
  const Outcomes untimed = load.untimed();
  json["commands"] = load.count() + untimed.count();
  json["bytes"] = load.bytes() + untimed.bytes;
  add_rates(json, load, rates);
  json["queue_depth"] = depth_json(load, span);
  json["operations"] = Json::object();
  for (std::size_t op = 0; op < k_opcodes; ++op) {
    const auto opcode = static_cast<HostOpcode>(op);
    if (load.untimed(opcode).count() != 0)
      json["operations"][std::string(name_of(opcode))] = untimed_operation_json(load.untimed(opcode));
    if (load.operation(opcode).count() == 0) continue;
    Json& entry = json["operations"][std::string(name_of(opcode))];
    entry = operation_json(load.operation(opcode), rates, loads);
    if (load.device(opcode) != nullptr) entry["device"] = device_json(load, opcode, rates);
  }
  json["series"] = series_json(load, span);
}

/// Where the cliff was not met, it lies beyond what was written, or the time measured: bounds that
/// are comparable with those of drives that have met theirs.
Json with_bounds(Json cliff, const Json& report) {
  const Json& operations = report["results"]["total"]["operations"];
  const double written = operations.contains("write") ? operations["write"]["bytes"].get<double>() : 0;
  const double time = report["measured_time"]["value"].get<double>();
  for (const auto& [figure, bound, unit] : {std::tuple("written", written, "B"), {"time", time, "s"}}) {
    for (const std::string prefix : {"folding_", ""}) {
      const Json& met = cliff[prefix + figure]["value"];
      Json at_least = quantity(met.is_number() ? met.get<double>() : bound, unit);
      at_least["doc"] = "the same, or where that did not happen what was written and the time that passed";
      cliff[prefix + figure + "_at_least"] = std::move(at_least);
    }
  }
  return cliff;
}

Json pairs_json(const std::vector<std::pair<std::string, std::string>>& pairs) {
  Json json = Json::object();
  for (const auto& [key, value] : pairs) json[key] = value;
  return json;
}

/// One load, or the jobs of one: there is nothing to tell apart.
bool merges_by_itself(const RunFacts& facts) {
  const auto same_job = [&](const LoadFacts& load) {
    return !load.job.empty() && load.job == facts.loads.front().job;
  };
  return facts.loads.size() < 2 || std::all_of(facts.loads.begin(), facts.loads.end(), same_job);
}

}  // namespace

Json build_report(const RunFacts& facts, const Measurement& measurement, Json statistics) {
  const Picoseconds span = measurement.span();
  Json report = object_for(k_most_members);
  report["tlmssd"] = {{"version", facts.version}, {"schema", k_report_schema}};
  report["title"] = facts.title;
  report["seed"] = facts.seed;
  report["drive"] = facts.drive;
  if (!facts.plugins.empty()) report["plugins"] = facts.plugins;
  if (!facts.memories.empty()) report["memories"] = facts.memories;
  if (!facts.age.empty()) report["age"] = facts.age;
  report["simulated_time"] = quantity(static_cast<double>(facts.simulated) * 1e-12, "s");
  report["measured_time"] = quantity(static_cast<double>(span) * 1e-12, "s");
  report["measured_picoseconds"] = span;
  report["rate_time"] = quantity(static_cast<double>(measurement.rates().span()) * 1e-12, "s");
  report["checks"] = {{"blocks_compared", facts.checked_blocks}, {"wrong_reads", facts.mismatches}};
  std::vector<std::string> names;
  for (std::size_t i = 0; i < measurement.loads(); ++i) names.push_back(measurement.name(i));
  Json results = object_for(k_most_members);
  results["shown"] = merges_by_itself(facts) ? "total" : facts.merge ? "both" : "loads";
  results["total"] = object_for(k_most_members);
  const LoadMeasurement total = measurement.total();
  add_load(results["total"], total, measurement, names);
  if (results["shown"] != "loads" && measurement.part_of_the_time(total))
    add_own_time(results["total"], total, measurement);
  Json loads = Json::array();
  for (std::size_t i = 0; i < measurement.loads(); ++i) {
    Json load = object_for(k_most_members);
    load["name"] = measurement.name(i);
    if (i < facts.loads.size()) {
      load["description"] = facts.loads[i].description;
      if (facts.loads[i].warm_up > 0) load["warm_up_requests"] = facts.loads[i].warm_up;
      if (!facts.loads[i].trace.empty()) load["trace"] = pairs_json(facts.loads[i].trace);
    }
    add_load(load, measurement.load(i), measurement, names);
    add_own_time(load, measurement.load(i), measurement);
    loads.push_back(std::move(load));
  }
  results["loads"] = std::move(loads);
  report["results"] = std::move(results);
  if (const Json* amplification = find_group(statistics, "write amplification")) {
    report["write_amplification"] = *amplification;
  }
  if (const Json* lifetime = find_group(statistics, "lifetime")) report["lifetime"] = *lifetime;
  if (const Json* cliff = find_group(statistics, "cliff")) report["cliff"] = with_bounds(*cliff, report);
  if (!measurement.drive().samples().empty()) report["series"] = drive_series_json(measurement);
  if (!measurement.busy().ends().empty()) report["utilisation"] = utilisation_json(measurement);
  if (!facts.blocks.lines.empty()) report["blocks"] = blocks_json(facts.blocks);
  report["statistics"] = std::move(statistics);
  report["unread_parameters"] = facts.unread;
  report["warnings"] = facts.warnings;
  report["scenario"] = facts.scenario;
  return report;
}

Json build_run(const RunFacts& facts, const HostRun& run) {
  const double seconds = std::max(run.seconds, 1e-9);
  return {{"tlmssd", {{"version", facts.version}, {"schema", k_report_schema}}},
          {"started", run.started},
          {"command_line", run.command_line},
          {"wall_clock", quantity(run.seconds, "s")},
          {"precondition", quantity(run.precondition_seconds, "s")},
          {"events", run.events},
          {"events_per_second", static_cast<double>(run.events) / seconds},
          {"commands", run.commands},
          {"commands_per_second", static_cast<double>(run.commands) / seconds},
          {"simulated_time", quantity(static_cast<double>(facts.simulated) * 1e-12, "s")},
          {"peak_memory", quantity(run.peak_memory, "B")}};
}

std::string to_text(const Json& json) {
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace tlmssd
