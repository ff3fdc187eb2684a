// How the drive's flash back end is laid out and driven (scenario: ssd.flash). The part itself is a
// NandPart.
#pragma once

#include <string>

#include "models/base/parameters.h"

namespace tlmssd {

struct NandPart;

struct FlashConfig {
  std::uint32_t channels = 4;
  std::uint32_t ways = 2;
  std::uint32_t dies_per_way = 1;
  Hertz bus = 400'000'000;
  bool cache_operations = false;
  bool multi_plane_reads = true;
  std::string suspend = "none";
  std::string organisation = "channels";
  std::uint32_t gang = 2;  ///< looked at only when organisation is not channels
  std::string read_power = "full";
  std::uint32_t budget_dies = 6;  ///< this and slow_read are looked at only when read_power is budgeted
  double slow_read = 1.6;

  static const ParameterTable<FlashConfig>& parameters();
  /// Keys that play a part only when there are gangs.
  static const ParameterTable<FlashConfig>& gang_parameters();
  /// Keys that play a part only when dies share a power budget.
  static const ParameterTable<FlashConfig>& power_parameters();
  /// Throws InputError when channels do not fall into gangs, or reads would never be slow.
  void check() const;
  /// Throws InputError when the part cannot do what is asked for. `overtakes`: the scheduling lets
  /// reads overtake.
  void check_part(const NandPart& part, bool overtakes) const;

  [[nodiscard]] BytesPerSecond bus_rate() const { return bus; }  // 8 bits wide: a byte per transfer
  [[nodiscard]] bool suspends_programs() const { return suspend == "program" || suspend == "both"; }
  [[nodiscard]] bool suspends_erases() const { return suspend == "erase" || suspend == "both"; }
  [[nodiscard]] bool suspends() const { return suspends_programs() || suspends_erases(); }
  [[nodiscard]] bool budgets_power() const { return read_power == "budgeted"; }
  [[nodiscard]] bool has_gangs() const { return organisation != "channels"; }
  /// The channels of a gang have one data bus.
  [[nodiscard]] bool shares_buses() const { return organisation == "shared-bus-gang"; }
  [[nodiscard]] std::uint32_t buses() const { return shares_buses() ? channels / gang : channels; }
};

}  // namespace tlmssd
