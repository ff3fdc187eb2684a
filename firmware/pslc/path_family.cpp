// The data paths there are.
#include "firmware/pslc/all.h"
#include "firmware/pslc/cold_bypass.h"
#include "firmware/pslc/hyflex.h"
#include "firmware/pslc/lru_count.h"
#include "firmware/pslc/pin_small.h"
#include "firmware/pslc/request_size.h"
#include "models/base/make_policy.h"

namespace tlmssd::firmware {

PathFamily& path_family() {
  static auto family = PathFamily{}
                           .with<AllToSlc>()
                           .with<ColdBypass>()
                           .with<RequestSize>()
                           .with<LruCount>()
                           .with<Hyflex>()
                           .with<PinSmall>();
  return family;
}

std::vector<PolicyInfo> data_paths() {
  return with_none(path_family(), "no block is used in SLC mode");
}

}  // namespace tlmssd::firmware
