// What the findings of a report say.
#pragma once

#include <catch2/catch.hpp>
#include <string>

#include "testbench/tests/program/report.h"

namespace tlmssd::program_tests {

/// The first finding whose text begins so; empty: none does.
inline Json finding(const Json& report, const std::string& beginning) {
  for (const Json& one : report["findings"])
    if (one["text"].get<std::string>().starts_with(beginning)) return one;
  return Json::object();
}

/// Cause or look_at of that one; empty: none begins so.
inline std::string told(const Json& report, const std::string& beginning, const char* what = "cause") {
  return finding(report, beginning).value(what, "");
}

/// How many times the rate it says that there may be at most.
inline double most_times(const Json& finding) {
  const std::string text = finding["text"];
  const std::string at_most = "at most ";
  REQUIRE(text.find(at_most) != std::string::npos);
  return std::stod(text.substr(text.find(at_most) + at_most.size()));
}

}  // namespace tlmssd::program_tests
