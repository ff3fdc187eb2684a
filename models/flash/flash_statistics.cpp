#include "models/flash/flash_statistics.h"

#include <string>
#include <utility>

namespace tlmssd {

namespace {

double share(double part, double whole) {
  return whole > 0 ? part / whole : 0.0;
}

constexpr std::array<std::string_view, k_flash_commands> k_commands = {"read", "program", "erase",
                                                                       "copyback"};

}  // namespace

void FlashCounts::add(const FlashCounts& other) {
  for (std::size_t c = 0; c < k_flash_commands; ++c) {
    for (std::size_t p = 0; p < k_purposes; ++p) {
      kinds[c][p].operations += other.kinds[c][p].operations;
      kinds[c][p].pages += other.kinds[c][p].pages;
      kinds[c][p].bytes += other.kinds[c][p].bytes;
    }
    for (std::size_t n = 0; n < k_most_planes; ++n) by_planes[c][n] += other.by_planes[c][n];
    wait_time[c] += other.wait_time[c];
  }
  for (std::size_t u = 0; u < k_bus_uses; ++u) bus_time[u] += other.bus_time[u];
  data_time += other.data_time;
  memory_time += other.memory_time;
  suspends += other.suspends;
  for (std::size_t limit = 0; limit < k_suspend_limits; ++limit)
    not_suspended[limit] += other.not_suspended[limit];
}

Picoseconds FlashCounts::bus_busy() const {
  Picoseconds sum = 0;
  for (const Picoseconds time : bus_time) sum += time;
  return sum;
}

void FlashCounts::report_planes(StatisticsSink& sink, std::size_t command) const {
  sink.open("by_planes", "operations by the number of planes that worked together");
  for (std::size_t n = 0; n < k_most_planes; ++n) {
    if (by_planes[command][n] != 0)
      sink.value("planes_" + std::to_string(n + 1), by_planes[command][n], "", "operations done");
  }
  sink.close();
}

void FlashCounts::report_not_suspended(StatisticsSink& sink) const {
  static constexpr std::array<std::pair<const char*, const char*>, k_suspend_limits> k_limits = {
      {{"most_suspends", "they had been suspended as often as the part allows (max_suspends)"},
       {"resume_time", "they had gone on for less than the part asks for (min_resume_time)"},
       {"starvation", "they had waited for longer than the scheduling allows (starvation_bound)"}}};
  sink.open("not_suspended", "programs and erases that a read waited for because of a limit, once for each");
  for (std::size_t limit = 0; limit < k_suspend_limits; ++limit)
    sink.value(k_limits[limit].first, not_suspended[limit], "", k_limits[limit].second);
  sink.close();
}

void FlashCounts::report(StatisticsSink& sink, double span, bool planes, bool suspending) const {
  sink.value("bus_utilisation", share(static_cast<double>(bus_busy()), span), "",
             "share of the time in which the bus was held");
  sink.value("bus_data", share(static_cast<double>(data_time), span), "",
             "share of the time in which bytes moved on the bus");
  sink.value(
      "bus_command", share(static_cast<double>(bus_busy() - data_time - memory_time), span), "",
      "share of the time that command, address and status cycles and their waits took on the bus; with "
      "bus_data and bus_memory it is bus_utilisation");
  sink.value("bus_memory", share(static_cast<double>(memory_time), span), "",
             "share of the time in which the bus was held for data that memory had yet to bring");
  sink.value("suspends", suspends, "", "programs and erases suspended for reads");
  if (suspending) report_not_suspended(sink);
  for (std::size_t c = 0; c < k_flash_commands; ++c) {
    std::uint64_t operations = 0;
    for (const Kind& kind : kinds[c]) operations += kind.operations;
    if (c == static_cast<std::size_t>(FlashCommand::copyback) && operations == 0) continue;  // seldom used
    sink.open(k_commands[c], "operations of this command");
    sink.value("operations", operations, "", "operations done");
    sink.value(
        "mean_wait",
        operations == 0 ? 0.0 : static_cast<double>(wait_time[c]) / static_cast<double>(operations) * 1e-6,
        "us", "mean time in the queue, from arrival until the command starts on the bus");
    if (planes && operations != 0) report_planes(sink, c);
    for (std::size_t p = 0; p < k_purposes; ++p) {
      const Kind& kind = kinds[c][p];
      if (kind.operations == 0) continue;
      sink.open(name_of(static_cast<Purpose>(p)), "on behalf of this");
      sink.value("operations", kind.operations, "", "operations done");
      sink.value("pages", kind.pages, c == static_cast<std::size_t>(FlashCommand::erase) ? "blocks" : "pages",
                 "counted per plane");
      sink.value("bytes", kind.bytes, "B", "moved on the bus, with spare area");
      sink.close();
    }
    sink.close();
  }
}

std::string_view name_of_busy(std::size_t cause) {
  static constexpr std::array<std::string_view, k_busy_causes> k_names = {
      "read", "program", "erase", "gc", "wear", "migration", "refresh", "map", "suspending"};
  return k_names[cause];
}

void report_busy(StatisticsSink& sink, const BusyTimes& busy, double span) {
  double sum = 0;
  for (const double time : busy) sum += time;
  sink.value("utilisation", share(sum, span), "",
             "share of the time from an operation's command to its end, all operations");
  for (std::size_t c = 0; c < k_busy_causes; ++c) {
    sink.value(std::string("busy_") + std::string(name_of_busy(c)), share(busy[c], span), "",
               "share of the time busy with this");
  }
}

}  // namespace tlmssd
