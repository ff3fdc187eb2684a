// The pass-voltage policies there are.
#include "firmware/base/make_policy.h"
#include "firmware/features/pass_voltage/tuned.h"

namespace tlmssd::firmware {

PassVoltageFamily& pass_voltage_family() {
  static auto family = PassVoltageFamily{}.with<TunedPassVoltage>();
  return family;
}

std::vector<PolicyInfo> pass_voltage_policies() {
  return with_none(pass_voltage_family(), "every page is read with the nominal voltage");
}

}  // namespace tlmssd::firmware
