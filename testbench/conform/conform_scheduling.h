// What a scheduling policy promises (models/flash/scheduling/scheduler.h), tried out.
#pragma once

#include <functional>
#include <memory>

#include "models/flash/scheduling/scheduler.h"
#include "testbench/conform/conformance.h"

namespace tlmssd {

using MakeScheduler = std::function<std::unique_ptr<Scheduler>()>;

/// That it has no state: the same question has the same answer, in any order and of any instance;
/// and that its queues are those that dies have. `make` is called twice.
Conformance conform_scheduling(const MakeScheduler& make, std::uint64_t seed = 1);

}  // namespace tlmssd
