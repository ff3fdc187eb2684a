// The mapping schemes there are.
#include "firmware/logblocks/bast.h"
#include "firmware/logblocks/fast.h"
#include "firmware/logblocks/superblock.h"
#include "firmware/mapping/block_map.h"
#include "firmware/mapping/dftl.h"
#include "firmware/mapping/page_map.h"

namespace tlmssd::firmware {

MappingFamily& mapping_family() {
  static auto family = MappingFamily{}
                           .with<PageMap>()
                           .with<Dftl>()
                           .with<BlockMap>()
                           .with<Bast>()
                           .with<Fast>()
                           .with<Superblock>();
  return family;
}

}  // namespace tlmssd::firmware
