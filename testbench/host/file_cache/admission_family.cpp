// The admission policies there are.
#include "testbench/host/file_cache/all.h"
#include "testbench/host/file_cache/cache_sifter.h"
#include "testbench/host/file_cache/dfcache.h"
#include "testbench/host/file_cache/file_classes.h"
#include "testbench/host/file_cache/none.h"

namespace tlmssd {

AdmissionFamily& admission_family() {
  static auto family = AdmissionFamily{}
                           .with<AllFiles>()
                           .with<NoFiles>()
                           .with<DfCache>()
                           .with<CacheSifter>()
                           .with<FileClasses>();
  return family;
}

}  // namespace tlmssd
