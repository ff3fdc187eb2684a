#include "models/flash/flash_config.h"

namespace tlmssd {

const ParameterTable<FlashConfig>& FlashConfig::parameters() {
  using C = FlashConfig;
  static const auto table =
      ParameterTable<C>{}
          .integer("channels", &C::channels, {1, 1024}, "flash channels, each with a bus of its own")
          .integer("ways", &C::ways, {1, 1024}, "packages (chip enables) on each channel")
          .integer("dies_per_way", &C::dies_per_way, {1, 64}, "dies (LUNs) in each package")
          .frequency("bus", &C::bus, {1'000'000, 20'000'000'000},
                     "transfers per second on a channel; the bus is 8 bits wide, so 400 MT/s are 400 MB/s")
          .flag("cache_operations", &C::cache_operations,
                "transfer one page while the die's array works on the next, where the part can (cached read "
                "and program)")
          .choice("suspend", &C::suspend, {"none", "program", "erase", "both"},
                  "what may be suspended for reads of the host, within the limits of the part; needs a "
                  "scheduling that lets "
                  "reads overtake");
  return table;
}

}  // namespace tlmssd
