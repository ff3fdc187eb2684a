// LRU: a plain write-back cache. Every write goes through it and, with copy_waits, every read; room
// is made when none is left, at the expense of the line used longest ago. Reads that do not wait
// find a full cache and make no room. The baseline that other policies are measured against.
#pragma once

#include "firmware/cache/lru_policy.h"

namespace tlmssd::firmware {

class LruCache final : public LruPolicy {
 public:
  static constexpr std::string_view k_name = "lru";
  static constexpr std::string_view k_summary =
      "write-back cache of reads and writes, the line used longest ago goes (baseline)";
  using Config = NoParameters;
  LruCache(const Config& /*config*/, const CacheContext& context) : LruPolicy(context, {}) {}
};

}  // namespace tlmssd::firmware
