// What controller and channel have queues of: operations on their way, with what is noted of them.
#pragma once

#include "models/base/intrusive_queue.h"
#include "models/tlm/transport.h"

namespace tlmssd {

using FlashJob = FlashExtension;
using JobQueue = IntrusiveQueue<FlashJob>;

}  // namespace tlmssd
