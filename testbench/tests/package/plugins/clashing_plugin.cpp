// A model whose parameter is a key of its section already, with another meaning.
#include "layered_timing.h"
#include "platform/plugins/plugin.h"

struct ClashingConfig {
  std::int64_t cycle_time = 7;
  static const tlmssd::ParameterTable<ClashingConfig>& parameters() {
    static const auto table = tlmssd::ParameterTable<ClashingConfig>{}.integer(
        "cycle_time", &ClashingConfig::cycle_time, {0, 10}, "nothing that a data sheet knows");
    return table;
  }
};

class Clashing final : public tlmssd::TimingModel {
 public:
  static constexpr std::string_view k_name = "clashing";
  static constexpr std::string_view k_summary = "a key that is taken";
  using Config = ClashingConfig;
  Clashing(const Config& /*config*/, const tlmssd::NandPart& part) : part_(part) {}
  [[nodiscard]] tlmssd::ArrayAnswer answer(const tlmssd::ArrayOperation& op) const override {
    return {.duration = tlmssd::data_sheet_latency(part_, op)};
  }

 private:
  const tlmssd::NandPart& part_;
};

TLMSSD_PLUGIN("clashing", "1.2") {
  registrar.add<Clashing>(tlmssd::timing_models());
}
