// A parameter whose range is wider than what it is read into.
#include "models/nand/timing/timing_model.h"
#include "platform/plugins/plugin.h"

namespace {

class Narrow final : public tlmssd::TimingModel {
 public:
  static constexpr std::string_view k_name = "narrow";
  static constexpr std::string_view k_summary = "never right";
  struct Config {
    std::uint8_t steps = 7;
    static const tlmssd::ParameterTable<Config>& parameters() {
      static const auto table =
          tlmssd::ParameterTable<Config>{}.integer("steps", &Config::steps, {0, 300}, "steps of a pulse");
      return table;
    }
  };
  Narrow(const Config& /*config*/, const tlmssd::NandPart& /*part*/) {}
  [[nodiscard]] tlmssd::ArrayAnswer answer(const tlmssd::ArrayOperation& /*op*/) const override {
    return {.duration = 1};
  }
};

}  // namespace

TLMSSD_PLUGIN("narrow", "1.0") {
  registrar.add<Narrow>(tlmssd::timing_models());
}
