#include "testbench/age.h"

namespace tlmssd {

const ParameterTable<AgeConfig>& AgeConfig::parameters() {
  using C = AgeConfig;
  constexpr double k_century = 100 * 365.0 * 86'400;
  static const auto table =
      ParameterTable<C>{}
          .integer("cycles", &C::cycles, {0, 1'000'000},
                   "program/erase cycles that every block has been through before preconditioning")
          .duration("retention", &C::retention, {0, k_century},
                    "time that the preconditioned drive rests before the load")
          .temperature("temperature", &C::temperature, {-40, 150}, "temperature at which it rests")
          .flag("powered", &C::powered, "the firmware looks after the data while it rests (firmware.refresh)")
          .integer("reads", &C::reads, {0, 100'000'000},
                   "reads of every page that holds data, after preconditioning");
  return table;
}

}  // namespace tlmssd
