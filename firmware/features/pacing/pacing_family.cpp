// The pacing policies there are.
#include "firmware/features/pacing/credit.h"
#include "firmware/features/pacing/proportional.h"

namespace tlmssd::firmware {

PacingFamily& pacing_family() {
  static auto family = PacingFamily{}.with<ProportionalPacing>().with<CreditPacing>();
  return family;
}

}  // namespace tlmssd::firmware
