// The replica policies there are.
#include "firmware/features/replicas/hot_reads.h"

namespace tlmssd::firmware {

ReadHotFamily& replica_family() {
  static auto family = ReadHotFamily{}.with<HotReads>();
  return family;
}

}  // namespace tlmssd::firmware
