// The conformance kit for victim policies of garbage collection.
#pragma once

#include "firmware/victims/victim_policy.h"
#include "testbench/conform/conformance.h"

namespace tlmssd {

using MakeVictims = std::function<std::unique_ptr<firmware::VictimPolicy>(const firmware::VictimContext&)>;

/// Random inserts, invalidations, removals and choices: only blocks that may be chosen are, all of
/// them in the end, the same ones from the same seed and across a snapshot, parallel units do not
/// disturb each other, and a choice costs little.
Conformance conform_victims(const MakeVictims& make, std::uint64_t seed = 1);

}  // namespace tlmssd
