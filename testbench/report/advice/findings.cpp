#include "testbench/report/advice/findings.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <string_view>

#include "models/base/quantity_text.h"
#include "testbench/report/advice/remedies.h"
#include "testbench/report/ledger_json.h"
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

/// Loads, and the share of each in something.
using SharesOfLoads = std::vector<std::pair<const MeasuredLoad*, double>>;

/// `weight` of a load; 0: it has no share.
template <typename Weight>
SharesOfLoads shares_of(const MeasuredDrive& drive, const Weight& weight) {
  SharesOfLoads shares;
  double sum = 0;
  for (const MeasuredLoad& load : drive.loads) {
    const double own = weight(load);
    if (own == 0) continue;
    shares.emplace_back(&load, own);
    sum += own;
  }
  for (auto& [load, share] : shares) share /= sum;
  return shares;
}

/// In what was written: of those that began before `asker` ended, for collection works for what was
/// written earlier, too.
SharesOfLoads writers_of(const MeasuredDrive& drive, const MeasuredLoad* asker) {
  return shares_of(drive, [&](const MeasuredLoad& load) {
    return MeasuredDrive::meet(asker, load, true) ? load.written : 0.0;
  });
}

/// In what was read out of flash, at the time of `asker` alone.
SharesOfLoads readers_of(const MeasuredDrive& drive, const MeasuredLoad* asker) {
  return shares_of(
      drive, [&](const MeasuredLoad& load) { return MeasuredDrive::meet(asker, load) ? load.sensed : 0.0; });
}

/// In what the drive has under way: how long it has had their commands since it took them out of
/// their queues. Of those that it has had at the time of `asker` alone.
SharesOfLoads occupants_of(const MeasuredDrive& drive, const MeasuredLoad* asker) {
  return shares_of(drive, [&](const MeasuredLoad& load) {
    return MeasuredDrive::meet(asker, load) ? load.occupied : 0.0;
  });
}

/// Remedies of one wait, with the share of each. What other loads do is kept by load: there may be
/// thousands of them, and but the first few are told.
class Blamed {
 public:
  explicit Blamed(const MeasuredDrive& drive) : drive_(drive) {}

  void add(const Remedy& remedy, double share) {
    auto at = std::find_if(remedies_.begin(), remedies_.end(),
                           [&](const Ranked& g) { return g.remedy.cause == remedy.cause; });
    if (at == remedies_.end()) {
      at = remedies_.insert(remedies_.end(), {remedy, ++added_});
      at->remedy.share = at->remedy.along = 0;
    }
    at->remedy.share += share;
    if (remedy.share > 0) at->remedy.along += share * remedy.along / remedy.share;
  }

  /// `what` ("reads of ") of this load. `what` is a literal, with one `look_at` for all loads.
  void add_of(const char* what, const MeasuredLoad& load, const std::string& look_at, double share) {
    auto at = std::find_if(others_.begin(), others_.end(),
                           [&](const Others& one) { return std::string_view(one.what) == what; });
    if (at == others_.end())
      at = others_.insert(others_.end(), {what, look_at, std::vector<Part>(drive_.loads.size())});
    Part& part = at->parts[static_cast<std::size_t>(&load - drive_.loads.data())];
    if (part.place == 0) part.place = ++added_;
    part.share += share;
  }

  /// The largest, at most so many; of equal ones that which was added first.
  [[nodiscard]] std::vector<Remedy> largest(std::size_t most) const {
    struct Candidate {
      double share;
      std::size_t place;
      const Remedy* remedy;
      const Others* others;
      std::size_t load;
    };
    std::vector<Candidate> all;
    for (const Ranked& one : remedies_) all.push_back({one.remedy.share, one.place, &one.remedy, nullptr, 0});
    for (const Others& one : others_)
      for (std::size_t i = 0; i < one.parts.size(); ++i)
        if (one.parts[i].place > 0) all.push_back({one.parts[i].share, one.parts[i].place, nullptr, &one, i});
    most = std::min(most, all.size());
    std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(most), all.end(),
                      [](const Candidate& a, const Candidate& b) {
                        return a.share != b.share ? a.share > b.share : a.place < b.place;
                      });
    std::vector<Remedy> told;
    for (std::size_t i = 0; i < most; ++i) {
      const Candidate& one = all[i];
      if (one.remedy != nullptr) {
        told.push_back(*one.remedy);
      } else {
        told.push_back({one.others->what + drive_.loads[one.load].name, one.others->look_at, one.share});
      }
    }
    return told;
  }

 private:
  struct Ranked {
    Remedy remedy;
    std::size_t place;  ///< in the order in which they were added, from 1
  };
  struct Part {
    double share = 0;
    std::size_t place = 0;  ///< 0: it has no part
  };
  struct Others {
    const char* what;
    std::string look_at;
    std::vector<Part> parts;  ///< of each load
  };
  const MeasuredDrive& drive_;
  std::vector<Ranked> remedies_;
  std::vector<Others> others_;
  std::size_t added_ = 0;
};

constexpr std::size_t k_told = 3;  ///< causes of a percentile

/// The first remedies of a percentile's ledger, largest first; reads and writes of other loads by
/// name. A program holds data of all loads: it is shared out by what they wrote. So is what a read
/// waited for the write buffer, which was behind a write of its blocks. Who waits in a queue while
/// those of others have all that the drive takes at once waits for them. A wait of no die's own
/// that is for reads is shared out by what the loads read; what is written waits for them as the
/// scheduling of the dies has it. Who waits in the queue of SATA behind flushes and trims waits for
/// those.
std::vector<Remedy> remedies_of(const Json& told, const Asker& asker, const MeasuredDrive& drive) {
  const std::string& load = asker.load;
  const MeasuredLoad* const own = load.empty() ? nullptr : drive.find(load);
  Blamed blamed(drive);
  const SharesOfLoads writers = writers_of(drive, own);
  const SharesOfLoads readers = readers_of(drive, own);
  const SharesOfLoads occupants = occupants_of(drive, own);
  // What is left for the load itself behind what others have a part in.
  const auto without_others = [&](double share, const SharesOfLoads& all, const char* what,
                                  const std::string& look_at) {
    double rest = share;
    for (const auto& [other, part] : all) {
      if (load.empty() || other == own) continue;
      blamed.add_of(what, *other, look_at, share * part);
      rest -= share * part;
    }
    return rest;
  };
  std::string for_whom;  // who wrote most of what collection makes space for
  for (const auto& [other, part] : writers)
    if (part >= k_most_writes) for_whom = other->name;
  const bool overtaken = drive.limits.prefers_reads && !asker.reads && !readers.empty();
  const char* const those_reads = overtaken ? "that load, ssd.flash.scheduling or ssd.flash.channels"
                                            : "that load, or ssd.flash.channels";
  // With more under way a load has more of a drive that mostly works for others, but not of one
  // that it has to itself.
  double own_part = load.empty() ? 1 : 0;
  for (const auto& [other, part] : occupants)
    if (other == own) own_part = part;
  const bool for_others = own_part < k_most_of_time;
  double others = 0;
  double alone = 0;
  for (const auto& [who, part] : told["behind"].items()) {
    const double share = part["share"].get<double>();
    if (who.starts_with(k_alone_of)) {
      const std::string whose = who.substr(std::string_view(k_alone_of).size());
      blamed.add(of_alone(drive, whose == k_other_loads ? "" : whose, load), share);
      alone += share;
    }
    if (load.empty() || !who.starts_with(k_reads_of) || who == k_reads_of + load) continue;
    const MeasuredLoad* const reader = drive.find(who.substr(std::string_view(k_reads_of).size()));
    if (reader != nullptr) {
      blamed.add_of(k_reads_of, *reader, those_reads, share);
    } else {
      blamed.add({who, those_reads, 0}, share);
    }
    others += share;
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
      share = without_others(share, readers, k_reads_of, those_reads);
    }
    blamed.add(remedy, share);
  };
  for (const auto& [cause, part] : told["ledger"].items()) {
    double share = part["share"].get<double>();
    if (cause == "die busy: read") share -= others;
    if (cause == "submission") share -= alone;
    const bool turns = cause == "submission" && !drive.limits.turns.empty();
    if (turns)
      share = without_others(share, occupants, "commands of ", "that load, or " + drive.limits.turns);
    if (cause == "load limit" && for_others) {
      blamed.add(own_limit(drive, asker), share);
      continue;
    }
    const Asker of_this = {load, asker.reads, part["ns"].get<double>()};
    for (Remedy& remedy : remedies_for(cause, drive, of_this))
      tell(cause, turns, remedy, share * remedy.share);
  }
  return blamed.largest(k_told);
}

/// Whether the same is said there already, be it of another time.
bool says(const std::vector<Finding>& found, const Finding& finding) {
  const auto what = [](const Finding& one) { return one.text.substr(0, one.text.find(':')); };
  return std::any_of(found.begin(), found.end(), [&](const Finding& one) {
    return one.cause == finding.cause && what(one) == what(finding);
  });
}

/// Whether a load whose own time this is spends some of it on this resource, or on waits that may
/// come from it. Others' work keeps a resource busy beside loads that hardly ask for it.
bool asks_for(const std::string& resource, const MeasuredDrive& drive) {
  const MeasuredLoad* const load = drive.find(drive.whose);
  if (load == nullptr) return true;
  double on_it = 0;
  for (const MeasuredLoad::Spent& spent : load->spent) {
    if (waits_for_dies(spent.cause) || (works_for(spent.cause) && resource == k_dies)) {
      on_it += spent.time;
      continue;
    }
    for (const Remedy& remedy : remedies_for(spent.cause, drive, {drive.whose, spent.reads}))
      if (remedy.cause.ends_with(resource)) on_it += spent.time * remedy.share;
  }
  return on_it >= k_hardly_waits * load->time.all;
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

constexpr double k_no_bound = 1000;  ///< times the rate
/// Times the rate that it gets, up to which a load gets all that it asks for.
constexpr double k_all_it_asks = 1.02;

/// The loads whose rate this is: those of which the drive's own time is told, or all.
template <typename Use>
void each_rated(const MeasuredDrive& drive, const Use& use) {
  const MeasuredLoad* const whose = drive.find(drive.whose);
  if (whose != nullptr) return use(*whose);
  for (const MeasuredLoad& load : drive.loads) use(load);
}

/// How many times its rate a load would have at most where so much is left of the time of its
/// commands, with as many outstanding as are: no more than it asks for, and its pauses stay.
double times_of(const MeasuredLoad& load, double left) {
  const double paused = load.demand.paused;
  const double times = 1 / std::max(paused + (1 - paused) * left, 1 / k_no_bound);
  return load.demand.times > 0 ? std::min(times, load.demand.times) : times;
}

/// How many times the rate there would be at most if commands waited for nothing that others do,
/// nor for what goes with `remedy`, and as many were outstanding as are (Little's law): of the load
/// that would gain most. Requests that are due and not issued are not outstanding.
double at_this_depth(const Remedy& remedy, const MeasuredDrive& drive) {
  double most = 0;
  each_rated(drive, [&](const MeasuredLoad& load) {
    double all = 0;
    double left = 0;
    for (const MeasuredLoad::Spent& spent : load.spent) {
      const std::string& cause = spent.cause;
      if (cause == "load limit") continue;
      all += spent.time;
      const bool may_wait = cause == "suspend" || cause == "retry" || cause == "read ahead" ||
                            (cause == "map fetch" && has_map_in_flash(drive.statistics));
      if (may_wait || waits_for_dies(cause) || cause.ends_with(" wait")) continue;
      left +=
          spent.time * (1 - share_that_ends(remedy, remedies_for(cause, drive, {load.name, spent.reads})));
    }
    if (all > 0) most = std::max(most, times_of(load, left / all));
  });
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

/// What the time of commands goes to, as shares of it.
TimeOfCommands time_of_commands(const MeasuredDrive& drive) {
  const MeasuredLoad* const asker = drive.find(drive.whose);
  TimeOfCommands time;
  for (const MeasuredLoad& load : drive.loads) {
    if (!MeasuredDrive::meet(asker, load)) continue;
    time.all += load.time.all;
    time.arrays += load.time.arrays;
    time.senses += load.time.senses;
    time.map += load.time.map;
    time.waits += load.time.waits;
    time.behind += load.time.behind;
  }
  if (time.all == 0) return time;
  return {1,
          time.arrays / time.all,
          time.senses / time.all,
          time.map / time.all,
          time.waits / time.all,
          time.behind / time.all};
}

/// Dies that are busy while hardly a command waits for one: no more is under way than these can do,
/// and more dies would have nothing to do. They read pages of the map for commands, too. False:
/// that is not so.
bool dies_without_queue(const MeasuredDrive& drive, std::vector<Finding>& found) {
  const TimeOfCommands time = time_of_commands(drive);
  if (time.waits > k_hardly_waits || time.arrays + time.map < k_most_of_time) return false;
  const auto tell = [&](const Remedy& own, const char* are, double share) {
    if (share <= k_hardly_waits) return;
    double most = 0;
    each_rated(drive, [&](const MeasuredLoad& load) {
      if (load.time.all > 0)
        most = std::max(most, times_of(load, std::max({1 - share, busiest_beside(own, drive), 1e-3})));
    });
    found.push_back(
        {own.cause,
         fmt::format("the dies: {} of {} busy, but commands hardly wait for them; {} {} {} of what "
                     "commands take, without that at most {:.1f} times {}",
                     share_text(drive.busy("dies")), drive.time, own.cause, are, share_text(share), most,
                     drive.rate),
         own.look_at, own.look_at_firmware});
  };
  const auto tell_arrays = [&] {
    const std::vector<Remedy> senses = remedies_for("sense", drive, {});
    const double further = time.senses * share_that_ends({k_further_senses, "", 0}, senses);
    if (further > 0) tell(senses.back(), "are", further);
    tell(senses.front(), "is", time.arrays - further);
  };
  if (time.map < time.arrays) tell_arrays();
  if (time.map > 0) tell(remedies_for("map fetch", drive, {}).front(), "are", time.map + time.behind);
  if (time.map >= time.arrays) tell_arrays();
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
  // More dies have less to do of all that they do, not of their longest work alone.
  const double left = remedy.more_dies ? 0 : dies - remedy.without;
  found.push_back(
      {remedy.cause,
       fmt::format("the dies: {} of {} busy, {} for {}; {} {} {:.1f} times {}", share_text(dies), drive.time,
                   share_text(remedy.share), remedy.cause,
                   remedy.more_dies ? "with more dies on the channels" : "without that",
                   remedy.cause == k_rewrites ? "about" : "at most",
                   times_the_rate(std::max(left, busiest_beside(remedy, drive)), remedy, drive), drive.rate),
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
  return std::any_of(drive.loads.begin(), drive.loads.end(),
                     [](const MeasuredLoad& load) { return load.waits_for_programs; });
}

bool flushes(const MeasuredDrive& drive) {
  return std::any_of(drive.loads.begin(), drive.loads.end(),
                     [](const MeasuredLoad& load) { return load.flushes; });
}

/// Data that must be in flash at once go there in program units that they do not fill: told where
/// these hold no more of the host's data than padding.
void padded(const MeasuredDrive& drive, const Json& amplification, std::vector<Finding>& found) {
  const double padding = number_in(amplification, "padding");
  if (padding == 0 || padding < number_in(amplification, "host")) return;
  const bool through = drive.limits.writes_through;
  if (!through && !host_waits_for_programs(drive)) return;
  // What another's firmware waits for is not known, where there are no flushes.
  const bool forced = !through && (drive.limits.own_firmware || flushes(drive));
  const char* const why = through  ? "each write goes to"
                          : forced ? "flushes or force unit access send data to"
                                   : "writes go to";
  found.push_back({"padding",
                   fmt::format("padding: {} of what was programmed holds no data: {} flash before others "
                               "fill the program unit",
                               share_text(padding / number_in(amplification, "total")), why),
                   forced ? "the host's flushes and force unit access" : "",
                   through ? "firmware.buffer.mode" : ""});
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

/// Loads whose requests come at their times, and are done as they come: nothing faster raises their
/// rate.
void paced_loads(const MeasuredDrive& drive, std::vector<Finding>& found) {
  std::vector<std::string> names;
  std::string keys;
  for (const MeasuredLoad& load : drive.loads) {
    const double times = load.demand.times;
    if (load.time.all == 0 || times == 0 || times > k_all_it_asks) continue;
    names.push_back(load.name);
    if (keys.find(load.demand.keys) == std::string::npos) keys = joined(keys, " or ", load.demand.keys);
  }
  if (names.empty()) return;
  constexpr std::size_t k_named = 3;
  const bool one = names.size() == 1;
  if (names.size() > k_named) {
    const std::size_t more = names.size() - k_named;
    names.resize(k_named);
    names.push_back(fmt::format("{} more", more));
  }
  found.push_back(
      {"the times of requests",
       fmt::format("{}: {} requests are done at the rate at which they are due, and {} for no more",
                   list_text(names), one ? "its" : "their", one ? "it asks" : "they ask"),
       keys});
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
    for (std::size_t i = 0; i < remedies.size() && remedies[i].share >= 0.005; ++i)
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
  std::vector<Finding> found;
  paced_loads(drive, found);
  found.insert(found.end(), of_all_the_time.begin(), of_all_the_time.end());
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
