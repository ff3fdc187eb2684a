// What a run of the program reports.
#pragma once

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "testbench/tests/program/program.h"

namespace tlmssd::program_tests {

using Json = nlohmann::json;

/// Runs the program, which must go well.
inline Outcome run_ok(const Folder& folder, const std::vector<std::string>& arguments) {
  Outcome outcome = run(folder, arguments);
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  return outcome;
}

/// Runs `scenario`, which must go well, with results in the folder's `name`; returns report.json.
inline Json report_of(const Folder& folder, const std::string& scenario, const std::string& name,
                      const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments = {"run", scenario, "-q", "-o", folder / name};
  arguments.insert(arguments.end(), more.begin(), more.end());
  run_ok(folder, arguments);
  return Json::parse(read_file(folder.path() / name / "report.json"));
}

}  // namespace tlmssd::program_tests
