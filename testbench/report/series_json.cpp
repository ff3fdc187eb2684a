#include "testbench/report/series_json.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "testbench/report/json_values.h"

namespace tlmssd {
namespace {

using Json = nlohmann::ordered_json;

/// Three digits or more, which is what a step's percentile is worth; keeps reports short.
double rounded(double value) {
  return value < 1000 ? std::round(value * 10) / 10 : std::round(value);
}

/// Programs come in bursts: amplification is that of the last so many intervals together.
constexpr std::size_t k_window = 16;

/// As many as a figure shows.
constexpr std::size_t k_most_intervals = 64;

Json amplification(const std::vector<DriveSample>& samples, std::size_t i) {
  const DriveSample& before = samples[i > k_window ? i - k_window : 0];
  const DriveSample& now = samples[i];
  if (now.written <= before.written) return nullptr;
  return static_cast<double>(now.programmed - before.programmed) /
         static_cast<double>(now.written - before.written);
}

}  // namespace

Json series_json(const LoadMeasurement& load, Picoseconds span) {
  Json json = {{"step", quantity(static_cast<double>(load.step_width()) * 1e-12, "s")}};
  const auto length = [&](std::size_t i) {
    return std::min(load.step_width(), span - static_cast<Picoseconds>(i) * load.step_width());
  };
  const auto column = [&](auto&& of) {
    Json values = Json::array();
    for (std::size_t i = 0; i < load.series().size() && length(i) > 0; ++i)
      values.push_back(of(load.series()[i], length(i), i));
    return values;
  };
  json["queue_depth"] = column([](const SeriesStep& step, Picoseconds time, std::size_t /*i*/) {
    return static_cast<double>(step.depth_time) / static_cast<double>(time);
  });
  for (std::size_t op = 0; op < k_opcodes; ++op) {
    const auto opcode = static_cast<HostOpcode>(op);
    if (load.operation(opcode).count() == 0) continue;
    Json& entry = json[std::string(name_of(opcode))];
    entry["iops"] = column([op](const SeriesStep& step, Picoseconds time, std::size_t /*i*/) {
      return per_second(step.commands[op], time);
    });
    entry["bandwidth"] = column([op](const SeriesStep& step, Picoseconds time, std::size_t /*i*/) {
      return per_second(step.bytes[op], time);
    });
    for (const auto& [name, share] : {std::pair{"p50", 0.5}, {"p99", 0.99}, {"p99.9", 0.999}}) {
      entry["latency"][name] =
          column([&, share = share](const SeriesStep& /*step*/, Picoseconds /*time*/, std::size_t i) -> Json {
            const std::optional<double> latency = load.latency_steps(opcode).percentile(i, share);
            return latency ? Json(rounded(*latency * 1e-3)) : Json();
          });
    }
  }
  return json;
}

Json drive_series_json(const Measurement& measurement) {
  const std::vector<DriveSample>& samples = measurement.drive().samples();
  Json json = {
      {"doc",
       "the drive at instants since measurement began (s): blocks ready to be written, mapping pages "
       "in the write buffer, write amplification over the last 16 intervals, and bytes that "
       "collection moved and erases per second since the instant before"}};
  for (const char* name : {"time", "free_blocks", "buffered", "write_amplification", "collection", "erases"})
    json[name] = Json::array();
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const DriveSample& now = samples[i];
    const DriveSample& before = samples[i == 0 ? 0 : i - 1];
    const Picoseconds time = now.when - before.when;
    json["time"].push_back(static_cast<double>(now.when - measurement.started()) * 1e-12);
    json["free_blocks"].push_back(now.inside_known ? Json(now.free_blocks) : Json(nullptr));
    json["buffered"].push_back(now.inside_known ? Json(now.buffered) : Json(nullptr));
    json["write_amplification"].push_back(amplification(samples, i));
    json["collection"].push_back(per_second(now.collected - before.collected, time));
    json["erases"].push_back(per_second(now.erases - before.erases, time));
  }
  return json;
}

Json utilisation_json(const Measurement& measurement) {
  const BusySeries& busy = measurement.busy();
  std::vector<Picoseconds> ends = busy.ends();
  const std::size_t together = (ends.size() + k_most_intervals - 1) / k_most_intervals;
  std::vector<Picoseconds> shown;  // counted from the end, so that the last one is whole
  for (std::size_t i = ends.size(); i > 0; i -= std::min(i, together)) shown.push_back(ends[i - 1]);
  std::reverse(shown.begin(), shown.end());
  Json json = {{"doc",
                "how busy all of a kind of resource were, on average over intervals that end at `time` (s "
                "since measurement began); `dies: ...` is what dies were busy with"},
               {"time", Json::array()},
               {"resources", Json::object()}};
  for (const Picoseconds end : shown) json["time"].push_back(static_cast<double>(end) * 1e-12);
  for (std::size_t kind = 0; kind < busy.kinds().size(); ++kind) {
    if (shown.empty() || busy.utilisation(kind, 0, shown.back()) == 0) continue;
    Json& values = json["resources"][busy.kinds()[kind].label] = Json::array();
    Picoseconds from = 0;
    for (const Picoseconds end : shown)
      values.push_back(std::round(busy.utilisation(kind, std::exchange(from, end), end) * 1e4) / 1e4);
  }
  return json;
}

Json blocks_json(const BlockCensus& blocks) {
  Json json = {
      {"doc",
       "blocks of parallel units at the end: [erase count, blocks], and by twentieths of their units "
       "that are valid; `map` has a line for each (or for several) of them, and cells that are the "
       "means of neighbouring blocks"}};
  json["by_erases"] = Json::array();
  for (const auto& [erases, number] : blocks.by_erases) json["by_erases"].push_back({erases, number});
  json["by_valid"] = blocks.by_valid;
  json["free"] = blocks.free;
  json["retired"] = blocks.retired;
  Json& map = json["map"];
  map["parallel_units_per_line"] = blocks.parallel_units_per_line;
  map["blocks_per_column"] = blocks.blocks_per_column;
  for (const char* name : {"erases", "valid"}) map[name] = Json::array();
  for (const auto& line : blocks.lines) {
    Json erases = Json::array();
    Json valid = Json::array();
    for (const BlockCensus::Cell& cell : line) {
      erases.push_back(rounded(cell.erases));
      valid.push_back(std::round(cell.valid * 1000) / 1000);
    }
    map["erases"].push_back(std::move(erases));
    map["valid"].push_back(std::move(valid));
  }
  return json;
}

}  // namespace tlmssd
