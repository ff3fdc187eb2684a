// The refresh policies there are.
#include "firmware/base/make_policy.h"
#include "firmware/features/refresh/limits.h"
#include "firmware/features/refresh/read_regions.h"

namespace tlmssd::firmware {

RefreshFamily& refresh_family() {
  static auto family = RefreshFamily{}.with<RefreshLimits>().with<ReadRegions>();
  return family;
}

std::vector<PolicyInfo> refresh_policies() {
  return with_none(refresh_family(), "data stay where they are until they are collected");
}

}  // namespace tlmssd::firmware
