// Write-only cache: all writes go to the cache and are moved to flash in LRU order; data read from
// flash are not copied into it, so that reads cannot push out data that will be overwritten. (The
// SCM write cache of Sun et al., IEEE TCAS-I 2014, in its simplest form.)
#pragma once

#include "firmware/cache/nv_wb.h"

namespace tlmssd::firmware {

class WriteOnlyCache final : public NvWbCache {
 public:
  static constexpr std::string_view k_name = "write-only";
  static constexpr std::string_view k_summary =
      "all writes, moved to flash when little room is free; reads are not copied in (Sun et al. 2014)";
  using NvWbCache::NvWbCache;
  bool admits_read(Lpn /*unit*/) override { return false; }
  [[nodiscard]] bool copies_reads() const override { return false; }
};

}  // namespace tlmssd::firmware
