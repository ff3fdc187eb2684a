#include "firmware/core/partial_trims.h"

#include <algorithm>
#include <vector>

namespace tlmssd::firmware {

void PartialTrims::forget(std::uint64_t first, std::uint64_t end) {
  if (units_.empty()) return;
  if (end - first > units_.size()) {
    forget_if([=](Lpn unit) { return unit >= first && unit < end; });
    return;
  }
  for (std::uint64_t unit = first; unit < end; ++unit) units_.erase(static_cast<Lpn>(unit));
}

void PartialTrims::archive(Archive& a, const Layout& layout) {
  std::vector<Lpn> units;
  units.reserve(units_.size());
  for (const auto& [unit, sectors] : units_) units.push_back(unit);
  std::sort(units.begin(), units.end());
  a(units);
  std::vector<std::uint64_t> sectors(units.size());
  for (std::size_t n = 0; n < units.size() && a.saving(); ++n) sectors[n] = units_.at(units[n]);
  a(sectors);
  if (a.saving()) return;
  units_.clear();
  if (sectors.size() != units.size()) throw ArchiveError("snapshot is damaged: trimmed parts of no units");
  for (std::size_t n = 0; n < units.size(); ++n) {
    if (units[n] >= layout.logical_units || sectors[n] == 0 || (sectors[n] & ~layout.all_sectors()) != 0)
      throw ArchiveError("snapshot is damaged: trimmed parts that no unit has");
    units_[units[n]] = sectors[n];
  }
}

}  // namespace tlmssd::firmware
