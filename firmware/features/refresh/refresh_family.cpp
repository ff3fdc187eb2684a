// The refresh policies there are.
#include "firmware/features/refresh/limits.h"
#include "firmware/features/refresh/read_regions.h"

namespace tlmssd::firmware {

RefreshFamily& refresh_family() {
  static auto family = RefreshFamily{}.with<RefreshLimits>().with<ReadRegions>();
  return family;
}

}  // namespace tlmssd::firmware
