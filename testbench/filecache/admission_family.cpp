// The admission policies there are.
#include "testbench/filecache/all.h"
#include "testbench/filecache/cache_sifter.h"
#include "testbench/filecache/dfcache.h"
#include "testbench/filecache/none.h"

namespace tlmssd {

const AdmissionFamily& admission_family() {
  static const auto family =
      AdmissionFamily{}.with<AllFiles>().with<NoFiles>().with<DfCache>().with<CacheSifter>();
  return family;
}

}  // namespace tlmssd
