// Keys and names of scenarios that are called otherwise now. No alias is kept: a scenario that uses
// the old one is refused with the new one.
#pragma once
#include <string_view>

namespace tlmssd {

struct Renamed {
  std::string_view where;  ///< path of the section, or of the key whose value it was; "": top level
  std::string_view old;
  std::string_view now;
};

inline constexpr Renamed k_renamed[] = {
    {"", "converter", "log_structured"},
    {"firmware.buffer", "destage_at", "flush_at"},
    {"firmware.allocation", "programs_per_group", "programs_per_pu"},
    {"firmware.partition", "steer_from", "placement_from"},
    {"firmware.pslc", "direct_buffer", "bypass_buffer"},
    {"firmware.pslc", "direct", "bypass"},
    {"firmware.pslc.when_full", "direct", "bypass"},
    {"firmware.pslc.policy", "cold-direct", "cold-bypass"},
    {"firmware.mapping.scheme", "management-block", "block-mapped"},
};

/// The name of today; empty when `old` was never one of `where`.
[[nodiscard]] constexpr std::string_view renamed(std::string_view where, std::string_view old) {
  for (const Renamed& r : k_renamed) {
    if (r.where == where && r.old == old) return r.now;
  }
  return {};
}

}  // namespace tlmssd
