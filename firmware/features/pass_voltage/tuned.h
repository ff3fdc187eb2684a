// Tuned: each block is read with the lowest pass voltage whose errors leave the error correction a
// reserve (Cai et al., DSN 2015; as Luo et al. describe it: by the errors of a block in a day and
// the bits that the code can correct).
//
// A block begins at the nominal voltage when it is erased. Once in every `interval` the worst frame
// of at least `samples` reads is compared with (1 - reserve) x correctable: if all were within it,
// the voltage goes down a step, as far as `lowest`. A worse frame takes it up a step at once, a
// page that could not be decoded back to nominal, and neither goes down again before the next
// erase.
//
// The original looks for the worst page of a block with reads of its own and tries voltages until
// one is too low; here the host's reads and those of collection are the samples, and steps are
// tried one in an interval (A). Cost: none but memory, 16 bytes per block read.
#pragma once

#include "firmware/features/pass_voltage/pass_voltage_policy.h"
#include "models/base/sparse_array.h"

namespace tlmssd::firmware {

struct TunedPassVoltageConfig {
  double lowest = 0.94;
  double step = 0.01;
  std::uint32_t correctable = 60;
  double reserve = 0.2;
  std::uint32_t samples = 64;
  double interval = 86'400;
  static const ParameterTable<TunedPassVoltageConfig>& parameters();
};

class TunedPassVoltage final : public PassVoltagePolicy {
 public:
  static constexpr std::string_view k_name = "tuned";
  static constexpr std::string_view k_summary =
      "by block, as low as the margin of error correction allows (Cai et al., DSN 2015)";
  using Config = TunedPassVoltageConfig;
  TunedPassVoltage(const Config& config, std::uint32_t blocks);

  float voltage(BlockNumber block, std::uint32_t erases) override;
  void read(const FirstRead& read) override;
  void report(StatisticsSink& sink) const override;
  void reset_statistics() override { counters_ = {}; }
  void archive(Archive& archive) override;

 private:
  struct Block {
    std::int64_t since;  ///< when the interval began; 0: not yet
    std::uint32_t erases;
    std::uint16_t samples;  ///< in it
    std::uint8_t steps;     ///< below the nominal voltage
    std::uint8_t settled;   ///< it was too low once
  };
  Block& block(BlockNumber number, std::uint32_t erases);
  [[nodiscard]] float voltage_of(std::uint32_t steps) const;
  void raise(Block& block, std::uint32_t steps, std::int64_t now);

  Config config_;
  std::int64_t interval_;  // nanoseconds
  std::uint32_t allowed_;  // wrong bits of a frame
  std::uint32_t most_steps_;
  ZeroPages<Block> blocks_;
  /// Of the first attempts so far.
  struct Counters {
    std::uint64_t reads = 0;
    std::uint64_t steps = 0;
    std::uint64_t lowered = 0;
    std::uint64_t raised = 0;
    std::uint64_t failed = 0;
  };
  Counters counters_;
};

}  // namespace tlmssd::firmware
