// A model by a name that is taken.
#include "layered_timing.h"
#include "platform/plugins/plugin.h"

class Taken final : public tlmssd::TimingModel {
 public:
  static constexpr std::string_view k_name = "table";
  static constexpr std::string_view k_summary = "taken";
  using Config = tlmssd::NoParameters;
  Taken(const Config& /*config*/, const tlmssd::NandPart& /*part*/) {}
  [[nodiscard]] tlmssd::ArrayAnswer answer(const tlmssd::ArrayOperation& /*op*/) const override { return {}; }
};

TLMSSD_PLUGIN("twice", "1.0") {
  registrar.add<Taken>(tlmssd::timing_models());
}
