// The replica policies there are.
#include "firmware/make_policy.h"
#include "firmware/replicas/hot_reads.h"

namespace tlmssd::firmware {

const ReadHotFamily& replica_family() {
  static const auto family = ReadHotFamily{}.with<HotReads>();
  return family;
}

std::vector<PolicyInfo> replica_policies() {
  return with_none(replica_family(), "there is one copy of everything");
}

}  // namespace tlmssd::firmware
