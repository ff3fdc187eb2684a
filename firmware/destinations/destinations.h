// The destination of what the write buffer sends out, as the scenario has it.
#pragma once

#include <memory>

#include "firmware/buffer/destination.h"

namespace tlmssd::firmware {

class GcWorker;
class LogBlocks;

/// `logs` null: the mapping scheme has no log blocks.
std::unique_ptr<Destination> make_destination(Flusher& flusher, GcWorker& gc_worker, LogBlocks* logs);

}  // namespace tlmssd::firmware
