// The wear-levelling policies there are.
#include "firmware/wear/dynamic.h"
#include "firmware/wear/none.h"
#include "firmware/wear/static.h"

namespace tlmssd::firmware {

WearFamily& wear_family() {
  static auto family =
      WearFamily{}.with<NoWearLevelling>().with<DynamicWearLevelling>().with<StaticWearLevelling>();
  return family;
}

}  // namespace tlmssd::firmware
