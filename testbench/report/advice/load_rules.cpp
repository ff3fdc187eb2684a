#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>
#include <utility>

#include "models/base/quantity_text.h"
#include "models/base/suggest.h"
#include "testbench/report/advice/adviser_rules.h"
#include "testbench/report/shown_results.h"
#include "testbench/report/statistics_view.h"
#include "testbench/report/steadiness.h"

namespace tlmssd::advice {
namespace {

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

}  // namespace

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

/// In open loop the wait for room in the queue is in the latencies. Jobs whose loads have queues of
/// their own are told once.
void beyond_queue(const Evidence& e) {
  if (!e.facts.timed) return;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<const LoadEnd*>> queues;  // by group
  for (const LoadEnd& load : e.facts.loads)
    if (load.depth > 0) queues[{load.group, load.queue}].push_back(&load);
  std::set<std::string> told;
  for (const auto& [place, loads] : queues) {
    std::uint64_t asked = 0;
    std::uint64_t outstanding = 0;  // what the few requests of a short load leave of that
    std::vector<std::string> names;
    for (const LoadEnd* const load : loads) {
      asked += load->depth;
      outstanding += std::min<std::uint64_t>(load->depth, load->issued);
      names.push_back(load->name);
    }
    if (outstanding <= e.facts.queue_depth || !told.insert(loads.front()->job).second) continue;
    const bool one = loads.size() == 1;
    e.say(fmt::format("{} {} {} requests outstanding{}, and {} queue holds {}: the others wait "
                      "in the host, and that wait is not in {} latencies",
                      first_of_them(names), one ? "keeps" : "keep", asked, one ? "" : " together",
                      one ? "its" : "their", e.facts.queue_depth, one ? "its" : "their"),
          Evidence::keys_of(loads, {"iodepth", "queue_depth", "numjobs"}, {e.facts.key_of_queue_depth}));
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

namespace {

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

}  // namespace

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

}  // namespace tlmssd::advice
