// Runs of whole drives by the conformance kit: what a program leaves behind is looked at.
#include "testbench/conform/whole_run.h"

#include <catch2/catch.hpp>

using namespace tlmssd;

TEST_CASE("a run that ends well and leaves no report is a failure") {
  const Conformance found = conform_whole_runs({.program = "/bin/true", .plugins = {}, .settings = {}});
  INFO(found.text());
  CHECK_FALSE(found.failed("a drive runs untimed"));
  CHECK(found.failed("the same seed gives the same report to the byte"));
  CHECK(found.failed("a snapshot in the middle changes nothing"));
  CHECK(found.failed("a drive whose blocks go bad and wear out ends read-only, not wrong"));
}
