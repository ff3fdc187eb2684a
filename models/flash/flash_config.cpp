#include "models/flash/flash_config.h"

#include "models/base/input_error.h"
#include "models/nand/part/part.h"

namespace tlmssd {

const ParameterTable<FlashConfig>& FlashConfig::parameters() {
  using C = FlashConfig;
  static const auto table =
      ParameterTable<C>{}
          .integer("channels", &C::channels, {1, 1024},
                   "flash channels: each has a queue and a chip enable per die, and a bus of its own unless "
                   "organisation says otherwise")
          .shapes_state()
          .integer("ways", &C::ways, {1, 1024}, "packages (chip enables) on each channel")
          .shapes_state()
          .integer("dies_per_way", &C::dies_per_way, {1, 64}, "dies (LUNs) in each package")
          .shapes_state()
          .frequency("bus", &C::bus, {1'000'000, 20'000'000'000},
                     "transfers per second on a channel; the bus is 8 bits wide, so 400 MT/s are 400 MB/s")
          .flag("cache_operations", &C::cache_operations,
                "transfer one page while the die's array works on the next, where the part can (cached read "
                "and program)")
          .flag("multi_plane_reads", &C::multi_plane_reads,
                "pages that a read of the host wants from several planes of a die, at the same page number, "
                "are one multi-plane read, where the part can")
          .choice("suspend", &C::suspend, {"none", "program", "erase", "both"},
                  "what may be suspended for reads of the host and of the map pages that its commands wait "
                  "for, writes and trims too, within the limits of the part; needs a scheduling that lets "
                  "reads overtake")
          .choice(
              "organisation", &C::organisation, {"channels", "shared-bus-gang", "shared-control-gang"},
              "what neighbouring channels share: nothing, data and control lines (one phase at a time over "
              "the gang), or control lines only (commands exclude each other, data do not)")
          .choice("read_power", &C::read_power, {"full", "budgeted"},
                  "power that arrays may draw to sense: all they want, or less (and then reads are slower) "
                  "while many dies program or erase at once");
  return table;
}

const ParameterTable<FlashConfig>& FlashConfig::gang_parameters() {
  static const auto table = ParameterTable<FlashConfig>{}.integer(
      "gang", &FlashConfig::gang, {1, 1024},
      "neighbouring channels in a gang; must divide channels; for the organisations with gangs");
  return table;
}

const ParameterTable<FlashConfig>& FlashConfig::power_parameters() {
  static const auto table =
      ParameterTable<FlashConfig>{}
          .integer("budget_dies", &FlashConfig::budget_dies, {1, 1 << 20},
                   "dies that program or erase at once and leave no power for fast reads, no more than the "
                   "drive has; for read_power budgeted")
          .real("slow_read", &FlashConfig::slow_read, {1, 100},
                "how many times longer the array then takes to sense; for read_power budgeted");
  return table;
}

void FlashConfig::check() const {
  const std::uint64_t dies = std::uint64_t{channels} * ways * dies_per_way;
  if (budgets_power() && budget_dies > dies) {
    throw refusal("budget_dies",
                  std::to_string(budget_dies) + " is more than the " + std::to_string(dies) +
                      " dies, so that no read would ever be slow",
                  std::to_string(dies));
  }
  if (!has_gangs() || channels % gang == 0) return;
  std::uint32_t nearest = 1;  // of two equally near the smaller
  const auto distance = [this](std::uint32_t size) { return size > gang ? size - gang : gang - size; };
  for (std::uint32_t size = 2; size <= channels; ++size) {
    if (channels % size == 0 && distance(size) < distance(nearest)) nearest = size;
  }
  throw refusal("gang",
                std::to_string(gang) + " does not divide the " + std::to_string(channels) + " channels",
                std::to_string(nearest));
}

void FlashConfig::check_part(const NandPart& part, bool overtakes) const {
  ErrorList errors;
  if (suspends() && !part.suspend) {
    errors.add(
        refusal("ssd.flash.suspend", suspend + ", but the part " + part.name + " cannot suspend", "none"));
  } else if (suspends() && !overtakes) {
    errors.add(refusal(
        "ssd.flash.suspend",
        suspend + " needs a flash scheduling that lets reads overtake (read-first, write-drain)", "none"));
  }
  if (cache_operations && !part.cache_read && !part.cache_program) {
    errors.add(refusal("ssd.flash.cache_operations",
                       "true, but the part " + part.name + " has neither cached read nor cached program",
                       "false"));
  }
  errors.throw_if_any();
}

}  // namespace tlmssd
