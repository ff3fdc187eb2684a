// The placement policies there are.
#include "firmware/base/make_policy.h"
#include "firmware/features/placement/little_worn.h"

namespace tlmssd::firmware {

PlacementFamily& placement_family() {
  static auto family = PlacementFamily{}.with<LittleWornPlacement>();
  return family;
}

std::vector<PolicyInfo> placement_policies() {
  return with_none(placement_family(), "data moved by refresh go where all moved data go");
}

}  // namespace tlmssd::firmware
