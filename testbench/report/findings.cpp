#include "testbench/report/findings.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>

#include "models/base/quantity_text.h"
#include "testbench/report/resources.h"
#include "testbench/report/shown_results.h"
#include "testbench/report/statistics_view.h"

namespace tlmssd {
namespace {

using Json = nlohmann::ordered_json;

constexpr double k_busy_resource = 0.85;
constexpr double k_even = 0.9;  ///< of the busiest, from which on all of a kind are as busy as it
constexpr const char* k_addresses = "the addresses that are asked for";
constexpr double k_share_of_commands = 0.05;  ///< from which on an operation is worth a finding
/// What is idle for longer than this makes nothing wait that has no cause of its own.
constexpr double k_idle = 0.5;

/// Causes of the ledger that have one remedy.
struct Group {
  std::string cause;
  std::string look_at;
  double share = 0;
  std::string look_at_firmware = "";
  double without = 0;          ///< of the time, what is free without it at most
  bool takes_its_own = false;  ///< channels, bus, DRAM and decoders have less to do without it, too
};

/// The statistics, and what is worked out of them once.
struct Drive {
  Drive(const Json& report, const ChosenLimits& chosen)
      : statistics(report["statistics"]),
        loads(report["results"]["loads"]),
        uses(plain_utilisations(statistics)),
        limits(chosen) {}
  const Json& statistics;
  const Json& loads;  ///< their results
  std::vector<Utilisation> uses;
  ChosenLimits limits;
};

/// Whose wait is explained; without a load, that of all together.
struct Asker {
  std::string load = "";
  bool reads = false;  ///< of the host; else what it writes, or the rate of all
};

/// What keeps reads from waiting for programs, and for erases with `erases`; empty: nothing that is
/// not done, or no reads wait.
std::string suspend_key(const Drive& drive, const Asker& asker, bool programs, bool erases) {
  if (!asker.reads) return "";
  const ChosenLimits& now = drive.limits;
  if ((programs && !now.suspends_programs) || (erases && !now.suspends_erases)) return "ssd.flash.suspend";
  return programs && now.finishes_pulse ? "ssd.flash.part.suspend_point" : "";
}

/// Both, joined by `by`, or the one that there is.
std::string joined(const std::string& a, const std::string& by, const std::string& b) {
  return a + (a.empty() || b.empty() ? "" : by) + b;
}

/// Some of these are busy all the time, while all together are not: these limit.
bool uneven(const Utilisation& use) {
  return use.highest() >= k_busy_resource && use.mean() < k_busy_resource &&
         use.mean() < k_even * use.highest();
}

/// How busy is what limits: all of these together, or the busiest.
double load_of(const Utilisation& use) {
  return uneven(use) ? use.highest() : use.mean();
}

const Utilisation* use_of(const Drive& drive, std::string_view label) {
  for (const Utilisation& use : drive.uses)
    if (use.label == label) return &use;
  return nullptr;
}

/// Numbers of those of an uneven kind that are busy all the time.
std::vector<std::string> busy_ones(const Utilisation& use) {
  std::vector<std::string> numbers;
  for (std::size_t i = 0; i < use.shares.size(); ++i)
    if (use.shares[i] >= k_busy_resource) numbers.push_back(std::to_string(i));
  return numbers;
}

std::string some_of(std::size_t number) {
  return (number == 1 ? "one" : std::to_string(number)) + " of ";
}

/// Mean utilisation of a resource, by its label.
double busy(const Drive& drive, std::string_view label) {
  const Utilisation* const use = use_of(drive, label);
  return use == nullptr ? 0 : use->mean();
}

/// What limits under this label, where some of a kind do by their numbers; nothing where no
/// parameter would widen it.
std::optional<Resource> limiting(const Utilisation& use, const Drive& drive) {
  std::optional<Resource> resource = find_resource(use.label, drive.statistics);
  if (!resource || !uneven(use) || resource->one.empty()) return resource;
  const std::vector<std::string> numbers = busy_ones(use);
  resource->name = some_of(numbers.size()) + "the " + resource->one + "s";
  resource->part = ", " + resource->one + (numbers.size() == 1 ? " " : "s ") + list_text(numbers);
  resource->keys = resource->keys_of_one;
  return resource;
}

constexpr const char* k_programs = "programs of host data";
constexpr const char* k_rewrites = "rewrites of block-mapped regions";
constexpr const char* k_collection = "collection";
constexpr const char* k_limit = "the limit of commands under way";
constexpr double k_most_writes = 2.0 / 3;  ///< of all, from which on collection is one load's
/// From this share of the dies' time on, data on their way in or out are what limits them; and
/// from which on they do so for a single wait, too, of which more may be an erase.
constexpr double k_held_for_rate = 1.0 / 3;
constexpr double k_held_for_wait = 1.0 / 2;

Group of_resource(const Resource& resource) {
  return {resource.name, resource.all_keys(), 0};
}

/// The busiest of these, which are known.
Group of_busiest(const Drive& drive, std::initializer_list<std::string_view> labels) {
  const std::string_view busiest = *std::max_element(
      labels.begin(), labels.end(),
      [&](std::string_view a, std::string_view b) { return busy(drive, a) < busy(drive, b); });
  const Utilisation* const use = use_of(drive, busiest);
  return of_resource(use == nullptr ? *find_resource(busiest, drive.statistics) : *limiting(*use, drive));
}

/// Decoders that are waited for: those with most to do.
Group of_decoders(const Drive& drive) {
  const Utilisation* busiest = nullptr;
  for (const Utilisation& use : drive.uses) {
    if (use.label.ends_with(" decoders") && (busiest == nullptr || use.mean() > busiest->mean()))
      busiest = &use;
  }
  if (busiest == nullptr) return {"error correction", "ssd.flash.ecc", 0, "firmware.ecc"};
  return of_resource(*find_resource(busiest->label, drive.statistics));
}

Group of_memory(const Drive& drive) {
  return of_busiest(drive, {"bus", "DRAM", "SCM", "SCM banks"});
}

/// Channels, or the lines that some of them share.
Group of_channels(const Drive& drive) {
  return of_busiest(drive, {"channels", "gangs"});
}

/// What brings data to the dies and away: the channels, unless these wait for the memory behind
/// them.
Group of_transfers(const Drive& drive) {
  const double memory = std::max(busy(drive, "bus"), busy(drive, "DRAM"));
  if (memory >= 0.98 * busy(drive, "channels") && memory >= busy(drive, "gangs"))
    return of_busiest(drive, {"bus", "DRAM"});
  return of_channels(drive);
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

/// Programs of what the host wrote. A block-mapped region is programmed as a whole: as a rewrite
/// when most of it is copied.
Group of_programs(const Drive& drive, const std::string& look_at) {
  const Json* const parts = find_group(drive.statistics, "write amplification");
  const bool rewrites = parts != nullptr && number_in(*parts, "region rewrites") > number_in(*parts, "host");
  Group group = of_die_work(drive, rewrites ? k_rewrites : k_programs, look_at);
  if (group.cause == k_rewrites) group.look_at_firmware = "firmware.mapping";
  return group;
}

/// Whether the rate at which dies work is that of the data on their way.
bool transfers_limit(const Drive& drive) {
  return held(drive) >= k_held_for_rate || busy(drive, "channels") > busy(drive, "die arrays");
}

/// Whether what makes room is merges of log blocks, which have settings of their own.
bool has_log_blocks(const Drive& drive) {
  const Json* const mapping = find_group(drive.statistics, "mapping");
  return mapping != nullptr && mapping->contains("merges");
}

Group of_collection(const Drive& drive, const Asker& asker) {
  if (has_log_blocks(drive))
    return {"merges of log blocks", suspend_key(drive, asker, true, true), 0, "firmware.mapping.log_blocks"};
  return {k_collection, joined("ssd.flash.spare_factor", ", ", suspend_key(drive, asker, true, true)), 0,
          "firmware.gc"};
}

/// What moves data that are not collected: out of blocks in SLC mode, or as a feature has it.
Group of_migration(const Drive& drive) {
  if (number_in(drive.statistics, "blocks folded") > 0) return {"folding", "", 0, "firmware.pslc"};
  return {"moves between blocks", "", 0};
}

/// What makes room for what is written.
Group of_making_room(const Drive& drive, const Asker& asker) {
  const bool folding = number_in(drive.statistics, "busy migration") > number_in(drive.statistics, "busy gc");
  return folding ? of_migration(drive) : of_collection(drive, asker);
}

/// Pages of a map that is in flash.
Group of_map_pages() {
  return {"pages of the map", "", 0, "firmware.mapping.cache"};
}

bool has_map_in_flash(const Drive& drive) {
  const Json* const mapping = find_group(drive.statistics, "mapping");
  return mapping != nullptr && mapping->contains("cache_bytes");
}

/// Whether the host reads from some dies only, which do nothing else.
bool has_hot_dies(const Drive& drive) {
  const Utilisation* const dies = use_of(drive, "dies");
  return dies != nullptr && uneven(*dies) && !transfers_limit(drive) &&
         number_in(drive.statistics, "busy read") > dies->mean() / 2;
}

Group of_reads(const Drive& drive) {
  if (has_hot_dies(drive)) return {"reads of the flash", k_addresses, 0};
  return of_die_work(drive, "reads of the flash", "ssd.flash.ways or ssd.flash.channels");
}

/// Of the attempts at reads, those after a decoding failure.
struct Retries {
  double share = 0;
  bool alike = true;  ///< as long as the first attempts, all with one code
};

Retries retries_of(const Drive& drive) {
  const Json* const decoders = find_group(drive.statistics, "decoders");
  if (decoders == nullptr) return {};
  double pages = 0;
  int codes = 0;
  for (const auto& [name, code] : decoders->items()) {
    if (!code.is_object() || is_value(code)) continue;
    pages += number_in(code, "pages");
    ++codes;
  }
  const double retries = number_in(drive.statistics, "retries");
  return {pages > 0 ? retries / pages : 0, codes < 2};
}

Group of_error_correction() {
  return {"error correction", "ssd.flash.ecc", 0, "firmware.ecc"};
}

/// What takes most of the dies' time; `share`: of the run.
Group of_dies(const Drive& drive, const Asker& asker) {
  struct Work {
    Group group;
    double time = 0;
    bool takes_its_own = true;  ///< as in Group
  };
  const auto time = [&](std::string_view work) { return number_in(drive.statistics, work); };
  const Retries retries = retries_of(drive);
  const double reads = time("busy read");
  const Group again = of_error_correction();
  const std::vector<Work> works = {{of_collection(drive, asker), time("busy gc")},
                                   {of_programs(drive, "ssd.flash.ways or ssd.flash.channels"),
                                    time("busy program") + time("busy erase"), false},
                                   {of_reads(drive), reads * (1 - retries.share), false},
                                   {of_migration(drive), time("busy migration")},
                                   {of_map_pages(), time("busy map")},
                                   {{"refresh", "", 0, "firmware.refresh"}, time("busy refresh")},
                                   {{"wear levelling", "", 0, "firmware.wear"}, time("busy wear")},
                                   {again, reads * retries.share}};
  const Work& longest = *std::max_element(works.begin(), works.end(),
                                          [](const Work& a, const Work& b) { return a.time < b.time; });
  const bool retried = longest.group.cause == again.cause;
  Group group = longest.group;
  double own = longest.time;
  const Group transfers = of_transfers(drive);
  const double transferring = held(drive) * busy(drive, "dies");
  // Reading again brings its data over the channels again.
  if (transfers_limit(drive) && !(retried && own > transferring)) group = transfers;
  const bool transfer = group.cause == transfers.cause;
  if (transfer) own = transferring;
  group.takes_its_own = longest.takes_its_own && !transfer;
  group.without = retried && group.takes_its_own && !retries.alike ? reads : own;
  group.share = own;
  return group;
}

/// What keeps the busiest resource busy: whatever waits without a cause of its own waits for that.
/// Nothing: all are idle for most of the time.
std::optional<Group> bottleneck(const Drive& drive, const Asker& asker) {
  const auto busiest = [&](const auto& measure) {
    double most = k_idle;
    std::optional<Group> result;
    for (const Utilisation& use : drive.uses) {
      if (measure(use) <= most) continue;
      const std::optional<Resource> resource = limiting(use, drive);
      if (use.label != "dies" && !resource) continue;
      most = measure(use);
      result = use.label == "dies" ? of_dies(drive, asker) : of_resource(*resource);
      result->share = 0;
    }
    return result;
  };
  const std::optional<Group> all = busiest(load_of);
  return all ? all : busiest([](const Utilisation& use) { return use.highest(); });
}

/// Requests that come at their times waited for their turn: the load paused, or had as many under
/// way as it may; which of them, how many there were on average says. Nothing: it takes its time.
std::optional<Group> of_pacing(const Drive& drive, const Asker& asker) {
  for (const LimitOfLoad& limit : drive.limits.loads) {
    if (!asker.load.empty() && limit.load != asker.load) continue;
    double under_way = 0;
    for (const Json& load : drive.loads) {
      if (load["name"] == limit.load) under_way = load["queue_depth"]["mean"].get<double>();
    }
    if (!limit.pause_key.empty() && under_way < k_idle * limit.most)
      return Group{"thinktime", limit.pause_key, 0};
    return Group{k_limit, limit.key, 0};
  }
  return std::nullopt;
}

/// A wait that has no cause of its own, and what it is called where nothing is busy.
Group of_wait(const std::string& cause, const Drive& drive, const Asker& asker) {
  if (std::optional<Group> busiest = bottleneck(drive, asker)) return *busiest;
  if (cause == "buffer wait") return {"room in the write buffer", "", 0, "firmware.buffer.capacity"};
  if (cause == "submission" && !drive.limits.commands_under_way.empty())
    return {k_limit, drive.limits.commands_under_way, 0};
  if (cause == "submission") {
    if (std::optional<Group> paced = of_pacing(drive, asker)) return *paced;
  }
  return {cause == "submission" ? "the host's queue" : "earlier commands on the same data", "", 0};
}

Group remedy_of(const std::string& cause, const Drive& drive, const Asker& asker) {
  if (cause == "die busy: gc")
    return held(drive) >= k_held_for_wait ? of_transfers(drive) : of_collection(drive, asker);
  if (cause == "space wait")
    return transfers_limit(drive) ? of_transfers(drive) : of_making_room(drive, asker);
  if (cause == "buffer wait" || cause == "submission" || cause == "LBA hazard wait")
    return of_wait(cause, drive, asker);
  if (cause == "die busy: map" || (cause == "map fetch" && has_map_in_flash(drive))) return of_map_pages();
  if (cause == "memory" || cause == "map fetch") return of_memory(drive);
  if (cause == "link") return {"the host link", "ssd.host.link", 0};
  if (cause == "interrupt wait")
    return {"interrupt coalescing", "ssd.host.coalesce_time or ssd.host.coalesce_count", 0};
  if (cause == "log_structured") return {"the log-structured host", "log_structured", 0};
  if (cause == "network")
    return {"the network", "file_cache.bandwidth, file_cache.latency or file_cache.admission", 0};
  if (cause == "firmware" || cause == "core wait") {
    const Utilisation* const cores = use_of(drive, "cores");
    if (cores != nullptr && uneven(*cores)) return of_resource(*limiting(*cores, drive));
    return {"the controller's cores", "ssd.cpu.clock", 0};
  }
  if (cause == "bus wait" || cause == "transfer" || cause == "flash command") return of_channels(drive);
  if (cause == "die busy: read") return of_reads(drive);
  if (cause == "die busy: program" || cause == "die busy: erase")
    return of_programs(
        drive, joined(suspend_key(drive, asker, cause == "die busy: program", cause == "die busy: erase"),
                      " or ", "ssd.flash.ways"));
  if (cause == "die busy: migration") return of_migration(drive);
  if (cause == "die busy: refresh") return {"refresh", "", 0, "firmware.refresh"};
  if (cause == "die busy: wear") return {"wear levelling", "", 0, "firmware.wear"};
  if (cause == "sense" || cause == "program" || cause == "erase")
    return {"the flash's own time", "ssd.flash.part", 0};
  if (cause == "decoder wait") return of_decoders(drive);
  if (cause == "decode" || cause == "retry") return of_error_correction();
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

/// Shares of the loads in what the drive has under way, by name: how long it has had their commands
/// since it took them out of their queues.
std::vector<std::pair<std::string, double>> occupants_of(const Drive& drive) {
  std::vector<std::pair<std::string, double>> occupants;
  double sum = 0;
  for (const Json& load : drive.loads) {
    double time = 0;
    for (const auto& [name, operation] : load["operations"].items()) {
      double mean = operation["latency"]["mean"].get<double>();
      const Json& ledger = operation["ledger"];
      if (ledger.contains("submission")) mean -= ledger["submission"]["mean_ns"].get<double>();
      time += mean * operation["commands"].get<double>();
    }
    occupants.emplace_back(load["name"].get<std::string>(), time);
    sum += time;
  }
  for (auto& [name, share] : occupants) share /= std::max(sum, 1.0);
  return occupants;
}

/// The groups of a percentile's ledger, largest first; reads and writes of other loads by name. A
/// program holds data of all loads: it is shared out by what they wrote. So is what a read waited
/// for the write buffer, which was behind a write of its blocks. Who waits in a queue while those
/// of others have all that the drive takes at once waits for them.
std::vector<Group> remedies_of(const Json& told, const Asker& asker, const Json& report, const Drive& drive) {
  const std::string& load = asker.load;
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
      add({"writes of " + name, joined("that load", ", or ", suspend_key(drive, asker, true, false)), 0},
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
    double share = part["share"].get<double>() - (cause == "die busy: read" ? others : 0);
    if (cause == "submission" && !load.empty() && !drive.limits.turns.empty()) {
      const double all = share;
      for (const auto& [name, occupied] : occupants_of(drive)) {
        if (name == load) continue;
        add({"commands of " + name, "that load, or " + drive.limits.turns, 0}, all * occupied);
        share -= all * occupied;
      }
    }
    Group group = remedy_of(cause, drive, asker);
    if (group.cause == of_collection(drive, asker).cause && !load.empty() && !for_whom.empty() &&
        for_whom != load) {
      group.cause += " for writes of " + for_whom;
      group.look_at.insert(0, "that load, ");
    }
    if (group.cause == k_programs || group.cause == k_rewrites || cause == "LBA hazard wait" ||
        (asker.reads && cause == "buffer wait")) {
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
  std::vector<std::pair<double, Resource>> busy;
  for (const Utilisation& use : drive.uses) {
    const std::optional<Resource> resource = limiting(use, drive);
    if (resource && load_of(use) >= k_busy_resource) busy.emplace_back(load_of(use), *resource);
  }
  std::stable_sort(busy.begin(), busy.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  for (const auto& [share, resource] : busy) {
    found.push_back({resource.name,
                     fmt::format("{}: {} of the time busy, which bounds the rate at {:.2f} times this one",
                                 resource.full_name(), share_text(share), 1 / share),
                     resource.all_keys()});
  }
}

/// Utilisation of the busiest resource but the dies and what `group` names or takes along, which
/// limits the rate when these do not.
double busiest_beside(const Group& group, const Drive& drive) {
  double most = 0;
  for (const Utilisation& use : drive.uses) {
    const std::optional<Resource> resource = limiting(use, drive);
    if (!resource || resource->name == group.cause) continue;
    if (!group.takes_its_own || use.label.starts_with("link")) most = std::max(most, use.mean());
  }
  return most;
}

void hot_dies(const Utilisation& dies, const Drive& drive, std::vector<Finding>& found) {
  const std::string some = some_of(busy_ones(dies).size());
  const Group group = of_dies(drive, {});
  found.push_back(
      {some + "the dies",
       fmt::format("{}{} dies: {} of the time busy, mostly with {}; all of them {}: spread evenly "
                   "at most {:.1f} times the rate",
                   some, dies.shares.size(), share_text(dies.highest()), group.cause, share_text(dies.mean()),
                   1 / std::max({dies.mean(), busiest_beside({}, drive), 1e-3})),
       group.look_at, group.look_at_firmware});
}

void saturated_dies(const Drive& drive, std::vector<Finding>& found) {
  if (has_hot_dies(drive)) return hot_dies(*use_of(drive, "dies"), drive, found);
  const double dies = busy(drive, "dies");
  if (dies < k_busy_resource) return;
  const Group group = of_dies(drive, {});
  if (std::any_of(found.begin(), found.end(), [&](const Finding& one) { return one.cause == group.cause; }))
    return;
  found.push_back({group.cause,
                   fmt::format("the dies: {} of the time busy, {} for {}; without that at most {:.1f} times "
                               "the rate",
                               share_text(dies), share_text(group.share), group.cause,
                               1 / std::max({dies - group.without, busiest_beside(group, drive), 1e-3})),
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
    const std::vector<Group> groups = remedies_of(told, {part.name, name == "read"}, report, drive);
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

std::vector<Finding> findings(const Json& report, const ChosenLimits& limits) {
  std::vector<Finding> found;
  if (report["measured_picoseconds"] == 0) return found;
  const Drive drive(report, limits);
  saturated(drive, found);
  saturated_dies(drive, found);
  for (const ShownResults& part : shown_results(report)) slow_commands(part, report, drive, found);
  return found;
}

}  // namespace tlmssd
