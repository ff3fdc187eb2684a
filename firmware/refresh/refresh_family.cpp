// The refresh policies there are.
#include "firmware/refresh/limits.h"

namespace tlmssd::firmware {

const RefreshFamily& refresh_family() {
  static const auto family = RefreshFamily{}.with<RefreshLimits>();
  return family;
}

std::vector<PolicyInfo> refresh_policies() {
  std::vector<PolicyInfo> infos = refresh_family().infos();
  infos.insert(infos.begin(), {"none", "data stay where they are until they are collected", {}});
  return infos;
}

}  // namespace tlmssd::firmware
