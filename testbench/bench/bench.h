// The convention of the bench programs (README.md beside this file): cases with names, one case per
// process, one line of JSON as its result. What a case measures it does within timed(), once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

namespace tlmssd::bench {

struct Result {
  double cost = 0;             ///< of all units: nanoseconds of processor time, or bytes
  double units = 1;            ///< so many
  const char* unit = "item";   ///< what the cost is for: "command", "page", "operation"
  double budget = 0;           ///< of a unit: multiples of E, or bytes; 0: no budget
  const char* measure = "ns";  ///< "ns", or "B": bytes
};

struct Case {
  std::string name;
  std::function<Result()> run;
  std::string work{};        ///< what of the table of budgets it measures; empty: nothing of it
  std::string baseline{};    ///< name of the case this one is compared with, if any
  double growth_budget = 0;  ///< how many times the baseline this case may cost; 0: no budget
};

/// Whether a part of the work will do: instructions are counted, not time.
inline bool short_run = false;
inline std::uint64_t scaled(std::uint64_t units, std::uint64_t part = 50) {
  return short_run ? units / part : units;
}

/// Processor time of `work` in nanoseconds, so that a busy machine counts for less. Its
/// instructions are those that scripts/bench --count counts.
[[gnu::noinline]] inline double timed(const std::function<void()>& work) {
  const auto now = [] {
    timespec at{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &at);
    return static_cast<double>(at.tv_sec) * 1e9 + static_cast<double>(at.tv_nsec);
  };
  const double start = now();
  work();
  return now() - start;
}

/// Whether it belongs to the table of budgets, or a case of that table is compared with it.
inline bool of_budgets(const Case& one, const std::vector<Case>& cases) {
  const auto compared = [&one](const Case& other) {
    return !other.work.empty() && other.baseline == one.name;
  };
  return !one.work.empty() || std::any_of(cases.begin(), cases.end(), compared);
}

/// `--list` prints the names of the cases, `--budgets` those that the table of budgets needs; a
/// name runs that case and prints its result as one line of JSON.
inline int run_cases(int argc, char* argv[], const std::vector<Case>& cases) {
  const auto asked = [&](const char* what) { return argc == 2 && std::strcmp(argv[1], what) == 0; };
  if (asked("--list") || asked("--budgets")) {
    for (const Case& each : cases) {
      if (asked("--list") || of_budgets(each, cases)) std::printf("%s\n", each.name.c_str());
    }
    return 0;
  }
  short_run = argc == 3 && std::strcmp(argv[2], "--short") == 0;
  for (const Case& each : cases) {
    if (argc != (short_run ? 3 : 2) || each.name != argv[1]) continue;
    const Result result = each.run();
    std::printf(R"({"name": "%s", "cost": %.1f, "units": %.0f, "unit": "%s", "measure": "%s", "budget": %g, )"
                R"("work": "%s", "baseline": "%s", "growth_budget": %g})"
                "\n",
                each.name.c_str(), result.cost, result.units, result.unit, result.measure, result.budget,
                each.work.c_str(), each.baseline.c_str(), each.growth_budget);
    return 0;
  }
  std::fprintf(stderr, "usage: %s --list | --budgets | <case> [--short]\n", argv[0]);
  return 2;
}

}  // namespace tlmssd::bench
