// What the findings of a report say.
#pragma once

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

}  // namespace tlmssd::program_tests
