// All: every write lands in SLC mode as long as there is room, which is what drives do that have no
// hot/cold separation (Luo et al., Journal of Integration Technology 11(3), 2022, section 2.2).
#pragma once

#include "firmware/pslc/data_path.h"

namespace tlmssd::firmware {

class AllToSlc final : public DataPath {
 public:
  static constexpr std::string_view k_name = "all";
  static constexpr std::string_view k_summary =
      "every write lands in SLC mode while there is room (the drives that Luo et al. 2022 measured)";
  using Config = NoParameters;
  AllToSlc(const Config& /*config*/, const PathContext& /*context*/) {}
  bool bypasses(Lpn /*unit*/, Bytes /*command*/) override { return false; }
  [[nodiscard]] bool splits() const override { return false; }
};

}  // namespace tlmssd::firmware
