// Models that throw, end the program or do not come back, when they are made or at the first sense.
#include <csignal>
#include <cstdlib>
#include <stdexcept>

#include "models/base/input_error.h"
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

/// Refuses in the program's own way, with or without a key.
class RefusingTiming final : public tlmssd::TimingModel {
 public:
  static constexpr std::string_view k_name = "refusing";
  static constexpr std::string_view k_summary = "refuses";
  struct Config {
    std::string when = "made";
    static const tlmssd::ParameterTable<Config>& parameters() {
      static const auto table = tlmssd::ParameterTable<Config>{}.choice(
          "when", &Config::when, {"made", "made_for_a_key", "asked"}, "it refuses");
      return table;
    }
  };
  RefusingTiming(const Config& config, const tlmssd::NandPart& part) : part_(part) {
    if (config.when == "made") throw tlmssd::InputError("title of the licence has run out");
    if (config.when == "made_for_a_key")
      throw tlmssd::InputError(tlmssd::Complaint{.key = "when", .what = "is no time for it"});
  }
  [[nodiscard]] tlmssd::ArrayAnswer answer(const tlmssd::ArrayOperation& op) const override {
    if (op.command == tlmssd::ArrayCommand::sense) throw tlmssd::InputError("seed of doubt");
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

class StuckTiming final : public tlmssd::TimingModel {
 public:
  static constexpr std::string_view k_name = "stuck";
  static constexpr std::string_view k_summary = "does not come back, or crashes";
  struct Config {
    bool crashes = false;
    static const tlmssd::ParameterTable<Config>& parameters() {
      static const auto table =
          tlmssd::ParameterTable<Config>{}.flag("crashes", &Config::crashes, "it crashes");
      return table;
    }
  };
  StuckTiming(const Config& config, const tlmssd::NandPart& part) : part_(part), crashes_(config.crashes) {}
  [[nodiscard]] tlmssd::ArrayAnswer answer(const tlmssd::ArrayOperation& op) const override {
    if (crashes_ && op.command == tlmssd::ArrayCommand::sense) std::raise(SIGSEGV);
    for (volatile bool ever = op.command == tlmssd::ArrayCommand::sense; ever;) {
    }
    return {.duration = tlmssd::data_sheet_latency(part_, op)};
  }

 private:
  const tlmssd::NandPart& part_;
  bool crashes_;
};

}  // namespace

TLMSSD_PLUGIN("throwing", "0.3") {
  registrar.add<ThrowingTiming>(tlmssd::timing_models());
  registrar.add<RefusingTiming>(tlmssd::timing_models());
  registrar.add<LeavingTiming>(tlmssd::timing_models());
  registrar.add<StuckTiming>(tlmssd::timing_models());
}
