// new-name: as the data sheet, but programs are faster near the top of the block and in worn cells,
// and reads of old data slower. Say here where the numbers come from.
#pragma once

#include <algorithm>
#include <cmath>

#include "models/nand/timing/timing_model.h"

class NewTypeTiming final : public tlmssd::TimingModel {
 public:
  static constexpr std::string_view k_name = "new-name";
  static constexpr std::string_view k_summary = "tPROG by layer and wear, tR by retention";

  // Keys of the part file. Each is declared once: scenario, list, schema and reference follow.
  struct Config {
    double layer_speedup = 0.1;
    double wear_speedup = 0.1;
    double retention_slowdown = 0.3;
    static const tlmssd::ParameterTable<Config>& parameters() {
      static const auto table =
          tlmssd::ParameterTable<Config>{}
              .share("layer_speedup", &Config::layer_speedup, {0, 0.9},
                     "how much less time a program takes in the last layer than in the first")
              .share("wear_speedup", &Config::wear_speedup, {0, 0.9},
                     "how much less time a program takes at the end of the endurance")
              .share("retention_slowdown", &Config::retention_slowdown, {0, 10},
                     "how much longer data are read that are a year old");
      return table;
    }
  };

  // The part lives as long as the model.
  NewTypeTiming(const Config& config, const tlmssd::NandPart& part)
      : config_(config), part_(part), layers_(part.layers == 0 ? part.word_lines() : part.layers) {}

  // A pure function of `op`: see models/nand/part/array_operation.h for all that is known of it.
  [[nodiscard]] tlmssd::ArrayAnswer answer(const tlmssd::ArrayOperation& op) const override {
    tlmssd::ArrayAnswer answer;
    answer.duration = tlmssd::data_sheet_latency(part_, op);
    if (op.slc()) return answer;
    if (op.command == tlmssd::ArrayCommand::program)
      answer.duration = scaled(answer.duration, program_factor(op));
    if (op.command == tlmssd::ArrayCommand::sense)
      answer.duration =
          scaled(answer.duration, 1 + config_.retention_slowdown * std::min(op.age_days / 365, 1.0));
    return answer;
  }

 private:
  [[nodiscard]] double program_factor(const tlmssd::ArrayOperation& op) const {
    const double height = layers_ > 1 ? static_cast<double>(op.layer) / (layers_ - 1) : 0;
    const double wear = part_.endurance == 0 ? 0 : std::min(op.cycles / part_.endurance, 1.0);
    return (1 - config_.layer_speedup * height) * (1 - config_.wear_speedup * wear);
  }
  static tlmssd::Picoseconds scaled(tlmssd::Picoseconds time, double factor) {
    return std::llround(static_cast<double>(time) * factor);
  }

  Config config_;
  const tlmssd::NandPart& part_;
  std::uint32_t layers_;
};
