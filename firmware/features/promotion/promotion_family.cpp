// The promotion policies there are.
#include "firmware/features/promotion/lru_promotion.h"

namespace tlmssd::firmware {

ReadHotFamily& promotion_family() {
  static auto family = ReadHotFamily{}.with<LruPromotion>();
  return family;
}

}  // namespace tlmssd::firmware
