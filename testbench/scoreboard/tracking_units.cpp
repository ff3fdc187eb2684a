#include "testbench/scoreboard/tracking_units.h"

#include <stdexcept>

namespace tlmssd {

TrackingUnits::TrackingUnits(std::uint64_t blocks, std::uint32_t per_unit)
    : blocks_(blocks), per_unit_(per_unit) {
  if (per_unit == 0) throw std::invalid_argument("scoreboard: a unit has at least one block");
  if (count() >= k_no_unit)
    throw std::invalid_argument("scoreboard: more units than a logical unit number counts");
}

std::uint16_t TrackingUnits::sequence_of(std::uint64_t lba, Stamp stamp) const {
  if (stamp == k_zeros) return 0;
  const std::uint32_t sequence = (std::uint32_t{stamp} + 65535U - stamp_of_write(lba, 0)) % 65535U;
  return sequence <= k_last_sequence ? static_cast<std::uint16_t>(sequence) : std::uint16_t{0};
}

}  // namespace tlmssd
