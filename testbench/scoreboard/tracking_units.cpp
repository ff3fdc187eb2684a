#include "testbench/scoreboard/tracking_units.h"

#include <stdexcept>

namespace tlmssd {

TrackingUnits::TrackingUnits(std::uint64_t blocks, std::uint32_t per_unit,
                             std::shared_ptr<const Contents> contents)
    : blocks_(blocks), per_unit_(per_unit), contents_(std::move(contents)) {
  if (per_unit == 0) throw std::invalid_argument("scoreboard: a unit has at least one block");
  if (count() >= k_no_unit)
    throw std::invalid_argument("scoreboard: more units than a logical unit number counts");
}

std::uint16_t TrackingUnits::sequence_of(std::uint64_t lba, Stamp wanted, std::uint16_t latest) const {
  if (wanted == k_zeros) return 0;
  for (std::uint16_t sequence = latest; contents_ && sequence > 0 && latest - sequence < 64; --sequence) {
    if (stamp_of_write(lba, sequence) == wanted) return sequence;
  }
  // Of data that are here alone the stamps count up, beyond those of contents, and begin anew.
  constexpr std::uint32_t k_own = 65535U - k_shared_contents;
  const std::uint64_t unit = unit_of(lba);
  const auto block = static_cast<std::uint32_t>(lba - unit * per_unit_);
  const std::uint32_t first = (wanted + 65534U - block * k_stamp_stride % 65535U) % 65535U + 1;
  if (first <= k_shared_contents) return 0;
  const std::uint32_t sequence = (first + k_own - first_stamp(static_cast<Lpn>(unit), 0)) % k_own;
  if (sequence > latest) return 0;
  return stamp(lba, static_cast<std::uint16_t>(sequence)) == wanted ? static_cast<std::uint16_t>(sequence)
                                                                    : 0;
}

}  // namespace tlmssd
