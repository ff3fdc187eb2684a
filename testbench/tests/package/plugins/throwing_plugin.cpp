// Models that throw, or end the program, at the first sense.
#include <cstdlib>
#include <stdexcept>

#include "models/nand/timing/timing_model.h"
#include "platform/plugins/plugin.h"

namespace {

class ThrowingTiming final : public tlmssd::TimingModel {
 public:
  static constexpr std::string_view k_name = "throwing";
  static constexpr std::string_view k_summary = "throws";
  using Config = tlmssd::NoParameters;
  ThrowingTiming(const Config& /*config*/, const tlmssd::NandPart& part) : part_(part) {}
  [[nodiscard]] tlmssd::ArrayAnswer answer(const tlmssd::ArrayOperation& op) const override {
    if (op.command == tlmssd::ArrayCommand::sense) throw std::runtime_error("no idea how long this takes");
    return {.duration = tlmssd::data_sheet_latency(part_, op)};
  }

 private:
  const tlmssd::NandPart& part_;
};

class LeavingTiming final : public tlmssd::TimingModel {
 public:
  static constexpr std::string_view k_name = "leaving";
  static constexpr std::string_view k_summary = "ends the program";
  using Config = tlmssd::NoParameters;
  LeavingTiming(const Config& /*config*/, const tlmssd::NandPart& part) : part_(part) {}
  [[nodiscard]] tlmssd::ArrayAnswer answer(const tlmssd::ArrayOperation& op) const override {
    if (op.command == tlmssd::ArrayCommand::sense) std::exit(0);
    return {.duration = tlmssd::data_sheet_latency(part_, op)};
  }

 private:
  const tlmssd::NandPart& part_;
};

}  // namespace

TLMSSD_PLUGIN("throwing", "0.3") {
  registrar.add<ThrowingTiming>(tlmssd::timing_models());
  registrar.add<LeavingTiming>(tlmssd::timing_models());
}
