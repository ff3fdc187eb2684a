// The mapping schemes there are.
#include "firmware/mapping/dftl.h"
#include "firmware/mapping/management_block.h"
#include "firmware/mapping/page_map.h"

namespace tlmssd::firmware {

const MappingFamily& mapping_family() {
  static const auto family = MappingFamily{}.with<PageMap>().with<Dftl>().with<ManagementBlock>();
  return family;
}

}  // namespace tlmssd::firmware
