// The pacing policies there are.
#include "firmware/base/make_policy.h"
#include "firmware/features/pacing/credit.h"
#include "firmware/features/pacing/proportional.h"

namespace tlmssd::firmware {

PacingFamily& pacing_family() {
  static auto family = PacingFamily{}.with<ProportionalPacing>().with<CreditPacing>();
  return family;
}

std::vector<PolicyInfo> pacing_policies() {
  return with_none(pacing_family(), "writes go on at full speed until no block is free");
}

}  // namespace tlmssd::firmware
