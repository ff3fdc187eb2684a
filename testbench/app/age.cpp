#include "testbench/app/age.h"

#include <fmt/format.h>
#include <vector>

#include "models/base/quantity.h"
#include "models/base/quantity_text.h"
#include "models/nand/reliability/retention_clock.h"

namespace tlmssd {

const ParameterTable<AgeConfig>& AgeConfig::parameters() {
  using C = AgeConfig;
  static const auto table =
      ParameterTable<C>{}
          .integer("cycles", &C::cycles, {0, 1'000'000},
                   "program/erase cycles that every block has been through before preconditioning")
          .shapes_state()
          .duration("retention", &C::retention, {0, C::k_longest},
                    "time that the preconditioned drive rests before the load")
          .shapes_state()
          .temperature("temperature", &C::temperature, {RetentionClock::k_coldest, RetentionClock::k_hottest},
                       "temperature at which it rests")
          .shapes_state()
          .flag("powered", &C::powered, "the firmware looks after the data while it rests (firmware.refresh)")
          .shapes_state()
          .integer("reads", &C::reads, {0, C::k_most_reads},
                   "reads of every page that holds data, after preconditioning")
          .shapes_state();
  return table;
}

std::string age_text(const AgeConfig& age) {
  std::vector<std::string> parts;
  if (age.cycles > 0) parts.push_back(fmt::format("{} cycles", age.cycles));
  if (age.retention > 0) {
    parts.push_back(fmt::format("{} at {}{}", format_value(Kind::duration, Value(age.retention)),
                                format_value(Kind::temperature, Value(age.temperature)),
                                age.powered ? ", in use" : ""));
  }
  if (age.reads > 0) parts.push_back(fmt::format("{} reads of every page", age.reads));
  return list_text(parts);
}

}  // namespace tlmssd
