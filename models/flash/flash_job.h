// What controller and channel have queues of: operations on their way, with what is noted of them.
#pragma once

#include <array>

#include "models/base/busy_cause.h"
#include "models/base/intrusive_queue.h"
#include "models/tlm/transport.h"

namespace tlmssd {

using FlashJob = FlashExtension;
using JobQueue = IntrusiveQueue<FlashJob>;

/// Busy times of a die by cause, and behind them by blocker. Few are ever above zero; `known` says
/// which may be.
inline constexpr std::size_t k_busy_times = k_busy_causes + k_die_blockers;
using DieTimes = std::array<Picoseconds, k_busy_times>;
static_assert(k_busy_times <= 32);

/// The busy times of a die at one instant. Pooled: only an operation that waits, and has a ledger,
/// needs it.
struct BusyBefore {
  BusyBefore* next = nullptr;
  std::uint32_t known = 0;  // a bit for each; the others were zero, and are not set
  DieTimes times;
};

}  // namespace tlmssd
