// Built twice, with another TWIN: a class of the same name with parameters of its own.
#include "models/nand/timing/timing_model.h"
#include "platform/plugins/plugin.h"

class Twin final : public tlmssd::TimingModel {
 public:
  static constexpr std::string_view k_name = "twin-" TWIN;
  static constexpr std::string_view k_summary = "a sense takes as long as it is told";
  struct Config {
    tlmssd::Picoseconds sense = 10'000'000;
    static const tlmssd::ParameterTable<Config>& parameters() {
      static const auto table = tlmssd::ParameterTable<Config>{}.time("sense_" TWIN, &Config::sense,
                                                                      {1, 1'000'000'000}, "of a page");
      return table;
    }
  };
  Twin(const Config& config, const tlmssd::NandPart& part) : config_(config), part_(part) {}
  [[nodiscard]] tlmssd::ArrayAnswer answer(const tlmssd::ArrayOperation& op) const override {
    if (op.command == tlmssd::ArrayCommand::sense) return {.duration = config_.sense};
    return {.duration = tlmssd::data_sheet_latency(part_, op)};
  }

 private:
  Config config_;
  const tlmssd::NandPart& part_;
};

TLMSSD_PLUGIN("twin-" TWIN, "1.0") {
  registrar.add<Twin>(tlmssd::timing_models());
}
