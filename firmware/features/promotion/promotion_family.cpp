// The promotion policies there are.
#include "firmware/base/make_policy.h"
#include "firmware/features/promotion/lru_promotion.h"

namespace tlmssd::firmware {

ReadHotFamily& promotion_family() {
  static auto family = ReadHotFamily{}.with<LruPromotion>();
  return family;
}

std::vector<PolicyInfo> promotion_policies() {
  return with_none(promotion_family(), "data stay where they are, however often they are read");
}

}  // namespace tlmssd::firmware
