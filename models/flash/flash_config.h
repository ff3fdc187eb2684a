// How the drive's flash back end is laid out and driven (scenario: ssd.flash). The part itself is a NandPart.
#pragma once

#include <string>

#include "models/common/parameters.h"

namespace tlmssd {

struct FlashConfig {
  std::uint32_t channels = 4;
  std::uint32_t ways = 2;
  std::uint32_t dies_per_way = 1;
  Hertz bus = 400'000'000;
  bool cache_operations = false;
  std::string suspend = "none";

  static const ParameterTable<FlashConfig>& parameters();

  [[nodiscard]] BytesPerSecond bus_rate() const { return bus; }  // 8 bits wide: a byte per transfer
  [[nodiscard]] bool suspends_programs() const { return suspend == "program" || suspend == "both"; }
  [[nodiscard]] bool suspends_erases() const { return suspend == "erase" || suspend == "both"; }
};

}  // namespace tlmssd
