// The replica policies there are.
#include "firmware/base/make_policy.h"
#include "firmware/features/replicas/hot_reads.h"

namespace tlmssd::firmware {

ReadHotFamily& replica_family() {
  static auto family = ReadHotFamily{}.with<HotReads>();
  return family;
}

std::vector<PolicyInfo> replica_policies() {
  return with_none(replica_family(), "there is one copy of everything");
}

}  // namespace tlmssd::firmware
