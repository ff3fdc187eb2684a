#include "testbench/report/advice/adviser.h"

#include <algorithm>
#include <fmt/format.h>

#include "models/base/quantity_text.h"
#include "testbench/report/advice/adviser_rules.h"

namespace tlmssd {
namespace {

using namespace advice;

std::string percent(double share) {
  return fmt::format("{:.0f} %", share * 100);
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
       fmt::format(
           "{} of what reads might have brought into the cache, or more, and {} of all that they looked "
           "up, found no room there",
           percent(k_share_not_copied), percent(k_share_of_reads)),
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
