#include "firmware/destinations/destinations.h"

#include "firmware/buffer/flusher.h"
#include "firmware/destinations/log_block.h"
#include "firmware/destinations/native.h"
#include "firmware/destinations/slc.h"
#include "firmware/destinations/whole_block.h"

namespace tlmssd::firmware {

std::unique_ptr<Destination> make_destination(Flusher& flusher, GcWorker& gc_worker, LogBlocks* logs) {
  const Core& core = flusher.core();
  if (logs != nullptr) return std::make_unique<LogBlockDestination>(flusher, *logs);
  if (core.places != nullptr) return std::make_unique<WholeBlockDestination>(flusher, gc_worker);
  if (core.pslc) return std::make_unique<SlcDestination>(flusher, gc_worker);
  return std::make_unique<NativeDestination>(flusher, gc_worker);
}

}  // namespace tlmssd::firmware
