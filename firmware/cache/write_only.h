// Write-only cache: all writes go to the cache and are moved to flash in LRU order; data read from flash are not copied into it, so
// that reads cannot push out data that will be overwritten. (The SCM write cache of Sun et al., IEEE TCAS-I 2014, in its simplest
// form.)
#pragma once

#include "firmware/cache/nv_wb.h"

namespace tlmssd::firmware {

class WriteOnlyCache final : public LruPolicy {
 public:
  static constexpr std::string_view k_name = "write-only";
  static constexpr std::string_view k_summary =
      "all writes, moved to flash when little room is free; reads are not copied in (Sun et al. 2014)";
  using Config = NvWbConfig;
  WriteOnlyCache(const Config& config, const CacheContext& context)
      : LruPolicy(context, {config.window, config.clean_first, config.complete_first}),
        keep_free_(config.evict_below_free) {}
  bool admits_read(LogicalUnit /*unit*/) override { return false; }
  [[nodiscard]] bool copies_reads() const override { return false; }
  [[nodiscard]] double keep_free() const override { return keep_free_; }

 private:
  double keep_free_;
};

}  // namespace tlmssd::firmware
