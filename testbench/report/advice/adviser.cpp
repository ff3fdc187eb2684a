#include "testbench/report/advice/adviser.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>

#include "models/base/quantity_text.h"
#include "models/base/suggest.h"
#include "testbench/report/advice/busy_parts.h"
#include "testbench/report/advice/resources.h"
#include "testbench/report/shown_results.h"
#include "testbench/report/statistics_view.h"
#include "testbench/report/steadiness.h"

namespace tlmssd {
namespace {

using Json = nlohmann::ordered_json;

constexpr double k_share_of_writes = 0.1;  ///< from which on a run is also about writes
constexpr double k_share_unwritten = 0.01;
constexpr double k_share_of_waits = 0.01;
constexpr double k_share_of_flushes = 0.1;
constexpr double k_turnovers = 1;
constexpr double k_share_not_copied = 0.5;
constexpr double k_share_found_free = 0.2;
constexpr double k_blocks_of_spare = 8;
constexpr double k_share_of_pslc_lost = 0.5;
constexpr double k_saturated = 0.8;
constexpr double k_share_of_lag = 0.02;
constexpr double k_share_active = 0.5;
constexpr double k_commands_of_tail = 1000;  ///< with fewer p99.9 is that of the slowest one
constexpr Picoseconds k_least_lag = 10'000'000'000;

/// The first of them, and how many more there are.
std::string first_of_them(std::vector<std::string> items) {
  constexpr std::size_t k_named = 6;
  if (items.size() > k_named) {
    const std::size_t more = items.size() - k_named;
    items.resize(k_named);
    items.push_back(fmt::format("and {} more", more));
  }
  return list_text(items);
}

std::string percent(double share) {
  return fmt::format("{:.0f} %", share * 100);
}

struct Evidence {
  const Json& report;
  const AdviserFacts& facts;
  std::vector<Advice>& advice;
  std::string_view rule;  ///< which speaks

  void say(const std::string& text, const std::string& look_at) const {
    advice.push_back({std::string(rule), text, look_at});
  }
  [[nodiscard]] bool measured() const { return facts.timed && report["results"]["total"]["commands"] != 0; }

  [[nodiscard]] double statistic(std::string_view name) const {
    return number_in(report["statistics"], name);
  }
  /// Bytes that the drive was given to write while it was measured: what the loads wrote, unless a
  /// layer of the host lies between.
  [[nodiscard]] double written() const {
    if (facts.unit > 0) return statistic("host units written net") * static_cast<double>(facts.unit);
    const Json& operations = report["results"]["total"]["operations"];
    return operations.contains("write") ? operations["write"]["bytes"].get<double>() : 0;
  }
  [[nodiscard]] bool about_writes() const {
    if (!facts.timed) {  // commands are not counted
      const double units = statistic("host units written");
      return units > 0 && units >= k_share_of_writes * (units + statistic("host units read"));
    }
    const Json& total = report["results"]["total"];
    if (!total["operations"].contains("write")) return false;
    return total["operations"]["write"]["commands"].get<double>() >=
           k_share_of_writes * total["commands"].get<double>();
  }
  /// What makes these loads longer, and other parameters before or behind it.
  [[nodiscard]] static std::string longer(const std::vector<const LoadEnd*>& loads,
                                          std::vector<std::string> before,
                                          const std::vector<std::string>& behind = {}) {
    for (const LoadEnd* const load : loads) add(before, load->longer_by);
    add(before, behind);
    return choice(before);
  }
  /// Those of `options` that go with one of `loads`.
  [[nodiscard]] static std::string keys_of(const std::vector<const LoadEnd*>& loads,
                                           const std::vector<std::string>& options,
                                           const std::vector<std::string>& behind = {}) {
    std::vector<std::string> keys;
    for (const LoadEnd* const load : loads) add(keys, load->keys(options));
    add(keys, behind);
    return choice(keys);
  }
  [[nodiscard]] std::vector<const LoadEnd*> all_loads() const {
    std::vector<const LoadEnd*> loads;
    for (const LoadEnd& load : facts.loads) loads.push_back(&load);
    return loads;
  }
  static void add(std::vector<std::string>& keys, const std::vector<std::string>& more) {
    for (const std::string& key : more)
      if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
  }
  [[nodiscard]] static std::string choice(const std::vector<std::string>& keys) {
    return keys.empty() ? "load" : any_of(keys, keys.size());
  }
  [[nodiscard]] double spare() const { return static_cast<double>(facts.flash - facts.user); }
};

void unwritten_reads(const Evidence& e) {
  const double unwritten = e.statistic("unmapped reads");
  const double all = e.statistic("host units read");
  if (all == 0 || unwritten < k_share_unwritten * all) return;
  e.say(fmt::format("{} of what was read was not there (never written, or trimmed): the drive answers that "
                    "without touching its flash, far faster than data",
                    share_text(unwritten / all)),
        "precondition");
}

/// What the host's data have cost in flash; firmware that does not count it: what does not fit into
/// the write buffer.
double programmed(const Evidence& e) {
  const Json* const amplification = find_group(e.report["statistics"], "write_amplification");
  if (amplification != nullptr && amplification->contains("host"))
    return number_in(*amplification, "host") * e.written();
  return std::max(e.written() - static_cast<double>(e.facts.write_buffer), 0.0);
}

void short_for_amplification(const Evidence& e) {
  const double flushed = programmed(e);
  if (!e.about_writes() || flushed >= k_turnovers * e.spare()) return;
  e.say(fmt::format("{} were written and {} of them programmed, {:.2g} times the spare flash of {}: write "
                    "amplification and collection need some turnovers to settle",
                    bytes_text(e.written()), bytes_text(flushed), flushed / e.spare(), bytes_text(e.spare())),
        Evidence::longer(e.all_loads(), {}, {"precondition"}));
}

/// The part of an operation's latency that is a wait for flash or for room, as a share of it.
double waited_for_flash(const Json& operation) {
  double share = 0;
  for (const auto& [cause, part] : operation["ledger"].items()) {
    if (cause == "buffer wait" || cause == "cache wait" || cause == "space wait" || cause == "program" ||
        cause.starts_with("die busy"))
      share += part["share"].get<double>();
  }
  return share;
}

/// Whether writes waited for flash, of their own or for room: then they are not those of the
/// memory. A write that a flush follows waits in the flush.
bool writes_waited(const Evidence& e) {
  const Json& operations = e.report["results"]["total"]["operations"];
  const Json& writes = operations["write"];
  if (waited_for_flash(writes) >= k_share_of_waits) return true;
  if (!operations.contains("flush")) return false;
  const auto time = [](const Json& operation) {
    return operation["commands"].get<double>() * operation["latency"]["mean"].get<double>();
  };
  const Json& flushes = operations["flush"];
  return waited_for_flash(flushes) * time(flushes) >= k_share_of_flushes * (time(writes) + time(flushes));
}

void buffer_holds_load(const Evidence& e) {
  const Json* cache = find_group(e.report["statistics"], "cache");
  const Json* held = cache == nullptr ? nullptr : find_value(*cache, "capacity");
  const double buffer = std::max(static_cast<double>(e.facts.write_buffer),
                                 held == nullptr ? 0 : (*held)["value"].get<double>());
  if (!e.about_writes() || e.written() > buffer || writes_waited(e)) return;
  e.say(fmt::format("all that was written, {}, fits into the {} of write buffer or cache: write "
                    "latencies and rates are those of the memory",
                    bytes_text(e.written()), bytes_text(buffer)),
        Evidence::longer(e.all_loads(), {"firmware.buffer.capacity"}));
}

/// A read that may not wait copies nothing into a full cache, and evicts nothing from it. Where
/// reads wait, those do not that would fill a good part of the cache.
void reads_not_cached(const Evidence& e) {
  const Json* const cache = find_group(e.report["statistics"], "cache");
  if (cache == nullptr || find_value(*cache, "copies skipped") == nullptr) return;
  const double skipped = number_in(*cache, "copies skipped");
  const double all = skipped + number_in(*cache, "copies in");
  if (all == 0 || skipped < k_share_not_copied * all) return;
  const std::string found = fmt::format(
      "{} of what reads might have brought into the cache found no room there: ", share_text(skipped / all));
  if (e.facts.copies_wait) {
    e.say(found + "a read that needs more than an eighth of the cache does not wait for room",
          "firmware.cache.capacity");
  } else {
    e.say(found + "it is full, and a read that does not wait makes none", "firmware.cache.copy_waits");
  }
}

/// What another's firmware keeps open is not known.
bool has_few_blocks(const Evidence& e) {
  return e.facts.own_firmware && e.facts.blocks_of_spare < k_blocks_of_spare;
}

void few_blocks(const Evidence& e) {
  if (!e.about_writes() || !has_few_blocks(e)) return;
  e.say(fmt::format("each parallel unit has {:.1f} blocks of spare flash, of which four or so are "
                    "always open or in reserve: collection works with less than the drive seems "
                    "to have{}",
                    e.facts.blocks_of_spare,
                    e.facts.background_without_room ? ", and never in the background" : ""),
        "ssd.flash.part.pages_per_block");
}

void no_background(const Evidence& e) {
  // Of few blocks few_blocks() says it.
  if (has_few_blocks(e) || !e.about_writes() || !e.facts.background_without_room) return;
  e.say(
      "nothing is collected in the background: half of the spare blocks of each parallel unit are fewer than "
      "firmware.gc.low_water + 2, so that firmware.gc.background_start and background_stop play no part",
      "ssd.flash.spare_factor, firmware.gc.low_water or ssd.flash.part.pages_per_block");
}

/// Blocks in SLC mode that have failed leave a drive that writes as if it had none.
void pslc_worn_out(const Evidence& e) {
  const Json* const pslc = find_group(e.report["statistics"], "pslc");
  if (pslc == nullptr) return;
  const double lost = number_in(*pslc, "static size lost");
  const double all = lost + number_in(*pslc, "static size");
  if (lost == 0 || lost < k_share_of_pslc_lost * all) return;
  e.say(fmt::format("{} of the {} of static pSLC are worn out or have failed: what does not "
                    "fit into the rest goes to native blocks",
                    bytes_text(lost), bytes_text(all)),
        "firmware.pslc.static or ssd.flash.part.slc_endurance");
}

/// A ramp behind a stonewall begins when what is before it has ended: of that nothing is measured.
void not_measured(const Evidence& e) {
  if (e.facts.all_ramp) {
    e.say("nothing was measured: the ramp (ramp_time, ramp_requests) takes up the whole run",
          Evidence::keys_of(e.all_loads(), {"ramp_time", "ramp_requests"}));
    return;
  }
  const Json& loads = e.report["results"]["loads"];
  std::vector<std::string> names;
  std::size_t at_work = 0;
  for (std::size_t i = 0; i < e.facts.loads.size() && i < loads.size(); ++i) {
    const LoadEnd& load = e.facts.loads[i];
    if (load.issued == 0) continue;
    ++at_work;
    if (e.facts.timed ? loads[i]["commands"] == 0 : load.measured == 0) names.push_back(load.name);
  }
  if (names.size() == at_work) return;  // of none: nothing more to tell
  if (names.empty()) return;
  const std::string others = names.size() == 1 ? "" : fmt::format(" and {} other loads", names.size() - 1);
  e.say(fmt::format("nothing is measured of {}{}: measurement begins when the ramps of all loads are "
                    "over, those behind a stonewall, too",
                    names.front(), names.size() == 2 ? " and " + names.back() : others),
        Evidence::keys_of(e.all_loads(), {"ramp_time", "ramp_requests"}));
}

void ended_by_size(const Evidence& e) {
  for (const LoadEnd& load : e.facts.loads) {
    if (load.wanted == 0 || load.by_time || load.issued >= load.wanted) continue;
    e.say(
        fmt::format("{} ended after {} of its {} requests: it has no more to ask for", load.name, load.issued,
                    load.wanted),
        Evidence::keys_of({&load}, e.facts.timed ? std::vector<std::string>{"loops", "io_size", "time_based"}
                                                 : std::vector<std::string>{"loops", "io_size"}));
  }
}

void falls_behind(const Evidence& e) {
  for (const LoadEnd& load : e.facts.loads) {
    const auto share =
        static_cast<double>(load.lag) / static_cast<double>(std::max<Picoseconds>(load.lasted, 1));
    if (load.lag < k_least_lag || share < k_share_of_lag) continue;
    e.say(fmt::format("{} cannot keep to its times: its last request was issued {} late; its "
                      "latencies grow with the length of the run",
                      load.name, time_text(static_cast<double>(load.lag))),
          Evidence::keys_of({&load}, {"rate_iops", "rate", "time_scale"}));
  }
}

/// In open loop the wait for room in the queue is in the latencies.
void beyond_queue(const Evidence& e) {
  for (const LoadEnd& load : e.facts.loads) {
    if (load.depth <= e.facts.queue_depth || load.issued <= e.facts.queue_depth) continue;
    e.say(fmt::format("{} keeps {} requests outstanding, and its queue holds {}: the others wait "
                      "in the host, and that wait is not in its latencies",
                      load.name, load.depth, e.facts.queue_depth),
          Evidence::keys_of({&load}, {"iodepth", "queue_depth"}, {e.facts.key_of_queue_depth}));
  }
}

/// Commands that are taken as they come, whatever their queue.
void turns_unused(const Evidence& e) {
  const Json* const host = find_group(e.report["statistics"], "host");
  if (e.facts.turns.empty() || host == nullptr) return;
  for (const auto& [name, group] : host->items())
    if (name.starts_with("queue_") && number_in(group, "mean wait") > 0) return;
  e.say(e.facts.turns +
            " never had to choose: no command waited for the turn of its queue, for the drive "
            "takes commands as they come until outstanding_limit are under way",
        "ssd.host.outstanding_limit");
}

/// Rates count over all the time measured: those of a load that took a part of it say little of how
/// fast it was.
void part_of_the_time(const Evidence& e) {
  const double measured = e.report["measured_time"]["value"].get<double>();
  const Json& loads = e.report["results"]["loads"];
  std::vector<const LoadEnd*> told;
  std::vector<std::string> each;
  std::string text;
  for (std::size_t i = 0; i < e.facts.loads.size() && i < loads.size(); ++i) {
    const LoadEnd& load = e.facts.loads[i];
    const auto active = static_cast<double>(load.active);
    const double bytes = loads[i]["bytes"].get<double>();
    if (bytes == 0 || active >= k_share_active * measured * 1e12) continue;
    const std::string own = bandwidth_text(bytes / active * 1e12);
    text = fmt::format(
        "{} was at work for {} of the {} measured, and its IOPS and bandwidth count over all "
        "of that: in its own time (own_time in report.json) it moved {}",
        load.name, time_text(active), time_text(measured * 1e12), own);
    each.push_back(fmt::format("{} for {} ({} in that time)", load.name, time_text(active), own));
    told.push_back(&load);
  }
  if (told.empty()) return;
  if (told.size() > 1)
    text = fmt::format(
        "loads were at work for a part of the {} measured, and their IOPS and bandwidth count "
        "over all of that (own_time in report.json does not): {}",
        time_text(measured * 1e12), first_of_them(each));
  e.say(text, Evidence::keys_of(told, {"runtime"}));
}

/// The summary shows p99.9 of all operations, however few their commands, and targets ask for any.
void few_for_tail(const Evidence& e) {
  std::vector<std::string> keys;
  for (const LoadEnd& load : e.facts.loads) {
    Evidence::add(keys, load.longer_by);
    if (load.by_time || load.made) Evidence::add(keys, load.keys({"runtime"}));
  }
  std::vector<std::string> few;
  for (const ShownResults& part : shown_results(e.report)) {
    for (const auto& [name, operation] : (*part.results)["operations"].items()) {
      const double commands = operation["commands"].get<double>();
      if (commands < k_commands_of_tail &&
          commands >= k_share_of_commands * (*part.results)["commands"].get<double>())
        few.push_back(fmt::format("{} ({})", part.of(name), commands));
    }
  }
  const std::vector<std::string>& targets = e.facts.targets_with_few;
  if (!targets.empty())
    e.say(fmt::format("fewer than one command lies beyond what is asked for by {} {}: it is the "
                      "slowest one, and another seed may give another",
                      targets.size() == 1 ? "the target" : "the targets", list_text(targets)),
          Evidence::choice(keys));
  if (few.empty()) return;
  e.say(fmt::format("fewer than {} commands of {}: p99.9 is the slowest one, and another seed "
                    "may give another",
                    k_commands_of_tail, list_text(few)),
        Evidence::choice(keys));
}

/// Steps of the run in which the load had commands outstanding, from the first to behind the last.
std::pair<std::size_t, std::size_t> active_steps(const Json& load) {
  const Json& depth = load["series"]["queue_depth"];
  std::size_t first = 0;
  std::size_t last = depth.size();
  while (first < last && depth[first].get<double>() == 0) ++first;
  while (last > first && depth[last - 1].get<double>() == 0) --last;
  return {first, last};
}

/// Bandwidth of a load, all operations together, in the whole steps of its own time: before it
/// begins and when it has ended it has none, which is no change.
std::vector<double> bandwidth_of(const Json& load) {
  std::vector<double> sum;
  for (const auto& [name, values] : load["series"].items()) {
    if (!values.is_object() || !values.contains("bandwidth")) continue;
    sum.resize(std::max(sum.size(), values["bandwidth"].size()));
    for (std::size_t i = 0; i < values["bandwidth"].size(); ++i)
      sum[i] += values["bandwidth"][i].get<double>();
  }
  const auto [first, last] = active_steps(load);
  if (last <= first + 2 || last > sum.size()) return {};
  const std::size_t begin = first == 0 ? 0 : first + 1;  // cut short by its beginning
  return {sum.begin() + static_cast<std::ptrdiff_t>(begin),
          sum.begin() + static_cast<std::ptrdiff_t>(last - 1)};  // and by the end
}

/// A load that goes on until it is steady has come into the steady state of its own.
void steady_of_another_load(const Evidence& e) {
  if (!e.facts.drawn_steady || !e.about_writes() || e.report.contains("steady")) return;
  for (const LoadEnd& load : e.facts.loads) {
    if (load.unlike_steady.empty()) continue;
    e.say(fmt::format("{} {}, and the drive is in the steady state of uniform random writes of a "
                      "mapping page all over it: write amplification and the speed of writes are "
                      "those of neither until the load has turned its spare flash over some times",
                      load.name, load.unlike_steady),
          "precondition.overwrite or precondition.until");
  }
}

/// Collection in the background had freed blocks before the load, which a host that never pauses
/// would not have found. Those that are taken and not freed again meanwhile are counted, open ones
/// included.
void rested_drive(const Evidence& e) {
  const Json& free = e.report["series"]["free_blocks"];
  if (!e.facts.came_to_rest || !e.about_writes() || free.empty() || !free.back().is_number()) return;
  const double before = free.front().get<double>();
  const double after = free.back().get<double>();
  const Json* const amplification = find_group(e.report["statistics"], "write_amplification");
  if (amplification == nullptr) return;
  const double all = number_in(*amplification, "total") * e.written();
  if ((before - after) * static_cast<double>(e.facts.block) < k_share_found_free * all) return;
  e.say(fmt::format("{} blocks were free at the start, {} at the end: the drive had come to rest before the "
                    "load, and writes found room that collection need not make for them; a host that never "
                    "pauses finds less",
                    before, after),
        "precondition.sustained");
}

/// What was to be steady, and is not.
void never_steady(const Evidence& e) {
  const auto say = [&](const std::string& what, const Json& rounds) {
    if (rounds["met"].get<bool>()) return;
    e.say(what + ": " + rounds["text"].get<std::string>(),
          what == "run" ? "run.most_rounds or run.round" : "precondition.most_rounds");
  };
  for (const Json& step : e.report.value("preconditioning", Json::array()))
    say(fmt::format("precondition.{}", step["step"].get<std::size_t>()), step);
  if (e.report.contains("steady")) say("run", e.report["steady"]);
}

/// Loads whose bandwidth in their own time goes that way; a run that was to be steady is judged by
/// the figure that was asked for.
std::vector<const LoadEnd*> loads_with(Course course, const Evidence& e) {
  std::vector<const LoadEnd*> found;
  if (e.report.contains("steady")) return found;
  const Json& loads = e.report["results"]["loads"];
  for (std::size_t i = 0; i < e.facts.loads.size() && i < loads.size(); ++i) {
    if (e.facts.loads[i].made && course_of(bandwidth_of(loads[i])) == course)
      found.push_back(&e.facts.loads[i]);
  }
  return found;
}

std::string names_of(const std::vector<const LoadEnd*>& loads) {
  std::vector<std::string> names;
  for (const LoadEnd* const load : loads) names.push_back(load->name);
  return first_of_them(names);
}

void not_steady(const Evidence& e) {
  never_steady(e);
  if (!e.measured()) return;
  const std::vector<const LoadEnd*> drifting = loads_with(Course::drifting, e);
  if (drifting.empty()) return;
  e.say("the bandwidth of " + names_of(drifting) +
            " still changes: over five rounds it is outside 20 % of range or 10 % of slope "
            "(SNIA PTS), so that a longer run gives other figures",
        Evidence::longer(drifting, {}, {"precondition"}));
}

void warm_up_visible(const Evidence& e) {
  const std::vector<const LoadEnd*> warming_up = loads_with(Course::warming_up, e);
  if (warming_up.empty()) return;
  e.say("the first fifth of " + names_of(warming_up) +
            " has another bandwidth than the rest, which is steady: both are in the figures",
        Evidence::keys_of(warming_up, {"ramp_time"}));
}

/// Limits that were given and that this run could not come to.
void out_of_reach(const Evidence& e) {
  for (const auto& [text, look_at] : e.facts.out_of_reach) e.say(text, look_at);
  const Json* const correction = find_group(e.report["statistics"], "error correction");
  const Json* const windows = correction == nullptr ? nullptr : find_value(*correction, "windows");
  if (windows != nullptr && (*windows)["value"] == 0)
    e.say("the ECC policy has not classified the load: the host has given fewer commands than its window has",
          "firmware.ecc.window");
  const Json* const voltage = find_group(e.report["statistics"], "pass voltage");
  if (voltage == nullptr || find_value(*voltage, "lowered") == nullptr) return;
  if (number_in(*voltage, "lowered") + number_in(*voltage, "raised") > 0) return;
  if (e.facts.simulated >= e.facts.pass_voltage_interval) return;
  e.say(fmt::format(
            "no block was read at a lower pass voltage: that may happen {} after its first reads, and {} "
            "were simulated",
            time_text(e.facts.pass_voltage_interval * 1e12), time_text(e.facts.simulated * 1e12)),
        "firmware.pass_voltage.interval");
}

/// A resource that limits the run at a value that was not chosen.
void default_matters(const Evidence& e) {
  const auto& statistics = e.report["statistics"];
  for (const Utilisation& use : working_utilisations(statistics)) {
    if (use.mean() < k_saturated) continue;
    const std::optional<Resource> resource = find_resource(use.label, statistics);
    if (!resource) continue;
    if (std::any_of(resource->keys.begin(), resource->keys.end(), e.facts.changed)) continue;
    e.say(fmt::format("{}: {} busy, and what it can do is a default of the emulator", resource->full_name(),
                      share_text(use.mean())),
          resource->keys.front());
  }
}

/// Figures that targets ask for.
enum class Figure : std::uint8_t { amplification, cliff, rate, latency };

Figure figure_of(std::string_view metric) {
  if (metric.starts_with("write_amplification") || metric.starts_with("lifetime."))
    return Figure::amplification;
  if (metric.starts_with("cliff.")) return Figure::cliff;
  return metric.ends_with("iops") || metric.ends_with("bandwidth") ? Figure::rate : Figure::latency;
}

/// What a rule judges by.
enum class Judges : std::uint8_t {
  commands,  ///< that were measured
  drive,     ///< its statistics, which untimed runs have, too
  loads      ///< how they ended, whether anything was measured or not
};

struct AdviserRule {
  std::string_view name;
  std::string sentence;  ///< speaks when
  void (*speak)(const Evidence& e);
  Judges judges;
  std::vector<Figure> concerns;  ///< of a target that is missed, this may be why
};

/// In the order in which they speak: by how much of the run they put in doubt.
const std::vector<AdviserRule>& rules() {
  static const std::vector<AdviserRule> all = {
      {"not-measured",
       "a load ended before the ramps of all loads were over, or they take up the whole run",
       not_measured,
       Judges::loads,
       {Figure::rate, Figure::latency}},
      {"falls-behind",
       fmt::format("an open-loop load's last request was issued {} and {} of the run late",
                   time_text(static_cast<double>(k_least_lag)), percent(k_share_of_lag)),
       falls_behind,
       Judges::commands,
       {Figure::rate, Figure::latency}},
      {"ended-by-size",
       "a load ended before its number_ios",
       ended_by_size,
       Judges::loads,
       {Figure::cliff, Figure::rate}},
      {"unwritten-reads",
       percent(k_share_unwritten) + " or more of what was read was not there (never written, or trimmed)",
       unwritten_reads,
       Judges::drive,
       {}},
      {"pslc-worn-out",
       percent(k_share_of_pslc_lost) + " of the static blocks in SLC mode, or more, have failed",
       pslc_worn_out,
       Judges::drive,
       {Figure::cliff}},
      {"buffer-holds-load",
       fmt::format("all that was written fits into the write buffer or cache, and neither it nor flushes "
                   "waited for flash, for {} of their time or more",
                   percent(k_share_of_waits)),
       buffer_holds_load,
       Judges::commands,
       {}},
      {"not-steady",
       "bandwidth changes over five rounds by more than SNIA PTS allows",
       not_steady,
       Judges::drive,
       {}},
      {"warm-up-visible",
       "the first fifth of a load differs from the rest, which is steady",
       warm_up_visible,
       Judges::commands,
       {}},
      {"steady-of-another-load",
       "the drive is in the steady state of other writes (state: steady)",
       steady_of_another_load,
       Judges::drive,
       {Figure::amplification}},
      {"rested-drive",
       fmt::format("blocks that collection had freed before the load took {} or more of what was programmed",
                   percent(k_share_found_free)),
       rested_drive,
       Judges::commands,
       {Figure::amplification}},
      {"short-for-amplification",
       fmt::format("less than {} of the spare flash was programmed with what was written",
                   percent(k_turnovers)),
       short_for_amplification,
       Judges::drive,
       {Figure::amplification}},
      {"reads-not-cached",
       fmt::format("{} of what reads might have brought into the cache, or more, found no room there",
                   percent(k_share_not_copied)),
       reads_not_cached,
       Judges::commands,
       {}},
      {"out-of-reach",
       "a limit of refresh, of the window of an ECC policy or of the interval of pass voltages is one that "
       "this run cannot come to",
       out_of_reach,
       Judges::drive,
       {}},
      {"few-blocks",
       fmt::format("a parallel unit has fewer than {} blocks of spare flash", k_blocks_of_spare),
       few_blocks,
       Judges::drive,
       {Figure::amplification}},
      {"no-background",
       "collection in the background is asked for, and each parallel unit has too few spare blocks for it",
       no_background,
       Judges::drive,
       {}},
      {"beyond-queue",
       "a closed-loop load keeps more outstanding than a host queue holds",
       beyond_queue,
       Judges::commands,
       {Figure::rate}},
      {"turns-unused",
       "queues have weights or bursts, and no command waited for the turn of its queue",
       turns_unused,
       Judges::commands,
       {Figure::rate, Figure::latency}},
      {"part-of-the-time",
       fmt::format("a load took less than {} of the time that its rates count over", percent(k_share_active)),
       part_of_the_time,
       Judges::commands,
       {Figure::rate}},
      {"few-for-tail",
       fmt::format("fewer than {} commands of an operation, whose p99.9 is the slowest one, or too few for a "
                   "target's percentile",
                   k_commands_of_tail),
       few_for_tail,
       Judges::commands,
       {Figure::latency}},
      {"default-matters",
       fmt::format("a resource is busy {} of the time or more, and its speed is a default",
                   percent(k_saturated)),
       default_matters,
       Judges::commands,
       {}}};
  return all;
}

bool may_speak(const AdviserRule& rule, const Evidence& e) {
  switch (rule.judges) {
    case Judges::loads:
      return true;
    case Judges::drive:
      return e.measured() || !e.facts.timed;
    case Judges::commands:
      return e.measured();
  }
  return false;
}

/// Whether this may be why one of `targets` (those of report.json) is missed.
bool concerns_missed_target(const Advice& advice, const Json& targets) {
  const auto rule = std::find_if(rules().begin(), rules().end(),
                                 [&](const AdviserRule& one) { return one.name == advice.name; });
  return std::any_of(targets.begin(), targets.end(), [&](const Json& target) {
    const Figure figure = figure_of(target["metric"].get_ref<const std::string&>());
    return !target["met"].get<bool>() &&
           std::find(rule->concerns.begin(), rule->concerns.end(), figure) != rule->concerns.end();
  });
}

}  // namespace

std::vector<std::pair<std::string, std::string>> adviser_rules() {
  std::vector<std::pair<std::string, std::string>> named;
  for (const AdviserRule& rule : rules()) named.emplace_back(rule.name, rule.sentence);
  return named;
}

std::vector<Advice> advise(const Json& report, const AdviserFacts& facts,
                           const std::vector<std::string>& silenced) {
  std::vector<Advice> advice;
  for (const AdviserRule& rule : rules()) {
    const Evidence evidence{report, facts, advice, rule.name};
    const bool silent = std::find(silenced.begin(), silenced.end(), rule.name) != silenced.end();
    if (!silent && may_speak(rule, evidence)) rule.speak(evidence);
  }
  std::stable_partition(advice.begin(), advice.end(), [&](const Advice& one) {
    return concerns_missed_target(one, report.value("targets", Json::array()));
  });
  return advice;
}

bool leaves_lifetime_open(const std::string& rule) {
  return rule == "short-for-amplification" || rule == "buffer-holds-load" || rule == "rested-drive";
}

}  // namespace tlmssd
