// What firmware has to know of the drive it runs on: the flash array, the unit of programming, and
// the capacity offered.
#pragma once

#include <cstdint>

#include "models/base/geometry.h"
#include "models/base/types.h"

namespace tlmssd::firmware {

struct DriveShape {
  Geometry geometry;
  std::uint32_t program_unit =
      1;  ///< pages that must be programmed together: 1, a word line, or a whole block
  std::uint32_t slc_pages =
      0;                ///< pages of a block in SLC mode, programmed one by one; 0: the part has no such mode
  double slc_wear = 1;  ///< cycles in native mode that one in SLC mode wears a block like
  bool multi_plane_allowed = true;  ///< the part can operate all planes of a die together
  bool multi_plane_reads = false;   ///< reads of the host are made multi-plane reads where they can
  bool same_blocks = false;         ///< and only of blocks of the same number in every plane
  std::uint32_t lba_bytes = 512;    ///< 512 or 4096
  Bytes mapping_page_bytes =
      4096;  ///< divides the page, multiple of the logical block (the value of firmware.mapping.unit)
  std::uint64_t logical_blocks = 0;   ///< capacity offered to the host, in logical blocks
  std::uint32_t frames_per_unit = 1;  ///< ECC frames of a mapping page
  Bytes scm_bytes = 0;                ///< storage-class memory beside the DRAM; 0: none
};

}  // namespace tlmssd::firmware
