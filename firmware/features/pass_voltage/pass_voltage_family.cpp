// The pass-voltage policies there are.
#include "firmware/features/pass_voltage/tuned.h"

namespace tlmssd::firmware {

PassVoltageFamily& pass_voltage_family() {
  static auto family = PassVoltageFamily{}.with<TunedPassVoltage>();
  return family;
}

}  // namespace tlmssd::firmware
