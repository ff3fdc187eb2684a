// A catalogue like a drive's, for the tests of the scenario reader: every feature of the catalogue
// is in it.
#pragma once

#include <optional>
#include <string>

#include "platform/scenario/scenario.h"

namespace tlmssd::test {

const Catalogue& test_catalogue();

/// The scenario of the architecture's own example, in the words of the test catalogue.
extern const char* const k_example;

/// Parts in memory: "parts/nand/tlc.yaml" and broken ones.
ReadOptions test_options();

/// Reads `text` as "s.yaml" with the test catalogue.
Scenario read(const std::string& text, const std::vector<std::string>& overrides = {});

}  // namespace tlmssd::test
