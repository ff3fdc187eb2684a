// The wear-levelling policies there are.
#include "firmware/wear/dynamic.h"
#include "firmware/wear/none.h"
#include "firmware/wear/static.h"

namespace tlmssd::firmware {

const WearFamily& wear_family() {
  static const auto family =
      WearFamily{}.with<NoWearLevelling>().with<DynamicWearLevelling>().with<StaticWearLevelling>();
  return family;
}

}  // namespace tlmssd::firmware
