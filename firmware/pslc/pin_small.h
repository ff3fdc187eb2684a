// Pin-small: small writes stay in SLC mode until the room is needed, large ones bypass
// SLC: the dies of the native blocks serve them side by side.
//
// Follows Chen et al., "An empirical study of hybrid SSD with Optane and QLC flash" (IEEE ICCD
// 2020), as Luo et al. 2022 describe it (section 4.2): small files, above all metadata, are what
// users wait for, so they are pinned in the fast medium. Here a small file is a small write; what
// it takes to be small is A. Folding neither begins ahead of need (fold_below) nor in idle time.
#pragma once

#include "firmware/pslc/data_path.h"

namespace tlmssd::firmware {

struct PinSmallConfig {
  Bytes small = 16384;
  static const ParameterTable<PinSmallConfig>& parameters() {
    static const auto table = ParameterTable<PinSmallConfig>{}.bytes(
        "small", &PinSmallConfig::small, {0, Bytes{1} << 30U}, "writes up to this size are pinned");
    return table;
  }
};

class PinSmall final : public DataPath {
 public:
  static constexpr std::string_view k_name = "pin-small";
  static constexpr std::string_view k_summary =
      "small writes stay in SLC mode until the room is needed, large ones bypass SLC (Chen "
      "et al. 2020)";
  using Config = PinSmallConfig;

  PinSmall(const Config& config, const PathContext& /*context*/) : small_(config.small) {}
  bool bypasses(Lpn /*unit*/, Bytes command) override { return command > small_; }
  [[nodiscard]] bool keeps() const override { return true; }

 private:
  Bytes small_;
};

}  // namespace tlmssd::firmware
