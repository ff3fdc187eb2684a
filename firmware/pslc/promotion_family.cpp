// The promotion policies there are.
#include "firmware/make_policy.h"
#include "firmware/pslc/lru_promotion.h"

namespace tlmssd::firmware {

const ReadHotFamily& promotion_family() {
  static const auto family = ReadHotFamily{}.with<LruPromotion>();
  return family;
}

std::vector<PolicyInfo> promotion_policies() {
  return with_none(promotion_family(), "data stay where they are, however often they are read");
}

}  // namespace tlmssd::firmware
