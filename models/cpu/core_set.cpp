// The reservation of controller cores, its configuration and its statistics.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "models/base/booked.h"
#include "models/base/input_error.h"
#include "models/cpu/controller_cpu.h"

namespace tlmssd {

const ParameterTable<CpuCyclesConfig>& CpuCyclesConfig::parameters() {
  static const auto table =
      ParameterTable<CpuCyclesConfig>{}
          .integer("command", &CpuCyclesConfig::command, {0, 100'000'000},
                   "cycles to take a host command from the mailbox and decode it (assumption)")
          .integer("translate", &CpuCyclesConfig::translate, {0, 100'000'000},
                   "cycles of one mapping look-up or update (assumption)")
          .integer("buffer", &CpuCyclesConfig::buffer, {0, 100'000'000},
                   "cycles of one write-buffer insertion or look-up (assumption)")
          .integer("flash", &CpuCyclesConfig::flash, {0, 100'000'000},
                   "cycles to build and issue one flash operation (assumption)")
          .integer("complete", &CpuCyclesConfig::complete, {0, 100'000'000},
                   "cycles to finish a host command (assumption)")
          .integer("gc", &CpuCyclesConfig::gc, {0, 100'000'000},
                   "cycles of garbage collection per victim selection and per valid unit moved (assumption)");
  return table;
}

const ParameterTable<CpuAssignmentConfig>& CpuAssignmentConfig::parameters() {
  static const auto table = ParameterTable<CpuAssignmentConfig>{}
                                .integers("command", &CpuAssignmentConfig::command, {0, 255},
                                          "cores that may run this stage; empty: any core")
                                .integers("translate", &CpuAssignmentConfig::translate, {0, 255},
                                          "cores that may run this stage; empty: any core")
                                .integers("buffer", &CpuAssignmentConfig::buffer, {0, 255},
                                          "cores that may run this stage; empty: any core")
                                .integers("flash", &CpuAssignmentConfig::flash, {0, 255},
                                          "cores that may run this stage; empty: any core")
                                .integers("complete", &CpuAssignmentConfig::complete, {0, 255},
                                          "cores that may run this stage; empty: any core")
                                .integers("gc", &CpuAssignmentConfig::gc, {0, 255},
                                          "cores that may run this stage; empty: any core");
  return table;
}

const ParameterTable<CpuConfig>& CpuConfig::parameters() {
  static const auto table =
      ParameterTable<CpuConfig>{}
          .integer("cores", &CpuConfig::cores, {1, 256}, "number of controller cores")
          .frequency("clock", &CpuConfig::clock, {1'000'000, 10'000'000'000}, "clock of the cores")
          .texts("costs", &CpuConfig::costs,
                 "cycles of stages by policy, by entries looked at and by hit or miss, instead of constant "
                 "ones: a list of lines, the first naming the columns (\"stage, policy, cached, entries, "
                 "cycles\"); or the name of a CSV file with those lines, such as tlmssd profile-firmware "
                 "writes")
          .lines_of_file()
          .optional();
  return table;
}

namespace {

struct StageSetting {
  Stage stage;
  std::uint32_t CpuCyclesConfig::*cycles;
  std::vector<std::int64_t> CpuAssignmentConfig::*cores;
};
constexpr StageSetting k_settings[] = {
    {Stage::command, &CpuCyclesConfig::command, &CpuAssignmentConfig::command},
    {Stage::translate, &CpuCyclesConfig::translate, &CpuAssignmentConfig::translate},
    {Stage::buffer, &CpuCyclesConfig::buffer, &CpuAssignmentConfig::buffer},
    {Stage::flash, &CpuCyclesConfig::flash, &CpuAssignmentConfig::flash},
    {Stage::complete, &CpuCyclesConfig::complete, &CpuAssignmentConfig::complete},
    {Stage::gc, &CpuCyclesConfig::gc, &CpuAssignmentConfig::gc},
};
static_assert(std::size(k_settings) == k_stages);

}  // namespace

void CpuConfig::validate() const {
  if (!costs.empty()) static_cast<void>(StageCosts(costs, policies));
  for (const StageSetting& setting : k_settings) {
    for (const std::int64_t core : assignment.*setting.cores) {
      if (core >= 0 && core < cores) continue;
      throw refusal("ssd.cpu.assignment." + std::string(name_of(setting.stage)),
                    "there is no core " + std::to_string(core) + " (ssd.cpu.cores is " +
                        std::to_string(cores) + ", counted from 0)",
                    "[" + std::to_string(core < 0 ? 0 : cores - 1) + "]");
    }
  }
}

CoreSet::CoreSet(const CpuConfig& config)
    : clock_(config.clock),
      cores_(config.cores),
      costs_(config.costs.empty() ? nullptr
                                  : std::make_unique<const StageCosts>(config.costs, config.policies)) {
  config.validate();
  for (const StageSetting& setting : k_settings) {
    StageState& state = stages_[static_cast<std::size_t>(setting.stage)];
    state.cycles = config.cycles.*setting.cycles;
    state.once = cycle_time(state.cycles, clock_);
    for (const std::int64_t core : config.assignment.*setting.cores) {
      state.eligible.push_back(static_cast<std::uint32_t>(core));
    }
    if (state.eligible.empty()) {
      for (std::uint32_t core = 0; core < config.cores; ++core) state.eligible.push_back(core);
    }
    std::sort(state.eligible.begin(), state.eligible.end());
    state.eligible.erase(std::unique(state.eligible.begin(), state.eligible.end()), state.eligible.end());
    const auto same = [&state](const StageState& other) { return other.eligible == state.eligible; };
    state.set =
        static_cast<std::size_t>(std::find_if(stages_.begin(), stages_.end(), same) - stages_.begin());
  }
}

Picoseconds CoreSet::duration(const StageState& state, std::uint32_t times) const {
  return times == 1 ? state.once : cycle_time(state.cycles * times, clock_);
}

/// By the table, and of the work described last; what the table does not say is constant.
Picoseconds CoreSet::duration_by_work(Stage stage, std::uint32_t times) {
  const StageState& state = stages_[static_cast<std::size_t>(stage)];
  const StageWork work = std::exchange(described_[static_cast<std::size_t>(stage)], {});
  const double once = costs_->cycles(stage, work).value_or(static_cast<double>(state.cycles));
  double cycles = once * times;
  if (work.candidates > 0) cycles += costs_->choice(work.candidates).value_or(once) - once;
  // Cycles of a table are means, and have fractions.
  const double whole = std::floor(cycles);
  const double rest = (cycles - whole) * 1e12 / static_cast<double>(clock_);
  return cycle_time(static_cast<std::uint64_t>(whole), clock_) + std::llround(rest);
}

/// The core that is free first; of idle ones the lowest number will do.
std::uint32_t CoreSet::earliest(const StageState& state, Picoseconds now) const {
  std::uint32_t chosen = state.eligible.front();
  for (const std::uint32_t core : state.eligible) {
    if (cores_[core].free < cores_[chosen].free) chosen = core;
    if (cores_[chosen].free <= now) break;
  }
  return chosen;
}

[[gnu::always_inline]] inline CoreSet::Run CoreSet::occupy(std::uint32_t number, Stage stage,
                                                           std::uint32_t times, Picoseconds now) {
  StageState& state = stages_[static_cast<std::size_t>(stage)];
  state.executions += times;
  const Picoseconds time = costs_ ? duration_by_work(stage, times) : duration(state, times);
  if (time == 0) return {now, now};
  Core& core = cores_[number];
  const Picoseconds start = std::max(core.free, now);
  core.free = start + time;
  core.busy += time;
  ++core.runs;
  state.busy += time;
  state.waiting += start - now;
  state.longest_wait = std::max(state.longest_wait, start - now);
  if (observer_ != nullptr) observer_->ran(number, stage, start, core.free);
  return {start, core.free};
}

CoreSet::Run CoreSet::run(Picoseconds now, Stage stage, std::uint32_t times) {
  return occupy(earliest(stages_[static_cast<std::size_t>(stage)], now), stage, times, now);
}

CoreSet::Run CoreSet::run(Picoseconds now, Stage first, Stage second, std::uint32_t times) {
  const std::uint32_t core = earliest(stages_[static_cast<std::size_t>(first)], now);
  const Run begun = occupy(core, first, 1, now);
  const Run ended = occupy(core, second, times, begun.end);
  // A first stage that takes no time does not wait for the core; the second may.
  return {begun.end == begun.start ? ended.start : begun.start, ended.end};
}

void CoreSet::tell_busy(BusySink& sink, Picoseconds now) const {
  Picoseconds sum = 0;
  for (const Core& core : cores_) sum += busy_within(now - since_, core.busy, booked_ahead(core.free, now));
  sink.busy("cores", sum, cores_.size());
}

void CoreSet::report(StatisticsSink& sink, Picoseconds now) const {
  for (std::size_t i = 0; i < cores_.size(); ++i) {
    sink.open("core " + std::to_string(i), "one controller core");
    sink.value("utilisation", share_within(now - since_, cores_[i].busy, booked_ahead(cores_[i].free, now)),
               "", "share of time the core executed stages");
    sink.value("stages", cores_[i].runs, "runs",
               "times that it was taken, each for one execution of a stage or several in a row");
    sink.close();
  }
  for (std::size_t i = 0; i < k_stages; ++i) {
    const StageState& state = stages_[i];
    const double runs = static_cast<double>(std::max<std::uint64_t>(state.executions, 1));
    sink.open("stage " + std::string(name_of(static_cast<Stage>(i))), "one kind of firmware work");
    sink.value("executions", state.executions, "executions",
               "for a command, a mapping page or a flash operation each");
    sink.value("busy", static_cast<double>(state.busy) * 1e-12, "s", "core time spent");
    sink.value("mean wait", static_cast<double>(state.waiting) * 1e-12 / runs, "s",
               "time for which it waited for a core, per execution; those in a row wait once");
    if (costs_) {
      sink.value("mean cycles", static_cast<double>(state.busy) * 1e-12 * static_cast<double>(clock_) / runs,
                 "cycles", "mean cycles of one execution, by the table ssd.cpu.costs");
    }
    sink.value("longest wait", static_cast<double>(state.longest_wait) * 1e-12, "s",
               "longest time it waited for a core");
    sink.close();
  }
}

void CoreSet::archive(Archive& a) {
  std::vector<Picoseconds> free;
  for (const Core& core : cores_) free.push_back(core.free);
  a(free);
  for (std::size_t i = 0; i < std::min(free.size(), cores_.size()); ++i) cores_[i].free = free[i];
}

void CoreSet::reset_statistics(Picoseconds now) {
  since_ = now;
  for (Core& core : cores_) {
    core.busy = booked_ahead(core.free, now);
    core.runs = 0;
  }
  for (StageState& state : stages_) {
    state.executions = 0;
    state.busy = 0;
    state.waiting = 0;
    state.longest_wait = 0;
  }
}

}  // namespace tlmssd
