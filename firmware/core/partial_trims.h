// Which logical blocks the host has trimmed of mapping pages that hold others still.
//
// A trim of a part of a unit writes nothing: the firmware remembers the sectors. Whatever flash
// holds of them is void and reads as zeros; what the write buffer or a cache holds is newer. A unit
// is here only as long as it holds something else: the last part of it to be trimmed has it lose
// its place like a trim of the whole. Moves leave this alone, as it goes by logical unit.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "firmware/base/layout.h"
#include "models/base/archive.h"

namespace tlmssd::firmware {

class PartialTrims {
 public:
  [[nodiscard]] bool empty() const { return units_.empty(); }
  /// Units of which some sectors are trimmed.
  [[nodiscard]] std::uint64_t size() const { return units_.size(); }
  /// The trimmed sectors of a unit, as a mask.
  [[nodiscard]] std::uint64_t of(Lpn unit) const {
    if (units_.empty()) return 0;
    const auto found = units_.find(unit);
    return found == units_.end() ? 0 : found->second;
  }
  /// These sectors are trimmed, too; returns all that are.
  std::uint64_t add(Lpn unit, std::uint64_t sectors) { return units_[unit] |= sectors; }
  /// The unit has been programmed anew; these sectors of it hold nothing.
  void rewritten(Lpn unit, std::uint64_t sectors) {
    if (units_.empty()) return;
    if (sectors == 0) {
      units_.erase(unit);
    } else {
      units_[unit] = sectors;
    }
  }
  /// Nothing is known of the units from `first` up to `end` any more.
  void forget(std::uint64_t first, std::uint64_t end);
  /// The same of all for which `gone(unit)` says so.
  template <class Gone>
  void forget_if(Gone&& gone) {
    std::erase_if(units_, [&](const auto& one) { return gone(one.first); });
  }
  void archive(Archive& archive, const Layout& layout);

 private:
  std::unordered_map<Lpn, std::uint64_t> units_;  ///< by unit: its trimmed sectors, at least one
};

}  // namespace tlmssd::firmware
