// The list of features: what it refuses.
#include <catch2/catch.hpp>

#include "firmware/core/feature_info.h"
#include "models/base/make_policy.h"

using namespace tlmssd;
using namespace tlmssd::firmware;

namespace {

/// A feature that has data moved for `purpose`.
template <Purpose purpose>
class Mover final : public Feature {
 public:
  static constexpr const char* k_path = purpose == Purpose::refresh ? "firmware.renewal" : "firmware.sorting";
  static constexpr const char* k_doc = "a feature with moves";
  static constexpr const char* k_choice_doc = "whether there are any";
  static constexpr MovePurpose k_moves{.purpose = purpose,
                                       .doc = "data moved by it",
                                       .blocks = "moves",
                                       .blocks_doc = "blocks moved by it",
                                       .parts = nullptr,
                                       .parts_doc = nullptr};
  using Config = NoParameters;
  explicit Mover(const FeatureContext& /*context*/) {}
  [[nodiscard]] Move next_move(std::uint32_t /*pu*/, bool /*parts*/) override { return {}; }
  void archive(Archive& /*archive*/) override {}
};

}  // namespace

TEST_CASE("features: two have data moved for one purpose, and are refused") {
  FeatureFamily family{feature_info<Mover<Purpose::refresh>>()};
  CHECK_NOTHROW(family.add<Mover<Purpose::migration>>("sorter 1.0"));
  CHECK_THROWS_WITH(family.add<Mover<Purpose::refresh>>("renewer 1.0"),
                    "plug-in renewer 1.0: firmware.renewal has data moved as \"refresh\", as "
                    "firmware.renewal does: k_moves needs a purpose of its own");
  CHECK(family.find("firmware.sorting") != nullptr);
}
