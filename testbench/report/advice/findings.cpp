#include "testbench/report/advice/findings.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <optional>

#include "models/base/quantity_text.h"
#include "testbench/report/advice/remedies.h"
#include "testbench/report/shown_results.h"

namespace tlmssd {
namespace {

using Json = nlohmann::ordered_json;

constexpr double k_most_writes = 2.0 / 3;  ///< of all, from which on collection is one load's
/// Of the time of commands, up to which waits for dies are none: with dies for all that wait the
/// rate would be a ninth higher at most.
constexpr double k_hardly_waits = 0.1;
constexpr const char* k_dies = "the dies";
constexpr double k_most_of_time = 0.5;
/// What is programmed for the host, to what it wrote, from which on mapping pages are written in
/// parts. It is 2 where each write is half a page, and 1.25 where writes of four pages begin in the
/// midst of one.
constexpr double k_pages_in_parts = 1.5;

/// Loads by name, and the share of each in something.
using SharesOfLoads = std::vector<std::pair<std::string, double>>;

/// `weight` of the results of a load; 0: it has no share.
template <typename Weight>
SharesOfLoads shares_of(const MeasuredDrive& drive, const Weight& weight) {
  SharesOfLoads shares;
  double sum = 0;
  for (const Json& load : drive.loads) {
    const double own = weight(load);
    if (own == 0) continue;
    shares.emplace_back(load["name"].get<std::string>(), own);
    sum += own;
  }
  for (auto& [name, share] : shares) share /= sum;
  return shares;
}

/// In what was written: of those that began before `asker` ended, for collection works for what was
/// written earlier, too.
SharesOfLoads writers_of(const MeasuredDrive& drive, const std::string& asker) {
  return shares_of(drive, [&](const Json& load) {
    if (!load["operations"].contains("write") || !drive.meet(asker, load, true)) return 0.0;
    return load["operations"]["write"]["bytes"].get<double>();
  });
}

/// In what was read out of flash, at the time of `asker` alone.
SharesOfLoads readers_of(const MeasuredDrive& drive, const std::string& asker) {
  return shares_of(drive, [&](const Json& load) {
    if (!load["operations"].contains("read") || !drive.meet(asker, load)) return 0.0;
    const Json& reads = load["operations"]["read"];
    return reads["ledger"].contains("sense") ? reads["bytes"].get<double>() : 0.0;
  });
}

/// In what the drive has under way: how long it has had their commands since it took them out of
/// their queues. Of those that it has had at the time of `asker` alone.
SharesOfLoads occupants_of(const MeasuredDrive& drive, const std::string& asker) {
  return shares_of(drive, [&](const Json& load) {
    double time = 0;
    if (!drive.meet(asker, load)) return time;
    for (const auto& [name, operation] : load["operations"].items()) {
      double mean = operation["latency"]["mean"].get<double>();
      const Json& ledger = operation["ledger"];
      for (const char* before : {"load limit", "submission"})
        if (ledger.contains(before)) mean -= ledger[before]["mean_ns"].get<double>();
      time += mean * operation["commands"].get<double>();
    }
    return time;
  });
}

/// The remedies of a percentile's ledger, largest first; reads and writes of other loads by name. A
/// program holds data of all loads: it is shared out by what they wrote. So is what a read waited
/// for the write buffer, which was behind a write of its blocks. Who waits in a queue while those
/// of others have all that the drive takes at once waits for them. A wait of no die's own that is
/// for reads is shared out by what the loads read; what is written waits for them as the scheduling
/// of the dies has it.
std::vector<Remedy> remedies_of(const Json& told, const Asker& asker, const MeasuredDrive& drive) {
  const std::string& load = asker.load;
  std::vector<Remedy> remedies;
  const auto add = [&](const Remedy& remedy, double share) {
    auto at = std::find_if(remedies.begin(), remedies.end(),
                           [&](const Remedy& g) { return g.cause == remedy.cause; });
    if (at == remedies.end()) {
      at = remedies.insert(remedies.end(), remedy);
      at->share = at->along = 0;
    }
    at->share += share;
    if (remedy.share > 0) at->along += share * remedy.along / remedy.share;
  };
  const SharesOfLoads writers = writers_of(drive, load);
  const SharesOfLoads readers = readers_of(drive, load);
  // What is left for the load itself behind what others have a part in.
  const auto without_others = [&](double share, const SharesOfLoads& all, const std::string& what,
                                  const std::string& look_at) {
    double rest = share;
    for (const auto& [name, part] : all) {
      if (load.empty() || name == load) continue;
      add({what + name, look_at, 0}, share * part);
      rest -= share * part;
    }
    return rest;
  };
  std::string for_whom;  // who wrote most of what collection makes space for
  for (const auto& [name, part] : writers)
    if (part >= k_most_writes) for_whom = name;
  const bool overtaken = drive.limits.prefers_reads && !asker.reads && !readers.empty();
  const char* const those_reads = overtaken ? "that load, ssd.flash.scheduling or ssd.flash.channels"
                                            : "that load, or ssd.flash.channels";
  // With more under way a load has more of a drive that mostly works for others, but not of one
  // that it has to itself.
  double own_part = load.empty() ? 1 : 0;
  for (const auto& [name, part] : occupants_of(drive, load))
    if (name == load) own_part = part;
  const bool for_others = own_part < k_most_of_time;
  double others = 0;
  for (const auto& [who, part] : told["behind"].items()) {
    if (load.empty() || !who.starts_with("reads of ") || who == "reads of " + load) continue;
    add({who, those_reads, 0}, part["share"].get<double>());
    others += part["share"].get<double>();
  }
  const auto tell = [&](const std::string& cause, bool turns, Remedy remedy, double share) {
    const bool makes_room = remedy.cause == of_collection(drive, asker).cause || remedy.cause == k_folding;
    if (makes_room && !load.empty() && !for_whom.empty() && for_whom != load) {
      remedy.cause += " for writes of " + for_whom;
      remedy.look_at = joined("that load", ", ", remedy.look_at);
    }
    if (remedy.cause == k_reads && overtaken)
      remedy.look_at = joined("ssd.flash.scheduling", ", ", remedy.look_at);
    if (remedy.cause == k_programs || remedy.cause == k_rewrites || cause == "LBA hazard wait" ||
        (asker.reads && cause == "buffer wait")) {
      share = without_others(share, writers, "writes of ",
                             joined("that load", ", or ", suspend_key(drive, asker, true, false)));
    } else if (remedy.cause == k_reads && !turns && cause != "die busy: read") {
      share = without_others(share, readers, "reads of ", those_reads);
    }
    add(remedy, share);
  };
  for (const auto& [cause, part] : told["ledger"].items()) {
    double share = part["share"].get<double>() - (cause == "die busy: read" ? others : 0);
    const bool turns = cause == "submission" && !drive.limits.turns.empty();
    if (turns)
      share = without_others(share, occupants_of(drive, load), "commands of ",
                             "that load, or " + drive.limits.turns);
    if (cause == "load limit" && for_others) {
      add(own_limit(drive, asker), share);
      continue;
    }
    for (Remedy& remedy : remedies_for(cause, drive, asker)) tell(cause, turns, remedy, share * remedy.share);
  }
  std::stable_sort(remedies.begin(), remedies.end(),
                   [](const Remedy& a, const Remedy& b) { return a.share > b.share; });
  return remedies;
}

/// Whether the same is said there already, be it of another time.
bool says(const std::vector<Finding>& found, const Finding& finding) {
  const auto what = [](const Finding& one) { return one.text.substr(0, one.text.find(':')); };
  return std::any_of(found.begin(), found.end(), [&](const Finding& one) {
    return one.cause == finding.cause && what(one) == what(finding);
  });
}

/// Whether a command waits for dies under this cause, be it for the room that they make.
bool waits_for_dies(const std::string& cause) {
  return cause.starts_with("die busy") || cause == "load limit" || cause == "submission" ||
         cause == "buffer wait" || cause == "cache wait" || cause == "space wait" ||
         cause == "LBA hazard wait" || cause == "batch wait";
}

/// Whether an array works for the command itself under this cause.
bool works_for(const std::string& cause) {
  return cause == "sense" || cause == "program" || cause == "erase";
}

/// Calls use(operation, cause, time) for all that the commands of a load (its results) spent.
void each_cause(
    const Json& load,
    const std::function<void(const std::string& operation, const std::string& cause, double time)>& use) {
  for (const auto& [name, operation] : load["operations"].items())
    for (const auto& [cause, part] : operation["ledger"].items())
      use(name, cause, part["mean_ns"].get<double>() * operation["commands"].get<double>());
}

/// Whether a load whose own time this is spends some of it on this resource, or on waits that may
/// come from it. Others' work keeps a resource busy beside loads that hardly ask for it.
bool asks_for(const std::string& resource, const MeasuredDrive& drive) {
  if (drive.whose.empty()) return true;
  double all = 0;
  double on_it = 0;
  for (const Json& load : drive.loads) {
    if (load["name"] != drive.whose) continue;
    each_cause(load, [&](const std::string& operation, const std::string& cause, double own) {
      all += own;
      if (waits_for_dies(cause) || (works_for(cause) && resource == k_dies)) {
        on_it += own;
        return;
      }
      for (const Remedy& remedy : remedies_for(cause, drive, {drive.whose, operation == "read"}))
        if (remedy.cause == resource) on_it += own * remedy.share;
    });
  }
  return on_it >= k_hardly_waits * all;
}

void saturated(const MeasuredDrive& drive, std::vector<Finding>& found) {
  std::vector<std::pair<double, Resource>> busy;
  for (const Utilisation& use : drive.uses) {
    const std::optional<Resource> resource = drive.limiting(use);
    if (resource && load_of(use) >= k_busy_resource && asks_for(resource->name, drive))
      busy.emplace_back(load_of(use), *resource);
  }
  std::stable_sort(busy.begin(), busy.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  for (const auto& [share, resource] : busy) {
    found.push_back({resource.name,
                     fmt::format("{}: {} of {} busy, which bounds {} at {:.2f} times this one",
                                 resource.full_name(), share_text(share), drive.time, drive.rate, 1 / share),
                     resource.all_keys()});
  }
}

/// What the time of commands goes to, as shares of it.
struct TimeOfCommands {
  double arrays = 0;  ///< work of dies for the command itself
  double map = 0;     ///< of a map in flash
  double waits = 0;   ///< for dies, be it for the room that they make
  double behind = 0;  ///< of those, behind traffic of the map
};

/// How many times the rate there would be at most if commands waited for nothing that others do,
/// nor for what goes with `remedy`, and as many were outstanding as are (Little's law): of the load
/// that would gain most.
double at_this_depth(const Remedy& remedy, const MeasuredDrive& drive) {
  constexpr double k_no_bound = 1000;
  double most = 0;
  for (const Json& load : drive.loads) {
    if (!drive.meet(drive.whose, load) || (!drive.whose.empty() && load["name"] != drive.whose)) continue;
    double all = 0;
    double left = 0;
    const std::string whose = load["name"];
    each_cause(load, [&](const std::string& operation, const std::string& cause, double time) {
      all += time;
      const bool may_wait = cause == "suspend" || cause == "retry" || cause == "read ahead" ||
                            (cause == "map fetch" && has_map_in_flash(drive));
      const bool goes =
          may_wait || waits_for_dies(cause) || cause.ends_with(" wait") ||
          remedies_for(cause, drive, {whose, operation == "read"}).front().cause == remedy.cause;
      if (!goes) left += time;
    });
    if (all > 0) most = std::max(most, all / std::max(left, all / k_no_bound));
  }
  return most > 0 ? most : k_no_bound;
}

/// How many times the rate there may be where so much of the time remains of what limits now.
double times_the_rate(double left, const Remedy& remedy, const MeasuredDrive& drive) {
  return std::min(1 / std::max(left, 1e-3), at_this_depth(remedy, drive));
}

void hot_dies(const Utilisation& dies, const MeasuredDrive& drive, std::vector<Finding>& found) {
  const std::string some = some_of(busy_ones(dies).size());
  const Remedy remedy = of_dies(drive, {});
  found.push_back(
      {some + "the dies",
       fmt::format("{}{} dies: {} of {} busy, mostly with {}; all of them {}: spread evenly "
                   "at most {:.1f} times {}",
                   some, dies.shares.size(), share_text(dies.highest()), drive.time, remedy.cause,
                   share_text(dies.mean()),
                   times_the_rate(std::max(dies.mean(), busiest_beside({}, drive)), remedy, drive),
                   drive.rate),
       remedy.look_at, remedy.look_at_firmware});
}

TimeOfCommands time_of_commands(const MeasuredDrive& drive) {
  TimeOfCommands time;
  double all = 0;
  for (const Json& load : drive.loads) {
    if (!drive.meet(drive.whose, load)) continue;
    each_cause(load, [&](const std::string& /*operation*/, const std::string& cause, double own) {
      all += own;
      if (works_for(cause)) {
        time.arrays += own;
      } else if (cause == "map fetch" && has_map_in_flash(drive)) {
        time.map += own;
      } else if (waits_for_dies(cause)) {
        time.waits += own;
        if (cause == "die busy: map") time.behind += own;
      }
    });
  }
  if (all == 0) return time;
  return {time.arrays / all, time.map / all, time.waits / all, time.behind / all};
}

/// Dies that are busy while hardly a command waits for one: no more is under way than these can do,
/// and more dies would have nothing to do. They read pages of the map for commands, too. False:
/// that is not so.
bool dies_without_queue(const MeasuredDrive& drive, std::vector<Finding>& found) {
  const TimeOfCommands time = time_of_commands(drive);
  if (time.waits > k_hardly_waits || time.arrays + time.map < k_most_of_time) return false;
  const auto tell = [&](const Remedy& own, const char* are, double share) {
    if (share <= k_hardly_waits) return;
    found.push_back(
        {own.cause,
         fmt::format("the dies: {} of {} busy, but commands hardly wait for them; {} {} {} of what "
                     "commands take, without that at most {:.1f} times {}",
                     share_text(drive.busy("dies")), drive.time, own.cause, are, share_text(share),
                     1 / std::max({1 - share, busiest_beside(own, drive), 1e-3}), drive.rate),
         own.look_at, own.look_at_firmware});
  };
  const Remedy own = remedies_for("sense", drive, {}).front();
  if (time.map < time.arrays) tell(own, "is", time.arrays);
  if (time.map > 0) tell(remedies_for("map fetch", drive, {}).front(), "are", time.map + time.behind);
  if (time.map >= time.arrays) tell(own, "is", time.arrays);
  return true;
}

void saturated_dies(const MeasuredDrive& drive, std::vector<Finding>& found) {
  if (has_hot_dies(drive)) return hot_dies(*drive.use_of("dies"), drive, found);
  const double dies = drive.busy("dies");
  if (dies < k_busy_resource || !asks_for(k_dies, drive)) return;
  if (dies_without_queue(drive, found)) return;
  const Remedy remedy = of_dies(drive, {});
  if (std::any_of(found.begin(), found.end(),
                  [&](const Finding& one) { return remedy.cause.find(one.cause) != std::string::npos; }))
    return;
  found.push_back({remedy.cause,
                   fmt::format("the dies: {} of {} busy, {} for {}; without that {} {:.1f} times {}",
                               share_text(dies), drive.time, share_text(remedy.share), remedy.cause,
                               remedy.cause == k_rewrites ? "about" : "at most",
                               times_the_rate(std::max(dies - remedy.without, busiest_beside(remedy, drive)),
                                              remedy, drive),
                               drive.rate),
                   remedy.look_at, remedy.look_at_firmware});
}

/// Mapping pages that are written in parts are programmed as wholes. Whether they are: more of them
/// were touched than the writes would have filled. In the buffer such parts may still become
/// wholes.
void pages_in_parts(const MeasuredDrive& drive, const Json& amplification, std::vector<Finding>& found) {
  const double host = number_in(amplification, "host");
  const double filled = number_in(drive.statistics, "host units written net");
  if (host < k_pages_in_parts ||
      number_in(drive.statistics, "host units written") < k_pages_in_parts * filled)
    return;
  found.push_back(
      {"mapping pages written in parts",
       fmt::format("mapping pages written in parts: {:.2f} bytes were programmed for each byte that the host "
                   "wrote, before any collection, for its writes do not fill them",
                   host),
       "firmware.mapping.unit"});
}

/// Whether commands waited until data were in flash, though not all writes do.
bool host_waits_for_programs(const MeasuredDrive& drive) {
  return std::any_of(drive.loads.begin(), drive.loads.end(), [](const Json& load) {
    const Json& operations = load["operations"];
    return operations.contains("flush") ||
           (operations.contains("write") && operations["write"]["ledger"].contains("program"));
  });
}

/// Data that must be in flash at once go there in program units that they do not fill: told where
/// these hold no more of the host's data than padding.
void padded(const MeasuredDrive& drive, const Json& amplification, std::vector<Finding>& found) {
  const double padding = number_in(amplification, "padding");
  if (padding == 0 || padding < number_in(amplification, "host")) return;
  const bool through = drive.limits.writes_through;
  if (!through && !host_waits_for_programs(drive)) return;
  found.push_back(
      {"padding",
       fmt::format("padding: {} of what was programmed holds no data: {} flash before others fill the "
                   "program unit",
                   share_text(padding / number_in(amplification, "total")),
                   through ? "each write goes to" : "flushes or force unit access send data to"),
       through ? "" : "the host's flushes and force unit access", through ? "firmware.buffer.mode" : ""});
}

/// What else dies that limit program with the host's data, where most of their time goes to what is
/// written.
void programmed_besides(const MeasuredDrive& drive, std::vector<Finding>& found) {
  const Utilisation* const dies = drive.use_of("dies");
  const Json* const amplification = find_group(drive.statistics, "write amplification");
  if (dies == nullptr || amplification == nullptr || load_of(*dies) < k_busy_resource) return;
  double writing = 0;
  for (const char* work : {"program", "erase", "gc", "migration"}) writing += drive.dies_busy_with(work);
  if (writing < k_most_of_time * dies->mean()) return;
  pages_in_parts(drive, *amplification, found);
  padded(drive, *amplification, found);
}

/// What is busy all of the time.
std::vector<Finding> limits_of(const MeasuredDrive& drive) {
  std::vector<Finding> found;
  saturated(drive, found);
  saturated_dies(drive, found);
  programmed_besides(drive, found);
  return found;
}

void slow_commands(const ShownResults& part, const MeasuredDrive& drive, std::vector<Finding>& found) {
  const Json& results = *part.results;
  for (const auto& [name, operation] : results["operations"].items()) {
    const Json& told = operation["percentiles"]["p99.9"];
    const double latency = told["latency_ns"].get<double>();
    if (latency == 0 ||
        operation["commands"].get<double>() < k_share_of_commands * results["commands"].get<double>())
      continue;
    const std::vector<Remedy> remedies = remedies_of(told, {part.name, name == "read"}, drive);
    std::string shares;
    for (std::size_t i = 0; i < std::min<std::size_t>(remedies.size(), 3) && remedies[i].share >= 0.005; ++i)
      shares += fmt::format("{}{} {:.0f} %", i == 0 ? "" : ", ", remedies[i].cause, remedies[i].share * 100);
    found.push_back(
        {remedies.front().cause,
         fmt::format(
             "p99.9 of {}, {}: {}; all but the first {}", part.of(name), time_text(latency * 1e3), shares,
             time_text(latency * 1e3 * std::max(1 - remedies.front().share - remedies.front().along, 0.0))),
         remedies.front().look_at, remedies.front().look_at_firmware});
  }
}

}  // namespace

std::vector<Finding> findings(const Json& report, const ChosenLimits& limits) {
  if (report["measured_picoseconds"] == 0) return {};
  const MeasuredDrive drive(report, limits);
  const std::vector<Finding> of_all_the_time = limits_of(drive);
  std::vector<Finding> found = of_all_the_time;
  for (const ShownResults& part : shown_results(report)) {
    const std::optional<MeasuredDrive> own = drive.in_time_of(*part.results);
    if (own) {
      for (Finding& limit : limits_of(*own))
        if (!says(of_all_the_time, limit)) found.push_back(std::move(limit));
    }
    slow_commands(part, own ? *own : drive, found);
  }
  return found;
}

}  // namespace tlmssd
