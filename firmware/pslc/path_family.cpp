// The data paths there are.
#include "firmware/make_policy.h"
#include "firmware/pslc/all.h"

namespace tlmssd::firmware {

const PathFamily& path_family() {
  static const auto family = PathFamily{}.with<AllToSlc>();
  return family;
}

std::vector<PolicyInfo> data_paths() {
  return with_none(path_family(), "no block is used in SLC mode");
}

}  // namespace tlmssd::firmware
