#include "testbench/scoreboard/contents.h"

#include <algorithm>
#include <cmath>

#include "models/base/content.h"
#include "models/base/mixing.h"
#include "models/base/random.h"

namespace tlmssd {

const ParameterTable<ContentsConfig>& ContentsConfig::parameters() {
  static const auto table =
      ParameterTable<ContentsConfig>{}
          .share("duplicates", &ContentsConfig::duplicates, {0, 1},
                 "share of the written mapping pages that hold one of the pool's contents; all others hold "
                 "data that there are once")
          .shapes_state()
          .integer("pool", &ContentsConfig::pool, {1, k_shared_contents}, "contents in the pool")
          .shapes_state()
          .real("theta", &ContentsConfig::theta, {0, 10},
                "how much their popularity differs: that of the n-th goes with n to the power of minus "
                "theta (Zipf's law); 0: not at all")
          .shapes_state();
  return table;
}

Contents::Contents(const ContentsConfig& config) : key_(RandomStream(config.seed, "contents")()) {
  double sum = 0;
  for (std::uint32_t n = 1; n <= config.pool; ++n) upto_.push_back(sum += std::pow(n, -config.theta));
  for (double& upto : upto_) upto *= config.duplicates / sum;
}

std::uint32_t Contents::draw(std::uint64_t unit, std::uint16_t sequence) const {
  const std::uint64_t bits = mixed(key_ ^ mixed((unit << 16U | sequence) + k_golden));
  const double chance = static_cast<double>(bits >> 11U) * 0x1.0p-53;
  if (chance >= upto_.back()) return 0;
  return 1 + static_cast<std::uint32_t>(std::upper_bound(upto_.begin(), upto_.end(), chance) - upto_.begin());
}

double Contents::probability(std::uint32_t content) const {
  return upto_[content - 1] - (content > 1 ? upto_[content - 2] : 0);
}

}  // namespace tlmssd
