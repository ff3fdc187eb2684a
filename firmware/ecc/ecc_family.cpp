// All ECC selection policies, one line each.
#include "firmware/ecc/aoa.h"
#include "firmware/ecc/conventional.h"
#include "firmware/ecc/fixed.h"
#include "firmware/ecc/retry_only.h"
#include "firmware/make_policy.h"

namespace tlmssd::firmware {

const EccFamily& ecc_family() {
  static const auto family =
      EccFamily{}.with<FixedEcc>().with<ConventionalEcc>().with<AoaEcc>().with<RetryOnlyEcc>();
  return family;
}

std::vector<PolicyInfo> ecc_policies() {
  return with_none(ecc_family(), "no error correction: nothing is decoded and nothing fails");
}

}  // namespace tlmssd::firmware
