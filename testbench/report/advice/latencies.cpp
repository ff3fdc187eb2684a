#include "testbench/report/advice/latencies.h"

#include <algorithm>
#include <utility>

namespace tlmssd {
namespace {

/// A latency, and the nanoseconds that it takes of one command.
struct Latency {
  Remedy remedy;
  double time = 0;
};

/// What commands of this kind spend under a cause on average, in nanoseconds.
struct Mean {
  double time = 0;
  double on_link = 0;  ///< link_latency, where nothing holds the command up
};

Mean mean_of(const std::string& cause, const MeasuredDrive& drive, const Asker& asker) {
  double time = 0;
  double on_link = 0;
  double commands = 0;
  const auto add = [&](const MeasuredLoad& load) {
    for (const MeasuredLoad::Spent& spent : load.spent) {
      if (spent.cause != cause || spent.reads != asker.reads) continue;
      time += spent.time;
      commands += spent.commands;
      on_link += spent.commands * 1e9 * (spent.reads ? load.link.of_reads : load.link.of_others);
    }
  };
  if (const MeasuredLoad* const own = drive.find(asker.load)) {
    add(*own);
  } else {
    for (const MeasuredLoad& load : drive.loads) add(load);
  }
  if (commands == 0) return {};
  return {time / commands, on_link / commands};
}

std::vector<Latency> of_link(const MeasuredDrive& drive, const Mean& mean) {
  return {
      {{"the latency of the host link", "ssd.host.link_latency"}, mean.on_link},
      {{"the latency of interrupts", "ssd.host.interrupt_latency"}, drive.limits.interrupt_seconds * 1e9}};
}

/// By what an access takes on average: its latencies, its bytes on the slower of bus and DRAM, and
/// its waits. `short_ones`: its bytes take next to no time.
std::vector<Latency> of_memory(const MeasuredDrive& drive, const Mean& mean, bool short_ones) {
  const auto bus = drive.access_to("bus");
  const auto dram = drive.access_to("DRAM");
  if (!bus || !dram) return {};
  const double latency = drive.limits.bus_seconds + drive.limits.dram_seconds;
  const double access =
      latency + bus->waits + dram->waits + (short_ones ? 0 : std::max(bus->takes, dram->takes));
  if (latency == 0) return {};
  return {
      {{"the latency of the DRAM", "ssd.dram.latency"}, mean.time * drive.limits.dram_seconds / access},
      {{"the latency of the system bus", "ssd.bus.latency"}, mean.time * drive.limits.bus_seconds / access}};
}

/// Whether that is the bus or the DRAM, or both. Banks of SCM are busy for their latency.
bool is_dram(const Remedy& remedy) {
  return remedy.cause.ends_with("the system bus") || remedy.cause.ends_with("the DRAM");
}

}  // namespace

std::vector<Remedy> with_latencies(const std::string& cause, Remedy rest, const MeasuredDrive& drive,
                                   const Asker& asker) {
  const bool of_data = cause == "memory";
  const bool of_map = cause == "map fetch" && !has_map_in_flash(drive.statistics);
  if (cause != "link" && !((of_data || of_map) && is_dram(rest))) return {std::move(rest)};
  const Mean mean = mean_of(cause, drive, asker);
  const double each = asker.each > 0 ? asker.each : mean.time;
  if (each <= 0) return {std::move(rest)};
  const std::vector<Latency> latencies =
      cause == "link" ? of_link(drive, mean) : of_memory(drive, mean, of_map);
  double sum = 0;
  for (const Latency& one : latencies) sum += one.time;
  const double all = std::max(sum, each);
  std::vector<Remedy> remedies;
  rest.share = 1 - sum / all;
  if (rest.share > 0) remedies.push_back(std::move(rest));
  for (const Latency& one : latencies) {
    if (one.time == 0) continue;
    remedies.push_back(one.remedy);
    remedies.back().share = one.time / all;
  }
  return remedies;
}

}  // namespace tlmssd
