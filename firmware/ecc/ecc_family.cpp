// All ECC selection policies, one line each.
#include "firmware/base/make_policy.h"
#include "firmware/ecc/aoa.h"
#include "firmware/ecc/conventional.h"
#include "firmware/ecc/fixed.h"
#include "firmware/ecc/retry_only.h"

namespace tlmssd::firmware {

EccFamily& ecc_family() {
  static auto family =
      EccFamily{}.with<FixedEcc>().with<ConventionalEcc>().with<AoaEcc>().with<RetryOnlyEcc>();
  return family;
}

std::vector<PolicyInfo> ecc_policies() {
  return with_none(ecc_family(), "no error correction: nothing is decoded and nothing fails");
}

}  // namespace tlmssd::firmware
