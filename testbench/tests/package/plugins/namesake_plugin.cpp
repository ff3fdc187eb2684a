// A class that has the name of one of the program's.
#include <stdexcept>

#include "firmware/victims/victim_policy.h"
#include "platform/plugins/plugin.h"

namespace tlmssd::firmware {

class GreedyVictims final : public VictimPolicy {
 public:
  static constexpr std::string_view k_name = "namesake";
  static constexpr std::string_view k_summary = "says that it is asked";
  using Config = NoParameters;
  GreedyVictims(const Config& /*config*/, const VictimContext& /*context*/) {}
  void insert(std::uint32_t /*pu*/, BlockNumber /*block*/, std::uint32_t /*valid*/) override {
    throw std::runtime_error("this is the namesake");
  }
  void invalidated(std::uint32_t /*pu*/, BlockNumber /*block*/, std::uint32_t /*valid*/) override {}
  void remove(std::uint32_t /*pu*/, BlockNumber /*block*/, std::uint32_t /*valid*/) override {}
  BlockNumber select(std::uint32_t /*pu*/) override { return k_no_block; }
  void archive(Archive& /*archive*/) override {}
};

}  // namespace tlmssd::firmware

TLMSSD_PLUGIN("namesake", "1.0") {
  registrar.add<tlmssd::firmware::GreedyVictims>(tlmssd::firmware::victim_family());
}
