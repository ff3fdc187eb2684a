// fio.json: the field set and order of fio 3.33's show_thread_status_json (stat.c), with latencies
// also in fio's own bins.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <span>

#include "testbench/report/report.h"

namespace tlmssd {
namespace {

using Json = nlohmann::ordered_json;

std::uint64_t milliseconds(Picoseconds time) {
  return static_cast<std::uint64_t>((time + 500'000'000) / 1'000'000'000);
}
std::uint64_t whole_nanoseconds(Picoseconds time) {
  return static_cast<std::uint64_t>(time) / 1000;
}

/// The middle of fio's bin (64 for each factor of two) that holds a latency in nanoseconds.
std::uint64_t fio_bin(std::uint64_t ns) {
  if (ns < 128) return ns;
  const unsigned shift = static_cast<unsigned>(std::bit_width(ns)) - 7;
  return ((ns >> shift) << shift) + (std::uint64_t{1} << (shift - 1));
}

/// Percentiles are those of report.json: of the slowest commands exactly.
Json latency_object(const OperationMeasurement& operation) {
  const Histogram& histogram = operation.latency();
  Json json = {{"min", whole_nanoseconds(histogram.minimum())},
               {"max", whole_nanoseconds(histogram.maximum())},
               {"mean", histogram.mean() * 1e-3},
               {"stddev", histogram.deviation() * 1e-3},
               {"N", histogram.count()}};
  if (histogram.count() == 0) return json;
  static constexpr std::array<double, 17> k_list = {1,  5,  10, 20, 30,   40,   50,    60,   70,
                                                    80, 90, 95, 99, 99.5, 99.9, 99.95, 99.99};
  for (const double percent : k_list) {
    json["percentile"][fmt::format("{:.6f}", percent)] =
        whole_nanoseconds(operation.percentile(percent / 100));
  }
  std::map<std::uint64_t, std::uint64_t> bins;
  histogram.for_each([&](Picoseconds low, Picoseconds high, std::uint64_t count) {
    bins[fio_bin(whole_nanoseconds(low + (high - low) / 2))] += count;
  });
  for (const auto& [value, count] : bins) json["bins"][std::to_string(value)] = count;
  return json;
}

/// Smallest, largest, mean and deviation of one quantity over the steps of a series that lie in the
/// job's runtime.
struct Samples {
  double minimum = 0;
  double maximum = 0;
  double mean = 0;
  double deviation = 0;
  std::uint64_t count = 0;
};

template <class Of>
Samples sample(const LoadMeasurement& load, Of&& of) {
  Samples result;
  double sum = 0;
  double squares = 0;
  const Picoseconds width = load.step_width();
  const Picoseconds end = load.active_from() + load.active();
  const auto first = static_cast<std::size_t>((load.active_from() + width - 1) / width);
  for (std::size_t i = first; i < load.series().size(); ++i) {
    if (static_cast<Picoseconds>(i + 1) * width > end) break;
    const double value = of(load.series()[i]);
    result.minimum = result.count == 0 ? value : std::min(result.minimum, value);
    result.maximum = std::max(result.maximum, value);
    sum += value;
    squares += value * value;
    ++result.count;
  }
  if (result.count == 0) return result;
  const auto n = static_cast<double>(result.count);
  result.mean = sum / n;
  result.deviation = std::sqrt(std::max(0.0, squares / n - result.mean * result.mean));
  return result;
}

/// The operations that make one of fio's directions.
using Direction = std::span<const HostOpcode>;
constexpr std::array k_read = {HostOpcode::read};
constexpr std::array k_write = {HostOpcode::write};
constexpr std::array k_trim = {HostOpcode::trim, HostOpcode::write_zeroes};

/// The jobs between two stone walls.
using Group = std::vector<const LoadMeasurement*>;

/// KiB/s of all jobs of a group together, over the time of the longest.
double group_bandwidth(const Group& group, Direction direction) {
  Bytes bytes = 0;
  Picoseconds longest = 0;
  for (const LoadMeasurement* const load : group) {
    for (const HostOpcode opcode : direction) {
      bytes += load->operation(opcode).bytes();
      if (load->operation(opcode).count() != 0) longest = std::max(longest, load->active());
    }
  }
  return per_second(bytes, longest) / 1024;
}

/// Requests that succeeded, with simulated time or without.
Amount succeeded(const LoadMeasurement& load, Direction direction) {
  Amount sum;
  for (const HostOpcode opcode : direction) {
    const Outcomes& untimed = load.untimed(opcode);
    sum =
        sum + load.operation(opcode).succeeded() + Amount{untimed.count() - untimed.errors(), untimed.bytes};
  }
  return sum;
}

Json direction_object(const LoadMeasurement& load, const Group& group, Direction direction) {
  const Picoseconds span = load.active();
  OperationMeasurement operation;
  for (const HostOpcode opcode : direction) operation.merge(load.operation(opcode));
  const auto sum = [&](const auto& per_op) {
    std::uint64_t total = 0;
    for (const HostOpcode opcode : direction) total += per_op[static_cast<std::size_t>(opcode)];
    return total;
  };
  const bool used = operation.count() != 0;
  const double rate = per_second(operation.bytes(), span);
  const Amount done = succeeded(load, direction);
  Json json = {{"io_bytes", done.bytes},
               {"io_kbytes", done.bytes >> 10U},
               {"bw_bytes", static_cast<std::uint64_t>(rate)},
               {"bw", static_cast<std::uint64_t>(rate / 1024)},
               {"iops", per_second(operation.succeeded().commands, span)},
               {"runtime", used ? milliseconds(span) : 0},
               {"total_ios", done.commands},
               {"short_ios", 0},
               {"drop_ios", 0}};
  json["slat_ns"] = latency_object({});
  json["clat_ns"] = latency_object(operation);
  json["lat_ns"] = latency_object(operation);
  Samples bandwidth;
  Samples iops;
  if (used) {
    bandwidth =
        sample(load, [&](const SeriesStep& s) { return per_second(sum(s.bytes), load.step_width()) / 1024; });
    iops = sample(load, [&](const SeriesStep& s) { return per_second(sum(s.commands), load.step_width()); });
  }
  const double together = group_bandwidth(group, direction);
  json["bw_min"] = static_cast<std::uint64_t>(bandwidth.minimum);
  json["bw_max"] = static_cast<std::uint64_t>(bandwidth.maximum);
  json["bw_agg"] = together > 0 ? std::min(100.0, 100 * bandwidth.mean / together) : 0.0;
  json["bw_mean"] = bandwidth.mean;
  json["bw_dev"] = bandwidth.deviation;
  json["bw_samples"] = bandwidth.count;
  json["iops_min"] = static_cast<std::uint64_t>(iops.minimum);
  json["iops_max"] = static_cast<std::uint64_t>(iops.maximum);
  json["iops_mean"] = iops.mean;
  json["iops_stddev"] = iops.deviation;
  json["iops_samples"] = iops.count;
  return json;
}

/// Share of time at depths 1, 2-3, 4-7, ... in percent of the time with any command outstanding.
Json depth_levels(const LoadMeasurement& load) {
  std::array<double, 7> levels{};
  double busy = 0;
  for (std::size_t depth = 1; depth < load.time_at_depth().size(); ++depth) {
    const auto time = static_cast<double>(load.time_at_depth()[depth]);
    levels[std::min<std::size_t>(6, std::bit_width(depth) - 1U)] += time;
    busy += time;
  }
  static constexpr std::array<const char*, 7> k_names = {"1", "2", "4", "8", "16", "32", ">=64"};
  Json json;
  for (std::size_t i = 0; i < levels.size(); ++i) json[k_names[i]] = busy > 0 ? 100 * levels[i] / busy : 0.0;
  return json;
}

/// Commands are submitted and completed one at a time.
Json one_at_a_time(bool any) {
  return {{"0", 0.0},   {"4", any ? 100.0 : 0.0}, {"8", 0.0}, {"16", 0.0}, {"32", 0.0}, {"64", 0.0},
          {">=64", 0.0}};
}

/// latency_ns, latency_us and latency_ms: percent of the commands in fio's coarse ranges.
void add_latency_ranges(Json& job, const LoadMeasurement& load) {
  static constexpr std::array<std::uint64_t, 10> k_limits = {2, 4, 10, 20, 50, 100, 250, 500, 750, 1000};
  std::array<std::array<double, 12>, 3> ranges{};
  double total = 0;
  const auto count_in = [&](Picoseconds low, Picoseconds high, std::uint64_t count) {
    std::uint64_t value = whole_nanoseconds(low + (high - low) / 2);
    std::size_t unit = 0;
    while (unit < 2 && value >= 1000) {
      value /= 1000;
      ++unit;
    }
    const auto at = static_cast<std::size_t>(std::upper_bound(k_limits.begin(), k_limits.end(), value) -
                                             k_limits.begin());
    ranges[unit][at < 10 ? at : value < 2000 ? 10 : 11] += static_cast<double>(count);
    total += static_cast<double>(count);
  };
  for (const HostOpcode opcode :
       {HostOpcode::read, HostOpcode::write, HostOpcode::trim, HostOpcode::write_zeroes}) {
    load.operation(opcode).latency().for_each(count_in);
  }
  static constexpr std::array<const char*, 3> k_names = {"latency_ns", "latency_us", "latency_ms"};
  for (std::size_t unit = 0; unit < 3; ++unit) {
    for (std::size_t i = 0; i < (unit == 2 ? 12U : 10U); ++i) {
      const std::string name = i < 10 ? std::to_string(k_limits[i]) : i == 10 ? "2000" : ">=2000";
      job[k_names[unit]][name] = total > 0 ? 100 * ranges[unit][i] / total : 0.0;
    }
  }
}

std::uint32_t reporting_group(const RunFacts& facts, std::size_t i) {
  return i < facts.loads.size() ? facts.loads[i].group : 0;
}

Json job_object(const RunFacts& facts, const Measurement& measurement, std::size_t i) {
  const LoadMeasurement& load = measurement.load(i);
  const Picoseconds runtime = load.active();
  std::uint64_t errors = 0;
  for (std::size_t op = 0; op < k_opcodes; ++op)
    errors += load.operation(static_cast<HostOpcode>(op)).errors() +
              load.untimed(static_cast<HostOpcode>(op)).errors();
  Group group;
  for (std::size_t other = 0; other < measurement.loads(); ++other) {
    if (reporting_group(facts, other) == reporting_group(facts, i)) group.push_back(&measurement.load(other));
  }
  Json job = {{"jobname", measurement.name(i)},
              {"groupid", reporting_group(facts, i)},
              {"job_start", 0},
              {"error", errors != 0 ? 5 : 0},
              {"eta", 0},
              {"elapsed", (milliseconds(runtime) + 999) / 1000}};
  Json options = {{"name", measurement.name(i)}};
  if (i < facts.loads.size()) {
    for (const auto& [key, value] : facts.loads[i].options) options[key] = value;
  }
  job["job options"] = options;
  job["read"] = direction_object(load, group, k_read);
  job["write"] = direction_object(load, group, k_write);
  job["trim"] = direction_object(load, group, k_trim);
  const OperationMeasurement& flush = load.operation(HostOpcode::flush);
  const std::uint64_t flushes = flush.count() + load.untimed(HostOpcode::flush).count();
  job["sync"] = {{"total_ios", flushes}, {"lat_ns", latency_object(flush)}};
  job["job_runtime"] = milliseconds(runtime);
  job["usr_cpu"] = 0.0;
  job["sys_cpu"] = 0.0;
  job["ctx"] = 0;
  job["majf"] = 0;
  job["minf"] = 0;
  job["iodepth_level"] = depth_levels(load);
  job["iodepth_submit"] = one_at_a_time(load.count() != 0);
  job["iodepth_complete"] = one_at_a_time(load.count() != 0);
  add_latency_ranges(job, load);
  job["latency_depth"] = 0;
  job["latency_target"] = 0;
  job["latency_percentile"] = 100.0;
  job["latency_window"] = 0;
  if (errors != 0) {
    job["total_err"] = errors;
    job["first_error"] = 5;
  }
  return job;
}

Json disk_object(const LoadMeasurement& all, Picoseconds span) {
  const OperationMeasurement& read = all.operation(HostOpcode::read);
  const OperationMeasurement& write = all.operation(HostOpcode::write);
  const auto ticks = [](const OperationMeasurement& operation) {
    return static_cast<std::uint64_t>(operation.latency().sum() / 1'000'000'000U);
  };
  const double idle = all.time_at_depth().empty() ? 0 : static_cast<double>(all.time_at_depth()[0]);
  return {{"name", "tlmssd"},
          {"read_ios", read.succeeded().commands},
          {"write_ios", write.succeeded().commands},
          {"read_sectors", read.bytes() / 512},
          {"write_sectors", write.bytes() / 512},
          {"read_merges", 0},
          {"write_merges", 0},
          {"read_ticks", ticks(read)},
          {"write_ticks", ticks(write)},
          {"in_queue", ticks(read) + ticks(write)},
          {"util", span > 0 ? 100 * (1 - idle / static_cast<double>(span)) : 0.0}};
}

}  // namespace

Json fio_json(const RunFacts& facts, const Measurement& measurement) {
  const LoadMeasurement all = measurement.total();
  Json json = {{"fio version", "fio-3.33"},
               {"timestamp", 0},
               {"timestamp_ms", 0},
               {"time", "Thu Jan  1 00:00:00 1970"},
               {"global options", {{"ioengine", "tlmssd"}, {"randseed", std::to_string(facts.seed)}}}};
  json["jobs"] = Json::array();
  for (std::size_t i = 0; i < measurement.loads(); ++i)
    json["jobs"].push_back(job_object(facts, measurement, i));
  json["disk_util"] = Json::array({disk_object(all, measurement.span())});
  return json;
}

}  // namespace tlmssd
