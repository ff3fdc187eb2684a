// The replica policies there are.
#include "firmware/features/replicas/blocked_reads.h"
#include "firmware/features/replicas/drawn_data.h"
#include "firmware/features/replicas/hot_reads.h"

namespace tlmssd::firmware {

ReadHotFamily& replica_family() {
  static auto family = ReadHotFamily{}.with<HotReads>().with<BlockedReads>().with<DrawnData>();
  return family;
}

}  // namespace tlmssd::firmware
