// The convention of the bench programs (README.md beside this file): cases with names, one case per
// process, one line of JSON as its result. A case that wants Google Benchmark's loop uses it
// inside; drive cases time a whole run instead.
#pragma once

#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

namespace tlmssd::bench {

struct Result {
  double ns_per_unit = 0;
  const char* unit = "item";  ///< what the time is for: "command", "page", "operation"
  double budget = 0;          ///< multiples of E that are allowed; 0: no budget
};

struct Case {
  std::string name;
  std::function<Result()> run;
  std::string baseline{};    ///< name of the case this one is compared with, if any
  double growth_budget = 0;  ///< how many times the baseline this case may cost; 0: no budget
};

/// `--list` prints the names of the cases; a name runs that case and prints its result as one line
/// of JSON.
inline int run_cases(int argc, char* argv[], const std::vector<Case>& cases) {
  if (argc == 2 && std::strcmp(argv[1], "--list") == 0) {
    for (const Case& each : cases) std::printf("%s\n", each.name.c_str());
    return 0;
  }
  for (const Case& each : cases) {
    if (argc != 2 || each.name != argv[1]) continue;
    const Result result = each.run();
    std::printf(R"({"name": "%s", "ns_per_unit": %.4f, "unit": "%s", "budget": %g, "baseline": "%s", )"
                R"("growth_budget": %g})"
                "\n",
                each.name.c_str(), result.ns_per_unit, result.unit, result.budget, each.baseline.c_str(),
                each.growth_budget);
    return 0;
  }
  std::fprintf(stderr, "usage: %s --list | <case>\n", argv[0]);
  return 2;
}

}  // namespace tlmssd::bench
