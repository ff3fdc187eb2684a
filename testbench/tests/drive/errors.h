// What the tests of error correction in whole drives share: drives whose bit error rate is a
// function, and their oracle.
#pragma once

#include <functional>
#include <memory>
#include <numbers>
#include <utility>

#include "platform/ssd_config.h"
#include "testbench/tests/support/given.h"

namespace tlmssd::drive_tests {

inline constexpr double k_day = 86'400;  // seconds

using Rber = std::function<double(const ArrayOperation&)>;

class FunctionModel final : public ReliabilityModel {
 public:
  explicit FunctionModel(Rber function) : function_(std::move(function)) {}
  [[nodiscard]] double rber(const ArrayOperation& stress) const override { return function_(stress); }

 private:
  Rber function_;
};

inline void with_rber(SsdConfig& config, Rber function) {
  config.make_reliability = [function = std::move(function)](const NandPart&) {
    return std::make_unique<FunctionModel>(function);
  };
}

/// The drive's wrong bits once more.
inline std::unique_ptr<BitErrors> bit_errors_of(const SsdConfig& config) {
  return std::make_unique<BitErrors>(config.make_reliability(config.part), config.part, config.errors,
                                     config.ecc.frame_bits(), config.seed);
}

/// Time of `units` mapping pages in a free engine.
inline Picoseconds decode_time(const SsdConfig& config, EccCode code, std::uint32_t units) {
  const CodeConfig& c = config.ecc.of(code);
  const auto frames = static_cast<Picoseconds>(units * (config.firmware.mapping.unit / config.ecc.frame));
  return frames * transfer_time(config.ecc.frame, c.throughput) + c.latency;
}

}  // namespace tlmssd::drive_tests
