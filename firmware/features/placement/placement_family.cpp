// The placement policies there are.
#include "firmware/features/placement/little_worn.h"

namespace tlmssd::firmware {

PlacementFamily& placement_family() {
  static auto family = PlacementFamily{}.with<LittleWornPlacement>();
  return family;
}

}  // namespace tlmssd::firmware
