// All ECC selection policies, one line each.
#include "firmware/ecc/aoa.h"
#include "firmware/ecc/conventional.h"
#include "firmware/ecc/fixed.h"
#include "firmware/ecc/retry_only.h"

namespace tlmssd::firmware {

const EccFamily& ecc_family() {
  static const auto family =
      EccFamily{}.with<FixedEcc>().with<ConventionalEcc>().with<AoaEcc>().with<RetryOnlyEcc>();
  return family;
}

std::vector<PolicyInfo> ecc_policies() {
  std::vector<PolicyInfo> infos = ecc_family().infos();
  infos.insert(infos.begin(),
               PolicyInfo{"none", "no error correction: nothing is decoded and nothing fails", {}});
  return infos;
}

}  // namespace tlmssd::firmware
