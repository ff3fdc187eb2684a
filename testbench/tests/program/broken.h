// Runs broken scenarios through the program: exit code 2, one line that names the place and what
// would be right, nothing left behind.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>

#include "testbench/tests/program/program.h"

namespace tlmssd::program_tests {

inline constexpr const char* k_buffer = "  buffer:";  ///< line 11 of the small scenario

struct Broken {
  const char* what;      ///< in the small scenario (or "" to put `by` in place of the whole)
  const char* by;        ///< what stands there instead
  const char* expected;  ///< the complaint, after "tlmssd: "; @ stands for the scenario's path
};

/// The complaint must be exactly this, but for a proposal that `expected` leaves out
/// (refused_test.cpp tries them all); where `expected` ends in "...", it must begin with it.
inline bool matches(const std::string& complaint, const std::string& expected) {
  static const std::string k_proposal = "; nearest valid: ";
  if (!expected.ends_with("...") && expected.find(k_proposal) == std::string::npos)
    return complaint.substr(0, complaint.find(k_proposal)) == expected.substr(0, expected.rfind('\n')) ||
           complaint == expected;
  if (!expected.ends_with("...")) return complaint == expected;
  return complaint.starts_with(expected.substr(0, expected.size() - 3));
}

/// Runs `scenario` (a file in `folder`) and expects it to be refused.
inline void refuse(const Folder& folder, const std::string& scenario, std::string expected,
                   const std::vector<std::string>& more = {}) {
  const std::string out = folder / "results";
  std::vector<std::string> arguments = {"run", scenario, "--out", out};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const auto entries = [&] {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder.path())) names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  };
  const auto before = entries();
  const Outcome outcome = run(folder, arguments);
  expected = replaced_all(replaced_all(expected, "@", scenario), "{folder}", folder.path().string());
  INFO("expected: tlmssd: " << expected << "\nprinted:  " << outcome.err);
  CHECK(outcome.code == 2);
  CHECK(outcome.out.empty());
  CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
  CHECK(matches(outcome.err, "tlmssd: " + expected + (expected.ends_with("...") ? "" : "\n")));
  CHECK(entries() == before);
}

inline void refuse_all(const std::vector<Broken>& table, const std::string& scenario = k_small) {
  const Folder folder;
  for (const Broken& broken : table) {
    const std::string text = *broken.what == 0 ? broken.by : replaced(scenario, broken.what, broken.by);
    refuse(folder, folder.write("s.yaml", text), broken.expected);
  }
}

}  // namespace tlmssd::program_tests
