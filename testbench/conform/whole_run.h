// Whole drives with a policy of any family: what every one of them must bear, whatever it decides.
#pragma once

#include <string>
#include <vector>

#include "testbench/conform/conformance.h"

namespace tlmssd {

/// The scenario of the drives. `foreign`: with a firmware that is not the program's own, nothing of
/// which is set.
std::string conform_drive(bool foreign);

struct WholeRunOptions {
  std::string program;                ///< the program to run
  std::vector<std::string> plugins;   ///< libraries it is to load
  std::vector<std::string> settings;  ///< --set of every run: the policy under test, a part, ...
  /// Another firmware than the program's own, which is under test: nothing is set of the program's
  /// own, and what only a whole FTL can get wrong is looked for, too.
  std::string foreign = {};
};

/// Small drives under random writes and reads, to the end of life, restored from a snapshot, timed
/// and untimed; every read is checked against what was written. A process for each run, because
/// SystemC elaborates once in a process.
Conformance conform_whole_runs(const WholeRunOptions& options);

}  // namespace tlmssd
