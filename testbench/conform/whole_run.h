// Whole drives with a policy of any family: what every one of them must bear, whatever it decides.
#pragma once

#include <string>
#include <vector>

#include "testbench/conform/conformance.h"

namespace tlmssd {

/// The scenario of the drives.
extern const char* const k_conform_drive;

struct WholeRunOptions {
  std::string program;                ///< the program to run
  std::vector<std::string> plugins;   ///< libraries it is to load
  std::vector<std::string> settings;  ///< --set of every run: the policy under test, a part, ...
};

/// Small drives under random writes and reads, to the end of life, restored from a snapshot, timed
/// and untimed; every read is checked against what was written. A process for each run, because
/// SystemC elaborates once in a process.
Conformance conform_whole_runs(const WholeRunOptions& options);

}  // namespace tlmssd
