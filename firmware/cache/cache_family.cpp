// The cache policies there are.
#include "firmware/cache/cflru.h"
#include "firmware/cache/lru.h"
#include "firmware/cache/nv_wb.h"
#include "firmware/cache/read_write.h"
#include "firmware/cache/scm_storage.h"
#include "firmware/cache/write_only.h"
#include "models/base/make_policy.h"

namespace tlmssd::firmware {

CacheFamily& cache_family() {
  static auto family = CacheFamily{}
                           .with<NvWbCache>()
                           .with<WriteOnlyCache>()
                           .with<ReadWriteCache>()
                           .with<ScmStorage>()
                           .with<LruCache>()
                           .with<CflruCache>();
  return family;
}

std::vector<PolicyInfo> cache_policies() {
  return with_none(cache_family(), "no cache: reads from flash, writes through the write buffer");
}

}  // namespace tlmssd::firmware
